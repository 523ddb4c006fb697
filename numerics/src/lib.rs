#![doc = include_str!("../README.md")]

pub mod fp8;
mod generation;
mod head_scales;
pub mod mme;
mod mode;
mod scale_factors;
pub mod simd;

pub use generation::Generation;
pub use head_scales::HeadScales;
pub use mode::Mode;
pub use scale_factors::ScaleFactors;
pub use simd::{Isa, IsaError};
