//! Conversion by tables, which only AVX-512 has.

#[cfg(target_arch = "x86_64")]
use half::slice::HalfFloatSliceExt;

use half::bf16;

use super::super::{Isa, Quantizer};
#[cfg(target_arch = "x86_64")]
use super::binades::{Binades, MIN_LEN};
use super::plan::EncodePlan;

/// Pieces of `len` elements of a longer slice, the first at `first`, from each to the next `stride`.
#[derive(Clone, Copy)]
pub(in super::super) struct Pieces {
    pub(in super::super) first: usize,
    pub(in super::super) len: usize,
    pub(in super::super) stride: usize,
}

impl Pieces {
    /// Each piece.
    #[inline(always)]
    pub(in super::super) fn of<T>(self, slice: &[T]) -> impl Iterator<Item = &[T]> {
        slice[self.first..].chunks(self.stride).map(move |piece| &piece[..self.len])
    }

    /// Each piece, to be changed.
    #[inline(always)]
    pub(in super::super) fn of_mut<T>(self, slice: &mut [T]) -> impl Iterator<Item = &mut [T]> {
        slice[self.first..].chunks_mut(self.stride).map(move |piece| &mut piece[..self.len])
    }
}

/// Tables by which a quantizer converts many values faster: proof that this machine can use them.
#[cfg(target_arch = "x86_64")]
pub(in super::super) struct QuantTables(Binades);

#[cfg(target_arch = "x86_64")]
impl QuantTables {
    /// None where they do not pay for `len` values in all, or cannot be had.
    #[inline]
    pub(in super::super) fn new(isa: Isa, plan: &EncodePlan, q: &Quantizer, len: usize) -> Option<Self> {
        if len < MIN_LEN || isa != Isa::Avx512 || !isa.is_available() || !plan.vectorizes {
            return None;
        }
        Binades::new(plan, q).map(Self)
    }

    /// Codes of the pieces of equally many values and codes; the rest of the codes is left alone. `ahead` is what will
    /// be converted soon, and is asked for meanwhile.
    pub(in super::super) fn quant_bf16(
        &self,
        pieces: Pieces,
        values: &[bf16],
        codes: &mut [u8],
        ahead: &[bf16],
    ) {
        let (words, ahead) = (values.reinterpret_cast(), ahead.reinterpret_cast());
        // SAFETY: `new` has found this machine to have POPCNT and the AVX-512 features that the kernel is compiled for.
        unsafe { super::avx512::quant_bf16_by_binade(&self.0, pieces, words, codes, ahead) }
    }
}

/// There are none.
#[cfg(not(target_arch = "x86_64"))]
pub(in super::super) enum QuantTables {}

#[cfg(not(target_arch = "x86_64"))]
impl QuantTables {
    pub(in super::super) fn new(_: Isa, _: &EncodePlan, _: &Quantizer, _: usize) -> Option<Self> {
        None
    }

    pub(in super::super) fn quant_bf16(&self, _: Pieces, _: &[bf16], _: &mut [u8], _: &[bf16]) {
        match *self {}
    }
}
