//! The largest magnitude, for scales that are computed as data comes.

use half::bf16;

/// The largest magnitude in `values`: 0 if there are none, NaN if any is NaN, else possibly Inf.
///
/// Magnitudes are ordered as their bits are, with NaN above Inf, so this is one integer maximum.
#[must_use]
pub fn amax_bf16(values: &[bf16]) -> bf16 {
    // Signed, because that is the comparison that every x86-64 has; without the sign bit it is the same.
    let bits = values.iter().fold(0i16, |max, value| max.max((value.to_bits() & 0x7FFF).cast_signed()));
    bf16::from_bits(bits.cast_unsigned())
}

/// The largest magnitude in `values`: 0 if there are none, NaN if any is NaN, else possibly Inf.
#[must_use]
pub fn amax_f32(values: &[f32]) -> f32 {
    let bits = values.iter().fold(0i32, |max, value| max.max((value.to_bits() & 0x7FFF_FFFF).cast_signed()));
    f32::from_bits(bits.cast_unsigned())
}
