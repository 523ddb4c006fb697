//! The rows of one KV head of a sequence, as the matrix engine takes them.

use half::bf16;

use super::super::common::element_slice::ElementSlice;
use super::super::common::sequence_rows::SequenceRows;
use crate::Generation;
use crate::fp8::Format;
use crate::mme::{Elements, Matrix, MmeError};

/// The keys or values of one KV head.
#[derive(Debug)]
pub(super) struct HeadRows<'a> {
    rows: SequenceRows<'a>,
    head: usize,
    /// What codes mean.
    format: Format,
}

impl<'a> HeadRows<'a> {
    pub(super) fn new(generation: Generation, rows: SequenceRows<'a>, head: usize) -> Self {
        Self { rows, head, format: Format::kv_cache(generation) }
    }

    /// Elements of a row that are used.
    pub(super) const fn dim(&self) -> usize {
        self.rows.dim
    }

    /// Where each run of consecutive rows, of the first `rows` rows, starts and how many it has.
    fn runs(&self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        let SequenceRows { blocks, block_size_tokens: size, head_dim, .. } = self.rows;
        let (stride, offset) = (self.rows.stride(), self.head * head_dim);
        let starts = blocks.iter().map(move |block| block * size * stride + offset);
        starts.zip((0..rows).step_by(size)).map(move |(start, first)| (start, size.min(rows - first)))
    }

    /// Appends the first `rows` rows. What has to be narrowed first goes to `gathered`.
    pub(super) fn push_matrices<'m>(
        &'m self,
        rows: usize,
        gathered: &'m mut Vec<bf16>,
        matrices: &mut Vec<Matrix<'m>>,
    ) -> Result<(), MmeError> {
        let (dim, stride) = (self.rows.dim, self.rows.stride());
        if let ElementSlice::Floats(values) = self.rows.elements {
            // The matrix engine takes bfloat16, and these are bfloat16 values.
            gathered.clear();
            for at in self.runs(rows).flat_map(|(start, rows)| (0..rows).map(move |r| start + r * stride)) {
                gathered.extend(values[at..at + dim].iter().map(|v| bf16::from_f32(*v)));
            }
            matrices.push(Matrix::new(Elements::Bf16(gathered), rows, dim)?);
            return Ok(());
        }
        for (start, rows) in self.runs(rows) {
            let elements = match self.rows.elements {
                ElementSlice::Codes(codes) => Elements::Fp8(&codes[start..], self.format),
                ElementSlice::Words(values) => Elements::Bf16(&values[start..]),
                ElementSlice::Floats(_) => continue,
            };
            matrices.push(Matrix::strided(elements, rows, dim, stride)?);
        }
        Ok(())
    }
}
