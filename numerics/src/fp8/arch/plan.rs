//! What the kernels are given: conversions worked out into constants and tables.

use super::super::format::INF_BITS;
use super::super::{Encoder, Rounding};

/// An [`Encoder`] as constants for 32-bit lanes.
pub(in super::super) struct EncodePlan {
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
    pub(in super::super) fn new(encoder: Encoder) -> Self {
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

/// A 16-bit word for each code, in the forms that the kernels look up.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct WordTable {
    /// The words of all codes.
    pub words: [u16; 256],
    /// Low and high bytes of the words of codes `0x00` to `0x7F`.
    pub low: [u8; 128],
    pub high: [u8; 128],
    /// Magnitudes above this one are NaN, `0x7FFF` whatever the sign.
    pub nan_above: u8,
    /// Whether all other words of negative codes are those of positive ones with the sign bit set.
    pub symmetric: bool,
}

impl WordTable {
    pub(in super::super) fn new(word: impl Fn(usize) -> u16) -> Self {
        let words: [u16; 256] = std::array::from_fn(word);
        let is_nan = |code: usize| words[code] == 0x7FFF && words[code | 0x80] == 0x7FFF;
        let finite = (0..128).rev().find(|code| !is_nan(*code)).unwrap_or(0);
        Self {
            words,
            low: std::array::from_fn(|code| words[code].to_le_bytes()[0]),
            high: std::array::from_fn(|code| words[code].to_le_bytes()[1]),
            nan_above: finite as u8,
            symmetric: (0..=finite).all(|code| words[code | 0x80] == words[code] | 0x8000),
        }
    }

    pub(in super::super) fn get(&self, code: u8) -> u16 {
        self.words[usize::from(code)]
    }
}

/// What happened to a code that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in super::super) enum CodeClass {
    Exact,
    Rounded,
    Flushed,
    Saturated,
    Nan,
}

impl CodeClass {
    pub(in super::super) const COUNT: usize = 5;
}

/// A new code and a class for each magnitude; the sign stays.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Recode {
    pub codes: [u8; 128],
    pub classes: [u8; 128],
}
