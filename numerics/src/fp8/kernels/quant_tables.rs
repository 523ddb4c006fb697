//! Conversion by tables, which AVX-512 alone has.

use half::bf16;
#[cfg(target_arch = "x86_64")]
use half::slice::HalfFloatSliceExt;

#[cfg(target_arch = "x86_64")]
use super::binades::{Binades, MIN_LEN, QuantByBinade};
use super::pieces::Pieces;
use super::plan::EncodePlan;
use crate::fp8::quantizer::Quantizer;
use crate::simd::Isa;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx512, Level};

/// Tables by which a quantizer converts many values faster.
#[cfg(target_arch = "x86_64")]
pub(in crate::fp8) struct QuantTables(Avx512, Binades);

#[cfg(target_arch = "x86_64")]
impl QuantTables {
    /// The tables of a quantizer, where they pay for `len` values in all and the instruction set looks up in them.
    #[inline]
    pub(in crate::fp8) fn new(isa: Isa, plan: &EncodePlan, q: &Quantizer, len: usize) -> Option<Self> {
        if len < MIN_LEN || !plan.vectorizes {
            return None;
        }
        let token = match Level::new(isa)? {
            Level::Avx512(token) => token,
            Level::Avx512Bf16(token) => token.without_bf16(),
            Level::Portable(_) | Level::Avx2(_) => return None,
        };
        Some(Self(token, Binades::new(plan, q)?))
    }

    /// Codes of the pieces of equally many values and codes; the rest of the codes is left alone. `ahead` is what will
    /// be converted soon, and is asked for meanwhile.
    pub(in crate::fp8) fn quant_bf16(
        &self,
        pieces: Pieces,
        values: &[bf16],
        codes: &mut [u8],
        ahead: &[bf16],
    ) {
        let (words, ahead) = (values.reinterpret_cast(), ahead.reinterpret_cast());
        self.0.vectorize(QuantByBinade { binades: &self.1, pieces, words, codes, ahead });
    }
}

/// Tables that no instruction set of this target looks up in.
#[cfg(not(target_arch = "x86_64"))]
pub(in crate::fp8) enum QuantTables {}

#[cfg(not(target_arch = "x86_64"))]
impl QuantTables {
    pub(in crate::fp8) fn new(_: Isa, _: &EncodePlan, _: &Quantizer, _: usize) -> Option<Self> {
        None
    }

    pub(in crate::fp8) fn quant_bf16(&self, _: Pieces, _: &[bf16], _: &mut [u8], _: &[bf16]) {
        match *self {}
    }
}
