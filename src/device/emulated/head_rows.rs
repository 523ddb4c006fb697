//! The rows of one KV head, as the matrix engine takes them: views of a cache's blocks, or of a sequence's tensor.

use std::borrow::Cow;

use half::bf16;

use super::storage::EmulatedPlane;
use crate::Generation;
use crate::device::{DeviceError, HeadScales, PlaneLayout};
use crate::fp8::{Format, Quantizer};
use crate::mme::{Elements, Matrix, MmeError};

/// Where the elements are.
#[derive(Debug)]
enum Store<'a> {
    Codes(&'a [u8], Format),
    Values(Cow<'a, [bf16]>),
}

/// The rows of one head: runs of equally strided rows in one store.
#[derive(Debug)]
pub(super) struct HeadRows<'a> {
    store: Store<'a>,
    /// Where each run starts and how many rows it has.
    runs: Vec<(usize, usize)>,
    pub(super) dim: usize,
    stride: usize,
}

impl<'a> HeadRows<'a> {
    /// The first `dim` elements of a head's rows in a plane, for the tokens of a sequence in order.
    pub(super) fn of_plane(
        generation: Generation,
        layout: &PlaneLayout,
        plane: &'a EmulatedPlane,
        (blocks, context_tokens): (&[usize], usize),
        head: usize,
        dim: usize,
    ) -> Self {
        let size = layout.block_size_tokens;
        let starts = blocks.iter().map(|block| block * size * layout.row() + head * layout.dim);
        let runs: Vec<(usize, usize)> = starts
            .enumerate()
            .map(|(number, start)| (start, size.min(context_tokens - number * size)))
            .collect();
        let store = match plane {
            EmulatedPlane::Fp8(codes) => Store::Codes(codes, Format::kv_cache(generation)),
            EmulatedPlane::Bf16(values) => Store::Values(Cow::Borrowed(values)),
            EmulatedPlane::F32(values) => {
                // The matrix engine takes bfloat16, and these are bfloat16 values.
                let rows = runs
                    .iter()
                    .flat_map(|(start, rows)| (0..*rows).map(move |row| start + row * layout.row()));
                let gathered =
                    rows.flat_map(|at| values[at..at + dim].iter().map(|v| bf16::from_f32(*v))).collect();
                let runs = vec![(0, context_tokens)];
                return Self { store: Store::Values(Cow::Owned(gathered)), runs, dim, stride: dim };
            }
        };
        Self { store, runs, dim, stride: layout.row() }
    }

    /// The first `rows` rows.
    pub(super) fn matrices(&self, rows: usize) -> Result<Vec<Matrix<'_>>, MmeError> {
        let mut left = rows;
        let mut matrices = Vec::with_capacity(self.runs.len());
        for (start, len) in &self.runs {
            let taken = left.min(*len);
            if taken == 0 {
                break;
            }
            let elements = match &self.store {
                Store::Codes(codes, format) => Elements::Fp8(&codes[*start..], *format),
                Store::Values(values) => Elements::Bf16(&values[*start..]),
            };
            matrices.push(Matrix::strided(elements, taken, self.dim, self.stride)?);
            left -= taken;
        }
        Ok(matrices)
    }
}

/// A sequence's `[tokens, heads, dim]` tensor, quantized where an FP8 prefill asks for it.
#[derive(Debug)]
pub(super) enum QuantizedRows<'a> {
    Codes { codes: Vec<u8>, format: Format, heads: usize, dim: usize },
    Values { values: &'a [bf16], heads: usize, dim: usize },
}

impl<'a> QuantizedRows<'a> {
    pub(super) fn new(
        generation: Generation,
        values: &'a [bf16],
        heads: usize,
        dim: usize,
        quant: Option<&HeadScales>,
    ) -> Result<Self, DeviceError> {
        let Some(quant) = quant else { return Ok(Self::Values { values, heads, dim }) };
        let mut codes = vec![0; values.len()];
        quantize_rows(generation, values, heads, dim, quant, &mut codes)?;
        Ok(Self::Codes { codes, format: Format::kv_cache(generation), heads, dim })
    }

    /// One head's rows.
    pub(super) fn head(&self, head: usize) -> HeadRows<'_> {
        let (store, len, heads, dim) = match self {
            Self::Codes { codes, format, heads, dim } => {
                (Store::Codes(codes, *format), codes.len(), *heads, *dim)
            }
            Self::Values { values, heads, dim } => {
                (Store::Values(Cow::Borrowed(*values)), values.len(), *heads, *dim)
            }
        };
        HeadRows { store, runs: vec![(head * dim, len / (heads * dim))], dim, stride: heads * dim }
    }
}

/// Quantizes `[rows, heads, dim]`, each head by its own scale.
pub(super) fn quantize_rows(
    generation: Generation,
    values: &[bf16],
    heads: usize,
    dim: usize,
    quant: &HeadScales,
    codes: &mut [u8],
) -> Result<(), DeviceError> {
    if let HeadScales::One(quant) = quant {
        Quantizer::kv_cache(generation, *quant)?.quant_bf16(values, codes)?;
        return Ok(());
    }
    let quantizers = (0..heads)
        .map(|head| Quantizer::kv_cache(generation, quant.of(head)))
        .collect::<Result<Vec<_>, _>>()?;
    Quantizer::quant_heads_bf16(&quantizers, dim, values, codes)?;
    Ok(())
}
