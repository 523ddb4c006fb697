//! The keys and values of a problem as the products take them.

use half::bf16;

use super::element_slice::ElementSlice;
use super::plane::EmulatedPlane;
use super::quantize::{quantize_rows, with_quantizers};
use super::sequence_rows::SequenceRows;
use crate::Generation;
use crate::device::{AttentionProblem, DeviceError, HeadScales, Plane, PlanePair, SequenceSpan, TensorPair};

/// A problem of the emulated device.
pub(in super::super) type EmulatedProblem<'a> = AttentionProblem<'a, EmulatedPlane>;

/// Keys and values, quantized where the products are FP8.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Operands<'a> {
    /// In the blocks of planes.
    Planes(&'a PlanePair<'a, EmulatedPlane>),
    /// The elements of two tensors: of keys, then of values.
    Tensors([ElementSlice<'a>; 2]),
}

impl<'a> Operands<'a> {
    /// Tensors, quantized to `codes` where the problem's products are FP8.
    pub(in super::super) fn of_tensors(
        generation: Generation,
        problem: &EmulatedProblem<'_>,
        tensors: &TensorPair<'a>,
        [key_codes, value_codes]: &'a mut [Vec<u8>; 2],
    ) -> Result<Self, DeviceError> {
        let TensorPair { k, v } = *tensors;
        if problem.fp8.is_none() {
            return Ok(Self::Tensors([ElementSlice::Words(k), ElementSlice::Words(v)]));
        }
        let (heads, key, value) =
            (problem.shape.num_kv_heads, &problem.key_factors.quant, &problem.value_factors.quant);
        let quantized = |values, dim, quant, codes| quantized(generation, values, (heads, dim), quant, codes);
        Ok(Self::Tensors([
            quantized(k, problem.shape.head_dim, key, key_codes)?,
            quantized(v, problem.shape.v_head_dim, value, value_codes)?,
        ]))
    }

    /// The rows of a sequence's keys and of its values.
    pub(in super::super) fn rows(
        &self,
        problem: &EmulatedProblem<'_>,
        sequence: &SequenceSpan,
    ) -> [SequenceRows<'a>; 2] {
        let shape = problem.shape;
        let dims = [shape.head_dim, shape.v_head_dim];
        match *self {
            Self::Planes(planes) => {
                let blocks = planes.blocks_of(sequence, sequence.len);
                let rows = |plane: &'a EmulatedPlane, dim| SequenceRows {
                    elements: plane.elements(),
                    heads: plane.layout().heads,
                    head_dim: plane.layout().dim,
                    dim,
                    blocks,
                    block_size_tokens: plane.layout().block_size_tokens,
                };
                [rows(planes.key, dims[0]), rows(planes.value, dims[1])]
            }
            Self::Tensors([keys, values]) => {
                // One block without an end.
                let rows = |elements: ElementSlice<'a>, dim| SequenceRows {
                    elements: elements.from(sequence.first_row * shape.num_kv_heads * dim),
                    heads: shape.num_kv_heads,
                    head_dim: dim,
                    dim,
                    blocks: &[0],
                    block_size_tokens: usize::MAX,
                };
                [rows(keys, dims[0]), rows(values, dims[1])]
            }
        }
    }
}

/// The codes of a `[tokens, heads, dim]` tensor.
fn quantized<'a>(
    generation: Generation,
    values: &[bf16],
    (heads, dim): (usize, usize),
    quant: &HeadScales,
    codes: &'a mut Vec<u8>,
) -> Result<ElementSlice<'a>, DeviceError> {
    codes.resize(values.len(), 0);
    with_quantizers(generation, heads, quant, |quantizers| quantize_rows(quantizers, values, dim, codes))?;
    Ok(ElementSlice::Codes(codes))
}
