//! Codes to what the kernels work on: float32 values and one byte of exponent.

use super::reference::HALF_MIN_EXPONENT;
use super::rules::Rules;
use crate::fp8::Format;

/// Biased exponents of A are stored less this, those of B less 128: their saturating sum is then the exponent of the
/// product, `ex + ey - 127`, less 128.
const A_OFFSET: i32 = 127;
const B_OFFSET: i32 = 128;
/// The byte of a zero: with any exponent up to the limits below, the sum stays under [`LEAST_TOP`].
pub(super) const ZERO: i8 = -128;
/// The least biased exponent of a product that kernels align against. A smaller product truncates to zero there.
pub(super) const LEAST_TOP: i32 = 25;
/// The largest biased exponents that the kernels take: 2^24 and 2^25. Larger values go the scalar way.
const A_LIMIT: i32 = 151;
const B_LIMIT: i32 = 152;

/// Gaudi2's bfloat16 sums keep 46 fractional bits, 22 more than the scale that is shared by all rules.
pub(super) const EXTRA: f64 = (1u32 << 22) as f64;

/// A byte four times.
pub(super) const fn bytes(byte: i8) -> u32 {
    byte as u8 as u32 * 0x0101_0101
}

/// A value as Gaudi2's bfloat16 rules multiply it.
pub(super) const fn wide(value: f32) -> f64 {
    value as f64 * EXTRA
}

/// Which operand is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// One operand's decoding under one set of rules.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    /// FP8: the value of each code.
    values: [f32; 256],
    /// FP8: the exponent byte of each code, sign aside.
    pub(super) exps: [u8; 128],
    /// FP8: the two upper bytes of the value of each code, sign aside; the others are zero, but for NaN.
    pub(super) high: [u8; 128],
    pub(super) low: [u8; 128],
    /// FP8: the largest code that is finite, sign aside.
    pub(super) max_finite: u8,
    /// FP8: the format.
    pub(super) format: Option<Format>,
    rules: Rules,
    side: Side,
}

impl Decoder {
    pub(super) fn new(rules: Rules, format: Option<Format>, side: Side) -> Self {
        let mut decoder = Self {
            values: [0.0; 256],
            exps: [0; 128],
            high: [0; 128],
            low: [0; 128],
            max_finite: 0x7F,
            format,
            rules,
            side,
        };
        if let Some(format) = format {
            for (code, bits) in format.decode_table().into_iter().enumerate() {
                decoder.values[code] = f32::from_bits(bits);
            }
            for code in 0..128 {
                let bits = format.decode_bits(code as u8);
                decoder.exps[code] = decoder.exponent(bits) as u8;
                [_, _, decoder.low[code], decoder.high[code]] = bits.to_le_bytes();
            }
            decoder.max_finite = format.max_code();
        }
        decoder
    }

    /// The exponent byte of a finite float32.
    fn exponent(&self, bits: u32) -> i8 {
        if bits << 1 == 0 {
            return ZERO;
        }
        let least = if self.rules == Rules::Gaudi2Fp8 { HALF_MIN_EXPONENT } else { 1 };
        ((bits >> 23 & 0xFF) as i32).max(least).saturating_sub(self.offset()).clamp(-128, 127) as i8
    }

    /// Value, exponent byte, and whether the scalar path is needed, of one FP8 code.
    #[inline]
    pub(super) fn fp8(&self, code: u8) -> (f32, u8, bool) {
        (self.values[code as usize], self.exps[code as usize & 0x7F], code & 0x7F > self.max_finite)
    }

    /// Value, exponent byte, and whether the scalar path is needed, of one bfloat16 bit pattern.
    #[inline]
    pub(super) fn bf16(&self, code: u16) -> (f32, u8, bool) {
        let mut bits = u32::from(code) << 16;
        let exponent = (bits >> 23 & 0xFF) as i32;
        if self.flushes() && exponent == 0 {
            bits &= 0x8000_0000;
        }
        (f32::from_bits(bits), self.exponent(bits) as u8, exponent > self.limit())
    }

    /// The largest biased exponent of bfloat16 that the kernels take.
    #[inline]
    pub(super) fn limit(&self) -> i32 {
        if self.side == Side::A { A_LIMIT } else { B_LIMIT }
    }

    /// What is taken off a biased exponent to make its byte.
    #[inline]
    pub(super) fn offset(&self) -> i32 {
        if self.side == Side::A { A_OFFSET } else { B_OFFSET }
    }

    /// Whether float32 denormals count as zeros.
    #[inline]
    pub(super) fn flushes(&self) -> bool {
        self.rules == Rules::Gaudi2Bf16
    }

    /// What `ProductOps::spread_fp8` does, for any number of lanes.
    #[inline(always)]
    pub(super) fn spread_fp8(&self, lanes: usize, codes: &[u8], values: &mut [f32], exps: &mut [u8]) -> u64 {
        spread(lanes, codes, values, exps, |code| self.fp8(code))
    }

    /// What `ProductOps::spread_bf16` does, for any number of lanes.
    #[inline(always)]
    pub(super) fn spread_bf16(
        &self,
        lanes: usize,
        codes: &[u16],
        values: &mut [f32],
        exps: &mut [u8],
    ) -> u64 {
        spread(lanes, codes, values, exps, |code| self.bf16(code))
    }

    /// Whether products of these FP8 operands need no look at small exponents: each nonzero one is a multiple of a
    /// power of two above the exponents that zeros and [`LEAST_TOP`] put in.
    pub(super) fn products_are_normal(a: &Self, b: &Self) -> bool {
        let (Some(fa), Some(fb)) = (a.format, b.format) else { return false };
        let least = |format: Format| format.decode_bits(1) as i32 >> 23;
        let most = |decoder: &Self, format: Format| format.decode_bits(decoder.max_finite) as i32 >> 23;
        let last_bit = least(fa) + least(fb) - 127;
        let of_zero = most(a, fa).max(most(b, fb)) - 127;
        last_bit > of_zero.max(LEAST_TOP)
    }
}

#[inline(always)]
fn spread<T: Copy>(
    lanes: usize,
    codes: &[T],
    values: &mut [f32],
    exps: &mut [u8],
    decode: impl Fn(T) -> (f32, u8, bool),
) -> u64 {
    let mut odd = 0;
    for j in 0..4 {
        for i in 0..lanes {
            let n = j * lanes + i;
            let (value, exp, special) = decode(codes[n]);
            values[n] = value;
            exps[4 * i + j] = exp;
            odd |= u64::from(special) << n;
        }
    }
    odd
}

/// The decoders of both operands.
pub(super) fn decoders(rules: Rules, formats: Option<(Format, Format)>) -> [Decoder; 2] {
    let (a, b) = formats.unzip();
    [Decoder::new(rules, a, Side::A), Decoder::new(rules, b, Side::B)]
}
