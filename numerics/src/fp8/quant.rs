//! Scaled conversion to FP8.

use half::bf16;

use super::arch::{self, EncodePlan, Pieces, QuantTables};
use super::error::{checked_scale, same_length};
use super::{Encoder, Fp8Error, Isa, bf16_from_f32};
use crate::Generation;

/// Rows of a block in which one head is converted after the other.
const BLOCK_ROWS: usize = 32;

/// Multiplies by one scale and converts to FP8, as the device's `convert_to_fp8` does.
///
/// The scale is a multiplier: 1 divided by the dequantization factor of a checkpoint. Its type follows the input's:
/// a bfloat16 input is multiplied by the scale rounded to bfloat16 and the product is rounded to bfloat16 before it is
/// rounded to FP8; a float32 input is multiplied in float32.
///
/// A NaN input becomes `0x7F`; from float32 its sign survives as in [`Encoder`]. A product that overflows its type is
/// an Inf to the encoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantizer {
    encoder: Encoder,
    scale: f32,
    scale_bf16: bf16,
}

impl Quantizer {
    /// A conversion by `encoder` after a multiplication by `scale`.
    ///
    /// # Errors
    /// The scale is not finite and positive, in float32 or rounded to bfloat16.
    pub fn new(encoder: Encoder, scale: f32) -> Result<Self, Fp8Error> {
        Ok(Self { encoder, scale, scale_bf16: checked_scale(scale)? })
    }

    /// The conversion of a KV-cache write on `generation`: `fp8(bf16(x * bf16(q)))`, nearest even, saturating.
    ///
    /// # Errors
    /// The scale is not finite and positive, in float32 or rounded to bfloat16.
    pub fn kv_cache(generation: Generation, q: f32) -> Result<Self, Fp8Error> {
        Self::new(Encoder::kv_cache(generation), q)
    }

    /// The conversion after the multiplication.
    #[must_use]
    pub const fn encoder(&self) -> Encoder {
        self.encoder
    }

    /// The multiplier.
    #[must_use]
    pub const fn scale(&self) -> f32 {
        self.scale
    }

    /// `fp8(bf16(value * bf16(scale)))`.
    #[must_use]
    pub fn quant_one_bf16(&self, value: bf16) -> u8 {
        // bf16_from_f32 makes every NaN positive, which gives 0x7F in every mode.
        let product = bf16_from_f32(value.to_f32() * self.scale_bf16.to_f32());
        self.encoder.encode(product.to_f32())
    }

    /// `fp8(value * scale)`, the product in float32.
    #[must_use]
    pub fn quant_one_f32(&self, value: f32) -> u8 {
        // The sign of a NaN product is anybody's; the value's own sign is the one defined here.
        self.encoder.encode((value * self.scale).copysign(value))
    }

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
        arch::quant_bf16(isa, &EncodePlan::new(self.encoder), self, values, codes);
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
        let tables = |head: &Self| QuantTables::new(isa, &EncodePlan::new(head.encoder), head, of_head);
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
                let plan = EncodePlan::new(head.encoder);
                for (values, codes) in pieces.of(values).zip(pieces.of_mut(codes)) {
                    arch::quant_bf16(isa, &plan, head, values, codes);
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
        arch::quant_f32(isa, &EncodePlan::new(self.encoder), self, values, codes);
        Ok(())
    }

    /// The multiplier of a bfloat16 input.
    pub(super) fn scale_as_bf16(&self) -> f32 {
        self.scale_bf16.to_f32()
    }
}
