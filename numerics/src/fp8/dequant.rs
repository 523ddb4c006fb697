//! Decoding slices of FP8 codes to bfloat16 and float32, times a scale.

use half::bf16;

use super::dequantizer::Dequantizer;
use super::error::{Fp8Error, same_length};
use super::kernels;
use super::kernels::dequant::{DequantBf16, DequantF32};
use crate::simd::Isa;

impl Dequantizer {
    /// `bf16(value(code) * bf16(scale))` of each code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn dequant_bf16(&self, codes: &[u8], values: &mut [bf16]) -> Result<(), Fp8Error> {
        self.dequant_bf16_with(Isa::active(), codes, values)
    }

    /// [`dequant_bf16`](Self::dequant_bf16) on a given instruction set; one that this machine lacks means portable
    /// code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn dequant_bf16_with(&self, isa: Isa, codes: &[u8], values: &mut [bf16]) -> Result<(), Fp8Error> {
        same_length(codes.len(), values.len())?;
        let table = &self.scaled;
        kernels::run(isa, table.symmetric, DequantBf16 { table, codes, values });
        Ok(())
    }

    /// `value(code) * scale` of each code, in float32.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn dequant_f32(&self, codes: &[u8], values: &mut [f32]) -> Result<(), Fp8Error> {
        self.dequant_f32_with(Isa::active(), codes, values)
    }

    /// [`dequant_f32`](Self::dequant_f32) on a given instruction set; one that this machine lacks means portable code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn dequant_f32_with(&self, isa: Isa, codes: &[u8], values: &mut [f32]) -> Result<(), Fp8Error> {
        same_length(codes.len(), values.len())?;
        // The vector kernels widen bfloat16, which must then hold every value exactly.
        let (table, fits_vectors) = (&self.plain, self.widens && self.plain.symmetric);
        kernels::run(isa, fits_vectors, DequantF32 { dequantizer: self, table, codes, values });
        Ok(())
    }
}
