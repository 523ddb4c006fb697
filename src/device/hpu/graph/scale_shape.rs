//! The shape of the multipliers that a recipe takes.

/// How many multipliers a recipe takes for the heads of a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScaleShape {
    /// One for all heads.
    One,
    /// One for each head.
    PerHead,
}

impl ScaleShape {
    /// The shape that broadcasts over `[rows, heads, dim]`.
    pub(super) fn for_heads(self, heads: usize) -> Vec<usize> {
        match self {
            Self::One => vec![1],
            Self::PerHead => vec![1, heads, 1],
        }
    }
}
