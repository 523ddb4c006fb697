//! From float32 to bfloat16, as the matrix engine's output conversion does it.

use half::bf16;

use super::error::same_length;
use super::format::INF_BITS;
use super::{Fp8Error, Isa, arch};

/// Rounds one float32 to bfloat16, nearest even. Overflow becomes Inf, denormals are kept, and every NaN becomes
/// `0x7FFF`: its sign and payload are lost.
#[must_use]
pub const fn bf16_from_f32(value: f32) -> bf16 {
    let bits = value.to_bits();
    if bits & 0x7FFF_FFFF > INF_BITS {
        return bf16::from_bits(0x7FFF);
    }
    // Below Inf the sum cannot carry past the sign, and a carry into the exponent is what rounding up means.
    bf16::from_bits(((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) as u16)
}

/// Rounds float32 values to bfloat16, each as [`bf16_from_f32`] does.
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
    arch::round_bf16(isa, values, rounded);
    Ok(())
}
