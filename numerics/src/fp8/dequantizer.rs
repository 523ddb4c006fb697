//! The scaled decoding of one FP8 code: the definition.

use half::bf16;

use super::bf16::bf16_from_f32;
use super::error::{Fp8Error, checked_scale};
use super::fnuz::Fnuz;
use super::format::{Format, NAN_BITS};
use super::kernels::word_table::WordTable;

/// Decodes FP8 and multiplies by one scale, as the device's `convert_from_fp8` does.
///
/// The type of the scale follows the output's: for bfloat16 the value is multiplied by the scale rounded to bfloat16
/// and the product is rounded to bfloat16 (nearest even, denormals kept); for float32 the product is a float32 one.
/// NaN codes become `0x7FFF` and `0x7FFF_FFFF`, Inf codes Inf.
///
/// Making one costs as much as converting a few hundred codes, so make it once per tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Dequantizer {
    /// The scaled bfloat16 of each code.
    pub(super) scaled: WordTable,
    /// The bfloat16 of each code, exact for every bias up to 63.
    pub(super) plain: WordTable,
    /// The float32 of each code.
    values: [u32; 256],
    /// Whether `plain` widened to float32 gives `values`.
    pub(super) widens: bool,
    scale: f32,
}

impl Dequantizer {
    /// For codes of `format`, times `scale`: a dequantization factor as checkpoints store it.
    ///
    /// # Errors
    /// The scale is not finite and positive, in float32 or rounded to bfloat16.
    pub fn new(format: Format, scale: f32) -> Result<Self, Fp8Error> {
        Self::from_table(format.decode_table(), scale)
    }

    /// For codes of an AMD type, times `scale`.
    ///
    /// # Errors
    /// The scale is not finite and positive, in float32 or rounded to bfloat16.
    pub fn from_fnuz(fnuz: Fnuz, scale: f32) -> Result<Self, Fp8Error> {
        Self::from_table(fnuz.decode_table(), scale)
    }

    /// Decodes without a scale: every value exactly, up to bias 63.
    #[must_use]
    pub fn unscaled(format: Format) -> Self {
        Self::build(format.decode_table(), bf16::ONE, 1.0)
    }

    fn from_table(values: [u32; 256], scale: f32) -> Result<Self, Fp8Error> {
        Ok(Self::build(values, checked_scale(scale)?, scale))
    }

    fn build(values: [u32; 256], factor: bf16, scale: f32) -> Self {
        let value = |code: usize| f32::from_bits(values[code]);
        let scaled = WordTable::new(|code| bf16_from_f32(value(code) * factor.to_f32()).to_bits());
        let plain = WordTable::new(|code| bf16_from_f32(value(code)).to_bits());
        let widens = values.iter().all(|bits| bits & 0xFFFF == 0 || *bits == NAN_BITS);
        Self { scaled, plain, values, widens, scale }
    }

    /// The factor.
    #[must_use]
    pub const fn scale(&self) -> f32 {
        self.scale
    }

    /// `bf16(value(code) * bf16(scale))`.
    #[must_use]
    pub fn dequant_one_bf16(&self, code: u8) -> bf16 {
        bf16::from_bits(self.scaled.get(code))
    }

    /// `value(code) * scale` in float32.
    #[must_use]
    pub fn dequant_one_f32(&self, code: u8) -> f32 {
        let value = f32::from_bits(self.values[usize::from(code)]);
        if value.is_nan() { value } else { value * self.scale }
    }
}
