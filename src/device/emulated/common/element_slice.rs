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
