//! Scaled conversion of slices to FP8.

use half::bf16;

use super::error::{Fp8Error, same_length};
use super::kernels;
use super::kernels::encode::Quant;
use super::kernels::pieces::Pieces;
use super::kernels::plan::EncodePlan;
use super::kernels::quant_tables::QuantTables;
use super::quantizer::Quantizer;
use crate::simd::Isa;

/// Rows of a block in which one head is converted after the other.
const BLOCK_ROWS: usize = 32;

impl Quantizer {
    /// `fp8(bf16(x * bf16(scale)))` of each value.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn quant_bf16(&self, values: &[bf16], codes: &mut [u8]) -> Result<(), Fp8Error> {
        self.quant_bf16_with(Isa::active(), values, codes)
    }

    /// [`quant_bf16`](Self::quant_bf16) on a given instruction set; one that this machine lacks means portable code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn quant_bf16_with(&self, isa: Isa, values: &[bf16], codes: &mut [u8]) -> Result<(), Fp8Error> {
        same_length(values.len(), codes.len())?;
        self.quant_words(isa, values, codes);
        Ok(())
    }

    /// [`quant_bf16`](Self::quant_bf16) of `[rows, heads, dim]`, each head by the quantizer of its number.
    ///
    /// # Errors
    /// The slices differ in length, or are no whole number of rows of `heads.len() * dim`.
    pub fn quant_heads_bf16(
        heads: &[Self],
        dim: usize,
        values: &[bf16],
        codes: &mut [u8],
    ) -> Result<(), Fp8Error> {
        same_length(values.len(), codes.len())?;
        let row = heads.len().saturating_mul(dim);
        if row == 0 || !values.len().is_multiple_of(row) {
            return Err(Fp8Error::Rows { len: values.len(), row });
        }
        let (isa, of_head) = (Isa::active(), values.len() / heads.len());
        let tables = |head: &Self| QuantTables::new(isa, &EncodePlan::new(head.encoder()), head, of_head);
        let tables: Option<Vec<QuantTables>> = heads.iter().map(tables).collect();
        // One head after the other in each block, which stays in the cache meanwhile. What a head is set up with is then
        // worked out for many short pieces, and needs no memory.
        let block_len = BLOCK_ROWS * row;
        for (number, codes) in codes.chunks_mut(block_len).enumerate() {
            let (values, next) = values[number * block_len..].split_at(codes.len());
            let mut ahead = next.chunks(BLOCK_ROWS * dim);
            for (number, head) in heads.iter().enumerate() {
                let pieces = Pieces { first: number * dim, len: dim, stride: row };
                if let Some(tables) = &tables {
                    tables[number].quant_bf16(pieces, values, codes, ahead.next().unwrap_or_default());
                    continue;
                }
                for (values, codes) in pieces.of(values).zip(pieces.of_mut(codes)) {
                    head.quant_words(isa, values, codes);
                }
            }
        }
        Ok(())
    }

    /// `fp8(x * scale)` of each value, the product in float32.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn quant_f32(&self, values: &[f32], codes: &mut [u8]) -> Result<(), Fp8Error> {
        self.quant_f32_with(Isa::active(), values, codes)
    }

    /// [`quant_f32`](Self::quant_f32) on a given instruction set; one that this machine lacks means portable code.
    ///
    /// # Errors
    /// The slices differ in length.
    pub fn quant_f32_with(&self, isa: Isa, values: &[f32], codes: &mut [u8]) -> Result<(), Fp8Error> {
        same_length(values.len(), codes.len())?;
        let plan = EncodePlan::new(self.encoder());
        kernels::run(isa, plan.vectorizes, Quant { plan: &plan, quantizer: self, values, codes });
        Ok(())
    }

    /// [`quant_bf16`](Self::quant_bf16) of slices of equal length.
    fn quant_words(&self, isa: Isa, values: &[bf16], codes: &mut [u8]) {
        let plan = EncodePlan::new(self.encoder());
        if let Some(tables) = QuantTables::new(isa, &plan, self, values.len()) {
            let all = Pieces { first: 0, len: values.len(), stride: values.len() };
            return tables.quant_bf16(all, values, codes, &[]);
        }
        kernels::run(isa, plan.vectorizes, Quant { plan: &plan, quantizer: self, values, codes });
    }
}
