//! Views of matrices: element type, shape and strides.

use half::bf16;

use super::error::MmeError;
use crate::fp8::Format;

/// The elements of an operand.
#[derive(Debug, Clone, Copy)]
pub enum Elements<'a> {
    /// FP8 codes and what they mean.
    Fp8(&'a [u8], Format),
    /// bfloat16 numbers.
    Bf16(&'a [bf16]),
}

impl Elements<'_> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Fp8(codes, _) => codes.len(),
            Self::Bf16(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The FP8 format, `None` for bfloat16.
    #[must_use]
    pub const fn format(&self) -> Option<Format> {
        match self {
            Self::Fp8(_, format) => Some(*format),
            Self::Bf16(_) => None,
        }
    }
}

/// A view of a row-major matrix: element `(i, j)` is at `i * stride + j`.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    elements: Elements<'a>,
    rows: usize,
    cols: usize,
    stride: usize,
}

/// Checks that a strided shape fits its elements.
fn check(rows: usize, cols: usize, stride: usize, len: usize) -> Result<(), MmeError> {
    if stride < cols {
        return Err(MmeError::Stride { cols, stride });
    }
    let needed = match rows.checked_sub(1) {
        None => 0,
        Some(full) => {
            full.checked_mul(stride).and_then(|start| start.checked_add(cols)).ok_or(MmeError::Overflow)?
        }
    };
    if needed > len { Err(MmeError::Length { rows, cols, stride, len }) } else { Ok(()) }
}

impl<'a> Matrix<'a> {
    /// `rows` x `cols` elements, one row after the other.
    ///
    /// # Errors
    /// There are fewer elements than that, or the size overflows.
    pub fn new(elements: Elements<'a>, rows: usize, cols: usize) -> Result<Self, MmeError> {
        Self::strided(elements, rows, cols, cols)
    }

    /// `rows` x `cols` elements with `stride` of them from the start of a row to the start of the next. The last row needs no more
    /// than `cols` of them.
    ///
    /// # Errors
    /// The rows overlap, the elements end before the view does, or the size overflows.
    pub fn strided(
        elements: Elements<'a>,
        rows: usize,
        cols: usize,
        stride: usize,
    ) -> Result<Self, MmeError> {
        check(rows, cols, stride, elements.len())?;
        Ok(Self { elements, rows, cols, stride })
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// The FP8 format, `None` for bfloat16.
    #[must_use]
    pub const fn format(&self) -> Option<Format> {
        self.elements.format()
    }

    /// The elements, from the first of the view.
    pub(super) const fn elements(&self) -> Elements<'a> {
        self.elements
    }

    /// Elements from the start of a row to the start of the next.
    pub(super) const fn stride(&self) -> usize {
        self.stride
    }

    /// Appends the rows to one of two lists.
    pub(super) fn push_rows(&self, fp8: &mut Vec<&'a [u8]>, words: &mut Vec<&'a [u16]>) {
        use half::slice::HalfFloatSliceExt;
        let starts = (0..self.rows).map(|row| row * self.stride);
        match self.elements {
            Elements::Fp8(codes, _) => fp8.extend(starts.map(|at| &codes[at..at + self.cols])),
            Elements::Bf16(values) => {
                let values: &'a [u16] = values.reinterpret_cast();
                words.extend(starts.map(|at| &values[at..at + self.cols]));
            }
        }
    }
}

/// The right operand. It may come in blocks, such as those of a paged cache: one below the other, all of one width.
/// A paged K cache is [`NByK`](Self::NByK), a paged V cache [`KByN`](Self::KByN).
#[derive(Debug, Clone, Copy)]
pub enum Right<'a> {
    /// Rows run along the common dimension: `[K, N]`.
    KByN(&'a [Matrix<'a>]),
    /// Transposed: a row is a column of the product, `[N, K]`.
    NByK(&'a [Matrix<'a>]),
}

impl<'a> Right<'a> {
    /// The blocks.
    #[must_use]
    pub const fn blocks(&self) -> &'a [Matrix<'a>] {
        match self {
            Self::KByN(blocks) | Self::NByK(blocks) => blocks,
        }
    }

    /// `(K, N)`, after a look at every block.
    ///
    /// # Errors
    /// The blocks differ in width, element type or format, or their rows overflow.
    pub fn shape(&self) -> Result<(usize, usize), MmeError> {
        let Some(first) = self.blocks().first() else { return Ok((0, 0)) };
        let mut rows = 0usize;
        for (block, matrix) in self.blocks().iter().enumerate() {
            if matrix.cols != first.cols {
                return Err(MmeError::BlockWidth { block, cols: matrix.cols, expected: first.cols });
            }
            if matrix.format() != first.format() {
                return Err(MmeError::BlockType { block });
            }
            rows = rows.checked_add(matrix.rows).ok_or(MmeError::Overflow)?;
        }
        Ok(match self {
            Self::KByN(_) => (rows, first.cols),
            Self::NByK(_) => (first.cols, rows),
        })
    }
}

/// A row-major float32 destination with a row stride.
#[derive(Debug)]
pub struct MatrixMut<'a> {
    data: &'a mut [f32],
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<'a> MatrixMut<'a> {
    /// `rows` x `cols` floats, one row after the other.
    ///
    /// # Errors
    /// There are fewer than that, or the size overflows.
    pub fn new(data: &'a mut [f32], rows: usize, cols: usize) -> Result<Self, MmeError> {
        Self::strided(data, rows, cols, cols)
    }

    /// `rows` x `cols` floats with `stride` of them from the start of a row to the start of the next. What lies between the rows is
    /// left alone.
    ///
    /// # Errors
    /// The rows overlap, the data end before the view does, or the size overflows.
    pub fn strided(data: &'a mut [f32], rows: usize, cols: usize, stride: usize) -> Result<Self, MmeError> {
        check(rows, cols, stride, data.len())?;
        Ok(Self { data, rows, cols, stride })
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// Elements from the start of a row to the start of the next.
    #[must_use]
    pub const fn stride(&self) -> usize {
        self.stride
    }

    /// Each row.
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        let cols = self.cols;
        self.data.chunks_mut(self.stride.max(1)).take(self.rows).map(move |row| &mut row[..cols])
    }
}
