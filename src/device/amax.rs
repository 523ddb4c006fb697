//! The scale of what is quantized by its own amax.

use half::bf16;

use crate::Generation;
use crate::fp8::amax_bf16;

/// The multiplier that takes the largest magnitude of a row to the end of the range. A row of zeros, or one so small or
/// so large that no multiplier fits, takes 1.0.
pub(super) fn quant_by_amax(generation: Generation, values: &[bf16]) -> f32 {
    let quant = generation.fp8_max() / amax_bf16(values).to_f32();
    // The multiplier is rounded to bfloat16, whose range is that of float32.
    let is_usable = quant.is_finite() && quant > 0.0 && bf16::from_f32(quant).is_finite();
    if is_usable { quant } else { 1.0 }
}
