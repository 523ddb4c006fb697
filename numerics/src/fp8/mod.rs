//! FP8 formats and conversions: numbers only, no device and no checkpoint.
//!
//! - [`Format`] says what a code means, [`Encoder`] how a value becomes one; [`Fnuz`] reads AMD's types.
//! - [`Quantizer`] and [`Dequantizer`] convert with a scale, with the roundings of the device.
//! - [`Rerange`] rewrites codes for another range, [`scan_codes`] finds those that a Gaudi2 cannot read.
//! - [`align_dequant_scale`] gives scales that a device folds into the exponent bias.
//! - [`bf16_from_f32`] is the device's rounding to bfloat16.
//!
//! Every conversion of a slice runs on the instruction set that [`Isa::active`] names and gives the same bits on each.
//! `docs/numerics.md` states the rules, error bounds, and what the vendor leaves open.

mod align;
mod amax;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod arch;
mod bf16;
mod dequant;
mod dequantizer;
mod encode;
mod encoder;
mod error;
mod fnuz;
mod format;
mod generations;
mod kernels;
mod lines;
mod ops;
mod quant;
mod quantizer;
mod rerange;
mod round;
mod scan;

pub use align::{AlignedScale, align_dequant_scale};
pub use amax::{amax_bf16, amax_f32};
pub use bf16::bf16_from_f32;
pub use dequantizer::Dequantizer;
pub use encoder::{Encoder, Rounding};
pub use error::Fp8Error;
pub use fnuz::Fnuz;
pub use format::{Format, InfNan, Layout};
pub use quantizer::Quantizer;
pub use rerange::{Rerange, RerangeCounts};
pub use round::{bf16_from_f32_slice, bf16_from_f32_slice_with};
pub use scan::{CodeScan, scan_codes, scan_codes_with};

pub use crate::simd::{Isa, IsaError};
