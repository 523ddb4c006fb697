#![doc = include_str!("../README.md")]

pub mod fp8;
mod generation;
pub mod mme;
mod mode;

pub use generation::Generation;
pub use mode::Mode;
