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
mod process_pool;
pub mod rewrite;
pub mod scales;

pub use generation::Generation;
pub use process_pool::process_pool;
