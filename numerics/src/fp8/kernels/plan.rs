//! An encoder worked out into constants.

use crate::fp8::encoder::{Encoder, Rounding};
use crate::fp8::format::INF_BITS;

/// An [`Encoder`] as constants for 32-bit lanes.
pub(in crate::fp8) struct EncodePlan {
    /// The definition.
    pub encoder: Encoder,
    /// Mantissa bits of the code.
    pub man_bits: u32,
    /// Float32 bits of the smallest normal value.
    pub min_normal: u32,
    /// Float32 bits of the largest finite value.
    pub max_finite: u32,
    /// Float32 magnitudes above this one have overflowed.
    pub overflow_above: u32,
    /// What those become, without the sign.
    pub overflow_code: u8,
    /// The sign bits that survive in a NaN: `0x80` or none.
    pub nan_sign: u8,
    /// Whether the constants fit the lanes: true for every bias of a device.
    pub vectorizes: bool,
}

impl EncodePlan {
    pub(in crate::fp8) fn new(encoder: Encoder) -> Self {
        let format = encoder.format;
        let man_bits = format.layout.mantissa_bits();
        let max_finite = format.decode_bits(format.max_code());
        let overflow_above = match (encoder.clip, encoder.rounding) {
            (true, _) => INF_BITS,
            (false, Rounding::TowardZero) => INF_BITS - 1,
            (false, Rounding::NearestEven) => {
                // Half a step above the largest finite value is a tie, and goes down if that code is even.
                let tie = max_finite + (1 << (22 - man_bits));
                tie - u32::from(format.max_code() & 1)
            }
        };
        Self {
            encoder,
            man_bits,
            min_normal: 128u32.saturating_sub(u32::from(format.bias)) << 23,
            max_finite,
            overflow_above,
            overflow_code: if encoder.clip { format.max_code() } else { encoder.overflow_code() },
            nan_sign: if encoder.nan_keeps_sign() { 0x80 } else { 0 },
            vectorizes: format.bias <= 63,
        }
    }
}
