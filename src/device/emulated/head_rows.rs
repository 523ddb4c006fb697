//! The rows of one KV head, as the matrix engine takes them: views of a cache's blocks, or of a sequence's tensor.

use half::bf16;

use super::storage::{ElementSlice, EmulatedPlane};
use crate::Generation;
use crate::device::{DeviceError, HeadScales, PlaneLayout};
use crate::fp8::{Format, Quantizer};
use crate::mme::{Elements, Matrix, MmeError};

/// Where the elements are.
#[derive(Debug)]
enum Store<'a> {
    Codes(&'a [u8], Format),
    Values(&'a [bf16]),
    /// bfloat16 values, widened.
    Floats(&'a [f32]),
}

/// Where the rows of a sequence's tokens start: runs of consecutive ones.
#[derive(Debug)]
enum Runs<'a> {
    Blocks { blocks: &'a [usize], block_size_tokens: usize },
    All,
}

/// The rows of one head, `stride` elements from one to the next within a run.
#[derive(Debug)]
pub(super) struct HeadRows<'a> {
    store: Store<'a>,
    runs: Runs<'a>,
    /// Elements of a token before those of the head.
    offset: usize,
    pub(super) dim: usize,
    stride: usize,
}

impl<'a> HeadRows<'a> {
    /// The first `dim` elements of a head's rows in a plane, for the tokens in these blocks in order.
    pub(super) fn of_plane(
        generation: Generation,
        layout: &PlaneLayout,
        plane: &'a EmulatedPlane,
        blocks: &'a [usize],
        head: usize,
        dim: usize,
    ) -> Self {
        let store = match plane.elements() {
            ElementSlice::Codes(codes) => Store::Codes(codes, Format::kv_cache(generation)),
            ElementSlice::Words(values) => Store::Values(values),
            ElementSlice::Floats(values) => Store::Floats(values),
        };
        let runs = Runs::Blocks { blocks, block_size_tokens: layout.block_size_tokens };
        Self { store, runs, offset: head * layout.dim, dim, stride: layout.row() }
    }

    /// Where each run of the first `rows` rows starts and how many rows it has.
    fn runs(&self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        let (blocks, size) = match self.runs {
            Runs::Blocks { blocks, block_size_tokens } => (blocks, block_size_tokens),
            Runs::All => (&[0][..], rows.max(1)),
        };
        let starts = blocks.iter().map(move |block| block * size * self.stride + self.offset);
        starts.zip((0..rows).step_by(size)).map(move |(start, first)| (start, size.min(rows - first)))
    }

    /// Appends the first `rows` rows. What has to be narrowed first goes to `gathered`.
    pub(super) fn push_matrices<'m>(
        &'m self,
        rows: usize,
        gathered: &'m mut Vec<bf16>,
        matrices: &mut Vec<Matrix<'m>>,
    ) -> Result<(), MmeError> {
        if let Store::Floats(values) = &self.store {
            // The matrix engine takes bfloat16, and these are bfloat16 values.
            gathered.clear();
            for at in
                self.runs(rows).flat_map(|(start, rows)| (0..rows).map(move |r| start + r * self.stride))
            {
                gathered.extend(values[at..at + self.dim].iter().map(|v| bf16::from_f32(*v)));
            }
            matrices.push(Matrix::new(Elements::Bf16(gathered), rows, self.dim)?);
            return Ok(());
        }
        for (start, rows) in self.runs(rows) {
            let elements = match &self.store {
                Store::Codes(codes, format) => Elements::Fp8(&codes[start..], *format),
                Store::Values(values) => Elements::Bf16(&values[start..]),
                Store::Floats(_) => continue,
            };
            matrices.push(Matrix::strided(elements, rows, self.dim, self.stride)?);
        }
        Ok(())
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
        let (mut codes, mut quantizers) = (vec![0; values.len()], Vec::new());
        set_quantizers(&mut quantizers, generation, heads, quant)?;
        quantize_rows(&quantizers, values, dim, &mut codes)?;
        Ok(Self::Codes { codes, format: Format::kv_cache(generation), heads, dim })
    }

    /// All rows.
    pub(super) fn elements(&self) -> ElementSlice<'_> {
        match self {
            Self::Codes { codes, .. } => ElementSlice::Codes(codes),
            Self::Values { values, .. } => ElementSlice::Words(values),
        }
    }

    /// One head's rows.
    pub(super) fn head(&self, head: usize) -> HeadRows<'_> {
        let (store, heads, dim) = match self {
            Self::Codes { codes, format, heads, dim } => (Store::Codes(codes, *format), *heads, *dim),
            Self::Values { values, heads, dim } => (Store::Values(values), *heads, *dim),
        };
        HeadRows { store, runs: Runs::All, offset: head * dim, dim, stride: heads * dim }
    }
}

/// The quantizers of `heads` heads, in place of those in the list: one for all, or one for each.
pub(super) fn set_quantizers(
    quantizers: &mut Vec<Quantizer>,
    generation: Generation,
    heads: usize,
    quant: &HeadScales,
) -> Result<(), DeviceError> {
    let count = if let HeadScales::One(_) = quant { 1 } else { heads };
    quantizers.clear();
    for head in 0..count {
        quantizers.push(Quantizer::kv_cache(generation, quant.of(head))?);
    }
    Ok(())
}

/// Quantizes `[rows, heads, dim]` by the quantizers of the heads.
pub(super) fn quantize_rows(
    quantizers: &[Quantizer],
    values: &[bf16],
    dim: usize,
    codes: &mut [u8],
) -> Result<(), DeviceError> {
    match quantizers {
        [one] => one.quant_bf16(values, codes)?,
        each => Quantizer::quant_heads_bf16(each, dim, values, codes)?,
    }
    Ok(())
}
