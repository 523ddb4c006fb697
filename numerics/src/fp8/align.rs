//! Scales that the hardware folds into an exponent bias.

use super::error::{Fp8Error, checked_scale};
use super::format::Format;
use crate::generation::Generation;

/// A dequantization scale that costs nothing on the device: an e4m3 tensor of exponent bias `bias` stands for the same
/// values as one of bias 7 times `scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignedScale {
    /// The scale: a power of two.
    pub scale: f32,
    /// The exponent bias that stands for it: 7 minus the logarithm of the scale.
    pub bias: u8,
    /// The scale asked for is larger than the largest one of the device, so values will saturate that need not have.
    pub clamped: bool,
}

/// The smallest scale that `generation` folds into an exponent bias and that is not below `scale`.
///
/// Gaudi2 folds 1/256, 1/16, 1 and 16 (biases 15, 11, 7 and 3), Gaudi3 every power of two from 2^-56 to 2^7 (biases 63
/// to 0). Rounding up keeps the largest values representable at the price of small ones. A scale above the largest is
/// clamped to it, and [`AlignedScale::clamped`] says so. A scale that must also be adjusted to the range of the device
/// is adjusted first.
///
/// # Errors
/// The scale is not finite and positive, in float32 or rounded to bfloat16.
pub fn align_dequant_scale(generation: Generation, scale: f32) -> Result<AlignedScale, Fp8Error> {
    checked_scale(scale)?;
    let biases = generation.scale_biases();
    let folded = |bias: u8| f32::from_bits((134 - u32::from(bias)) << 23);
    // From the smallest scale to the largest.
    let fitting = biases.iter().rev().copied().find(|bias| folded(*bias) >= scale);
    let bias = fitting.unwrap_or(biases[0]);
    Ok(AlignedScale { scale: folded(bias), bias, clamped: fitting.is_none() })
}

impl AlignedScale {
    /// The KV-cache format of `generation` with this bias.
    #[must_use]
    pub const fn format(self, generation: Generation) -> Format {
        Format { bias: self.bias, ..Format::kv_cache(generation) }
    }
}
