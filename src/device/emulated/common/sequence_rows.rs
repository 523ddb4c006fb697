//! The rows of a sequence's keys or values: in the blocks of a plane, or in a tensor.

use super::element_slice::ElementSlice;

/// The rows of a sequence's tokens, each of several heads.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct SequenceRows<'a> {
    /// All elements of the plane or tensor.
    pub(in super::super) elements: ElementSlice<'a>,
    /// Heads of a row.
    pub(in super::super) heads: usize,
    /// Elements of a head as they are stored.
    pub(in super::super) head_dim: usize,
    /// Elements of a head that are used, from the first.
    pub(in super::super) dim: usize,
    /// The blocks that hold the tokens, in order.
    pub(in super::super) blocks: &'a [usize],
    /// Tokens of a block.
    pub(in super::super) block_size_tokens: usize,
}

impl SequenceRows<'_> {
    /// Elements from one row to the next.
    pub(in super::super) fn stride(&self) -> usize {
        self.heads * self.head_dim
    }
}
