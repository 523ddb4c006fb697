//! A view of elements as they are stored.

use half::bf16;

/// A slice of a plane's or a tensor's elements as they are stored.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum ElementSlice<'a> {
    /// e4m3 codes.
    Codes(&'a [u8]),
    /// bfloat16 values.
    Words(&'a [bf16]),
    /// bfloat16 values, widened.
    Floats(&'a [f32]),
}

impl ElementSlice<'_> {
    /// The elements from `first` on.
    pub(in super::super) fn from(self, first: usize) -> Self {
        match self {
            Self::Codes(codes) => Self::Codes(&codes[first..]),
            Self::Words(values) => Self::Words(&values[first..]),
            Self::Floats(values) => Self::Floats(&values[first..]),
        }
    }
}
