//! The rounding of one float32 to bfloat16, as the matrix engine's output conversion does it: the definition.

use half::bf16;

use super::format::INF_BITS;

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
