//! The rows of a sequence's keys or values: in the blocks of a plane, or in a tensor.

use super::element_slice::ElementSlice;
use super::plane::EmulatedPlane;
use crate::device::PlaneLayout;

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

impl<'a> SequenceRows<'a> {
    /// The first `dim` elements of each head of a plane, of the tokens in these blocks in order.
    pub(in super::super) fn of_plane(
        plane: &'a EmulatedPlane,
        layout: &PlaneLayout,
        dim: usize,
        blocks: &'a [usize],
    ) -> Self {
        let PlaneLayout { heads, dim: head_dim, block_size_tokens, .. } = *layout;
        Self { elements: plane.elements(), heads, head_dim, dim, blocks, block_size_tokens }
    }

    /// A tensor `[tokens, heads, dim]`: one block without an end.
    pub(in super::super) fn of_tensor(elements: ElementSlice<'a>, heads: usize, dim: usize) -> Self {
        Self { elements, heads, head_dim: dim, dim, blocks: &[0], block_size_tokens: usize::MAX }
    }

    /// Elements from one row to the next.
    pub(in super::super) fn stride(&self) -> usize {
        self.heads * self.head_dim
    }
}
