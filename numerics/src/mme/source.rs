//! The right operand as it is stored.

use super::decode::Decoder;
use super::emptied::emptied;
use super::matrix::Matrix;

/// The rows of a stored matrix: in one of the lists, by its type.
#[derive(Default)]
pub(super) struct Rows<'a> {
    pub(super) fp8: Vec<&'a [u8]>,
    pub(super) words: Vec<&'a [u16]>,
}

impl<'a> Rows<'a> {
    /// All rows of blocks of one type, in place of those it has.
    pub(super) fn set(&mut self, blocks: &[Matrix<'a>]) {
        self.fp8.clear();
        self.words.clear();
        for block in blocks {
            block.push_rows(&mut self.fp8, &mut self.words);
        }
    }

    /// An empty list in the memory of this one.
    pub(super) fn emptied(self) -> Rows<'static> {
        Rows { fp8: emptied(self.fp8), words: emptied(self.words) }
    }
}

/// B as it is stored.
pub(super) struct Source<'a> {
    pub(super) rows: Rows<'a>,
    /// Whether a stored row is a column of B as a `[K, N]` matrix.
    pub(super) by_column: bool,
    pub(super) depth: usize,
    pub(super) decoder: Decoder,
}
