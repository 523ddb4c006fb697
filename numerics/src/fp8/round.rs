//! Rounding slices of float32 to bfloat16.

use half::bf16;

use super::error::{Fp8Error, same_length};
use super::kernels;
use super::kernels::round::Round;
use crate::simd::Isa;

/// Rounds float32 values to bfloat16, each as [`bf16_from_f32`](super::bf16_from_f32) does.
///
/// # Errors
/// The slices differ in length.
pub fn bf16_from_f32_slice(values: &[f32], rounded: &mut [bf16]) -> Result<(), Fp8Error> {
    bf16_from_f32_slice_with(Isa::active(), values, rounded)
}

/// [`bf16_from_f32_slice`] on a given instruction set; one that this machine lacks means portable code.
///
/// # Errors
/// The slices differ in length.
pub fn bf16_from_f32_slice_with(isa: Isa, values: &[f32], rounded: &mut [bf16]) -> Result<(), Fp8Error> {
    same_length(values.len(), rounded.len())?;
    kernels::run(isa, true, Round { values, rounded });
    Ok(())
}
