#![doc = include_str!("../README.md")]

pub mod activations;
pub mod attention;
pub mod cache;
pub mod calibrate;
pub mod check;
pub mod checkpoint;
pub mod convert;
pub mod device;
mod process_pool;
pub mod rewrite;
pub mod scales;

pub use gaudi_numerics::{Generation, HeadScales, ScaleFactors, fp8, mme};
pub use process_pool::process_pool;
