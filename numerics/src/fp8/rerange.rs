//! Rewriting codes for another range, in place.

use super::encoder::{Encoder, Rounding};
use super::error::{Fp8Error, checked_scale};
use super::format::{Format, InfNan};
use super::kernels;
use super::kernels::recode::{CodeClass, Recode, ReplaceCodes};
use crate::generation::Generation;
use crate::simd::Isa;

/// What became of the codes of an array. Every code is counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RerangeCounts {
    /// The new code stands for exactly the value times the factor.
    pub exact: u64,
    /// It stands for the nearest value, which is another one and not zero.
    pub rounded: u64,
    /// It is zero, and the old value was not.
    pub flushed: u64,
    /// It is the largest finite code because the value times the factor, rounded, lies beyond it; or the old code was
    /// Inf.
    pub saturated: u64,
    /// The old code was NaN, and the new one is `0x7F` or `0xFF`.
    pub nan: u64,
}

/// Multiplies every code of an array by one factor; the scale that belongs to the array is to be divided by it.
///
/// The product of value and factor is formed in float32 and rounded to the new format, nearest even and saturating;
/// ties go to the even code, so half of the smallest denormal becomes zero. The sign always stays, that of zero and
/// NaN included. A NaN code becomes `0x7F` with its sign, which is NaN in every format but one of mode
/// [`InfNan::None`], and is counted: an array that holds one was broken before.
#[derive(Debug, Clone, PartialEq)]
pub struct Rerange {
    factor: f32,
    recode: Recode,
}

impl Rerange {
    /// The change from OCP `e4m3fn` (448) to what a Gaudi2 reads (240), with half of each value: 448 becomes 224. The scale
    /// doubles. Only denormal results can be inexact.
    #[must_use]
    pub fn halve_for_gaudi2() -> Self {
        Self::build(Format::E4M3FN, Format::kv_cache(Generation::Gaudi2), 0.5)
    }

    /// The inverse of [`halve_for_gaudi2`](Self::halve_for_gaudi2): from Gaudi2's codes to OCP `e4m3fn` with twice each
    /// value. The scale halves. Values above 224, which halving never makes, saturate at 448.
    #[must_use]
    pub fn double_from_gaudi2() -> Self {
        Self::build(Format::kv_cache(Generation::Gaudi2), Format::E4M3FN, 2.0)
    }

    /// The change from `from` to `to` by any factor, such as 240/448.
    ///
    /// # Errors
    /// The factor is not finite and positive, in float32 or rounded to bfloat16.
    pub fn new(from: Format, to: Format, factor: f32) -> Result<Self, Fp8Error> {
        checked_scale(factor)?;
        Ok(Self::build(from, to, factor))
    }

    fn build(from: Format, to: Format, factor: f32) -> Self {
        let encoder = Encoder { format: to, rounding: Rounding::NearestEven, clip: true };
        let unclipped = Encoder { clip: false, ..encoder };
        let mut recode = Recode { codes: [0; 128], classes: [0; 128] };
        for code in 0..128u8 {
            let value = f32::from_bits(from.decode_bits(code));
            let product = value * factor;
            let new = if value.is_nan() { 0x7F } else { encoder.encode(product) };
            let back = f32::from_bits(to.decode_bits(new));
            let overflows = match to.inf_nan {
                InfNan::None => new == to.max_code() && product > half_step_above(to),
                InfNan::Full | InfNan::Minimal => unclipped.encode(product) != new,
            };
            let class = if value.is_nan() {
                CodeClass::Nan
            } else if overflows {
                CodeClass::Saturated
            } else if back == product {
                CodeClass::Exact
            } else if back == 0.0 {
                CodeClass::Flushed
            } else {
                CodeClass::Rounded
            };
            recode.codes[usize::from(code)] = new;
            recode.classes[usize::from(code)] = class as u8;
        }
        Self { factor, recode }
    }

    /// What every value is multiplied by.
    #[must_use]
    pub const fn factor(&self) -> f32 {
        self.factor
    }

    /// Rewrites the codes in place and says what became of them.
    pub fn apply(&self, codes: &mut [u8]) -> RerangeCounts {
        self.apply_with(Isa::active(), codes)
    }

    /// [`apply`](Self::apply) on a given instruction set; one that this machine lacks means portable code.
    pub fn apply_with(&self, isa: Isa, codes: &mut [u8]) -> RerangeCounts {
        let [exact, rounded, flushed, saturated, nan] =
            kernels::run(isa, true, ReplaceCodes { recode: &self.recode, codes });
        RerangeCounts { exact, rounded, flushed, saturated, nan }
    }
}

/// What rounds to a code beyond the largest one, in a format where every code is finite.
fn half_step_above(format: Format) -> f32 {
    let max = format.max_value();
    let below = f32::from_bits(format.decode_bits(format.max_code() - 1));
    max + (max - below) / 2.0
}
