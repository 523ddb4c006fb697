//! A tensor of keys or values, quantized where an FP8 prefill asks for it.

use half::bf16;

use super::element_slice::ElementSlice;
use super::quantize::{quantize_rows, with_quantizers};
use crate::Generation;
use crate::device::{DeviceError, HeadScales};

/// A `[tokens, heads, dim]` tensor as the products take it.
#[derive(Debug)]
pub(in super::super) enum QuantizedTensor<'a> {
    /// e4m3 codes of its values.
    Codes(Vec<u8>),
    /// Its values.
    Words(&'a [bf16]),
}

impl<'a> QuantizedTensor<'a> {
    /// The tensor, quantized by the multipliers of its heads where there are any.
    pub(in super::super) fn new(
        generation: Generation,
        values: &'a [bf16],
        heads: usize,
        dim: usize,
        quant: Option<&HeadScales>,
    ) -> Result<Self, DeviceError> {
        let Some(quant) = quant else { return Ok(Self::Words(values)) };
        let mut codes = vec![0; values.len()];
        with_quantizers(generation, heads, quant, |quantizers| {
            quantize_rows(quantizers, values, dim, &mut codes)
        })?;
        Ok(Self::Codes(codes))
    }

    /// Its elements.
    pub(in super::super) fn elements(&self) -> ElementSlice<'_> {
        match self {
            Self::Codes(codes) => ElementSlice::Codes(codes),
            Self::Words(values) => ElementSlice::Words(values),
        }
    }
}
