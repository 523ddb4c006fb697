//! A query as the left operand of the first product.

use half::bf16;

use super::super::common::quantize::quantize_by_amax;
use crate::device::{DeviceError, QueryScale};
use crate::fp8::{Format, Quantizer};
use crate::mme::{Elements, Matrix, MmeError};
use crate::{Generation, ScaleFactors};

/// Rows of a query, quantized where the first product is FP8, and what multiplies each row of the product.
#[derive(Debug, Default)]
pub(super) struct QueryRows {
    values: Vec<bf16>,
    codes: Vec<u8>,
    format: Option<Format>,
    dim: usize,
    pub(super) dequant: Vec<f32>,
}

impl QueryRows {
    /// Takes rows of `dim` elements, in place of those it has. `scale` is `None` for a bfloat16 product.
    pub(super) fn set<'q>(
        &mut self,
        generation: Generation,
        rows: impl Iterator<Item = &'q [bf16]>,
        dim: usize,
        kv_head: usize,
        scale: Option<&QueryScale>,
    ) -> Result<(), DeviceError> {
        let Self { values, codes, dequant: dequants, .. } = self;
        values.clear();
        rows.for_each(|row| values.extend_from_slice(row));
        self.dim = dim;
        self.format = scale.map(|_| Format::kv_cache(generation));
        dequants.clear();
        dequants.resize(values.len() / dim, 1.0);
        let Some(scale) = scale else { return Ok(()) };
        codes.resize(values.len(), 0);
        match scale {
            QueryScale::Static(ScaleFactors { quant, dequant }) => {
                Quantizer::kv_cache(generation, quant.of(kv_head))?.quant_bf16(values, codes)?;
                dequants.fill(dequant.of(kv_head));
            }
            QueryScale::Dynamic => {
                let pieces = values.chunks_exact(dim).zip(codes.chunks_exact_mut(dim));
                for ((values, codes), dequant) in pieces.zip(dequants) {
                    *dequant = quantize_by_amax(generation, values, codes)?;
                }
            }
        }
        Ok(())
    }

    /// `[rows, dim]`.
    pub(super) fn matrix(&self) -> Result<Matrix<'_>, MmeError> {
        let elements = match self.format {
            Some(format) => Elements::Fp8(&self.codes, format),
            None => Elements::Bf16(&self.values),
        };
        Matrix::new(elements, self.values.len() / self.dim, self.dim)
    }
}
