//! Parts of slices at equal distances.

/// Pieces of `len` elements of a longer slice, the first at `first`, from each to the next `stride`.
#[derive(Clone, Copy)]
pub(in crate::fp8) struct Pieces {
    pub(in crate::fp8) first: usize,
    pub(in crate::fp8) len: usize,
    pub(in crate::fp8) stride: usize,
}

impl Pieces {
    /// Each piece.
    #[inline(always)]
    pub(in crate::fp8) fn of<T>(self, slice: &[T]) -> impl Iterator<Item = &[T]> {
        slice[self.first..].chunks(self.stride).map(move |piece| &piece[..self.len])
    }

    /// Each piece, to be changed.
    #[inline(always)]
    pub(in crate::fp8) fn of_mut<T>(self, slice: &mut [T]) -> impl Iterator<Item = &mut [T]> {
        slice[self.first..].chunks_mut(self.stride).map(move |piece| &mut piece[..self.len])
    }
}
