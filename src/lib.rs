#![doc = include_str!("../README.md")]

pub mod attention;
pub mod cache;
pub mod calibrate;
pub mod check;
pub mod checkpoint;
pub mod convert;
pub mod device;
pub mod fp8;
mod generation;
pub mod mme;
pub mod scales;

pub use generation::Generation;
