//! The conversion of one float32 to an FP8 code: the definition.

use super::format::{Format, INF_BITS, InfNan};
use crate::generation::Generation;

/// How a value between two codes is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Rounds to the nearer code, ties to the even one, denormals included (`CAST_ROUND_HALF_NE`).
    NearestEven,
    /// Rounds to the code of smaller magnitude.
    TowardZero,
}

/// A conversion to FP8: the format, the rounding, and what overflow becomes.
///
/// | input | `clip` | no `clip` |
/// | --- | --- | --- |
/// | finite, rounds beyond the largest finite code, nearest even | largest finite | `Full` Inf, `Minimal` NaN, `None` largest finite |
/// | finite, beyond the largest finite code, toward zero | largest finite | largest finite |
/// | Inf | largest finite | `Full` Inf, `Minimal` NaN, `None` `0x7F` |
/// | NaN | `0x7F`; its sign survives in `Minimal` only | the same |
///
/// The sign is kept everywhere else, so small negative values become `0x80`. Denormal codes are produced and denormal
/// inputs are read as they are. A value whose unclipped rounding stays at the largest finite code has not overflowed.
/// The rules are those of the vendor's functional model of the converters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoder {
    /// What the codes mean.
    pub format: Format,
    /// How to round.
    pub rounding: Rounding,
    /// Whether overflow, Inf included, becomes the largest finite value.
    pub clip: bool,
}

impl Encoder {
    /// The conversion of a KV-cache write on `generation`: [`Format::kv_cache`], nearest even, saturating.
    #[must_use]
    pub const fn kv_cache(generation: Generation) -> Self {
        Self { format: Format::kv_cache(generation), rounding: Rounding::NearestEven, clip: true }
    }

    /// Converts one float32, given and returned as bits.
    #[must_use]
    pub const fn encode_bits(self, bits: u32) -> u8 {
        let sign = (bits >> 24) as u8 & 0x80;
        let magnitude = bits & 0x7FFF_FFFF;
        if magnitude > INF_BITS {
            return if self.nan_keeps_sign() { 0x7F | sign } else { 0x7F };
        }
        if magnitude == INF_BITS {
            return sign | if self.clip { self.format.max_code() } else { self.overflow_code() };
        }
        if magnitude == 0 {
            return sign;
        }
        let man_bits = self.format.layout.mantissa_bits();
        let min_exp = 1 - self.format.bias as i32;
        // magnitude = significand * 2^(exp - 23), with bit 23 of the significand set.
        let (fraction, field) = (magnitude & 0x7F_FFFF, (magnitude >> 23) as i32);
        let significand = if field == 0 { fraction } else { fraction | 1 << 23 };
        let lead = significand.leading_zeros() - 8;
        let significand = significand << lead;
        let exp = if field == 0 { -126 - lead as i32 } else { field - 127 };
        // Codes are 2^(floor - man_bits) apart here; what lies below is dropped and rounded.
        let floor = if exp > min_exp { exp } else { min_exp };
        let drop = 23 - man_bits + (floor - exp) as u32;
        let mut kept = 0;
        if drop <= 25 {
            kept = significand >> drop;
            let rest = significand & ((1 << drop) - 1);
            let half = 1 << (drop - 1);
            let up = rest > half || (rest == half && kept & 1 == 1);
            if up && matches!(self.rounding, Rounding::NearestEven) {
                kept += 1;
            }
        }
        let code = (((floor - min_exp) as u32) << man_bits) + kept;
        sign | if code <= self.format.max_code() as u32 {
            code as u8
        } else if self.clip || matches!(self.rounding, Rounding::TowardZero) {
            self.format.max_code()
        } else {
            self.overflow_code()
        }
    }

    /// Converts one float32.
    #[must_use]
    pub const fn encode(self, value: f32) -> u8 {
        self.encode_bits(value.to_bits())
    }

    /// What overflow becomes without `clip`.
    pub(super) const fn overflow_code(self) -> u8 {
        match self.format.inf_nan {
            InfNan::Full => self.format.max_code() + 1,
            InfNan::None | InfNan::Minimal => 0x7F,
        }
    }

    /// Whether a NaN code has the sign of its input.
    pub(super) const fn nan_keeps_sign(self) -> bool {
        matches!(self.format.inf_nan, InfNan::Minimal)
    }
}
