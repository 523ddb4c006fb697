//! Encoding and quantizing slices, portably and on vectors.

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::encode_map::{encode_bf16, encode_f32};
use super::plan::EncodePlan;
use crate::fp8::ops::ConvertOps;
use crate::fp8::quantizer::Quantizer;
use crate::simd::{Portable, Work};

/// Codes of values.
pub(in crate::fp8) struct Encode<'a, T> {
    pub(in crate::fp8) plan: &'a EncodePlan,
    pub(in crate::fp8) values: &'a [T],
    /// One for each value.
    pub(in crate::fp8) codes: &'a mut [u8],
}

/// Codes of values times the scale of a quantizer.
pub(in crate::fp8) struct Quant<'a, T> {
    pub(in crate::fp8) plan: &'a EncodePlan,
    pub(in crate::fp8) quantizer: &'a Quantizer,
    pub(in crate::fp8) values: &'a [T],
    pub(in crate::fp8) codes: &'a mut [u8],
}

impl Work<Portable, ()> for Encode<'_, f32> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (code, value) in self.codes.iter_mut().zip(self.values) {
            *code = self.plan.encoder.encode(*value);
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for Encode<'_, f32> {
    #[inline(always)]
    fn run(self, k: K) {
        encode_f32(k, self.plan, 1.0, self.values, self.codes);
    }
}

impl Work<Portable, ()> for Encode<'_, bf16> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (code, value) in self.codes.iter_mut().zip(self.values) {
            *code = self.plan.encoder.encode_bits(u32::from(value.to_bits()) << 16);
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for Encode<'_, bf16> {
    #[inline(always)]
    fn run(self, k: K) {
        encode_bf16(k, self.plan, None, self.values.reinterpret_cast(), self.codes);
    }
}

impl Work<Portable, ()> for Quant<'_, f32> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (code, value) in self.codes.iter_mut().zip(self.values) {
            *code = self.quantizer.quant_one_f32(*value);
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for Quant<'_, f32> {
    #[inline(always)]
    fn run(self, k: K) {
        encode_f32(k, self.plan, self.quantizer.scale(), self.values, self.codes);
    }
}

impl Work<Portable, ()> for Quant<'_, bf16> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (code, value) in self.codes.iter_mut().zip(self.values) {
            *code = self.quantizer.quant_one_bf16(*value);
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for Quant<'_, bf16> {
    #[inline(always)]
    fn run(self, k: K) {
        let scale = Some(self.quantizer.scale_as_bf16());
        encode_bf16(k, self.plan, scale, self.values.reinterpret_cast(), self.codes);
    }
}
