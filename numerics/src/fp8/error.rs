//! What can be wrong with a request for a conversion.

use super::format::{InfNan, Layout};
use crate::generation::Generation;

/// A conversion that was not carried out; nothing has been written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fp8Error {
    /// Input and output slices differ in length.
    #[error("{input} input elements but room for {output}")]
    Length {
        /// Elements to convert.
        input: usize,
        /// Elements of the output slice.
        output: usize,
    },
    /// Elements that are no whole number of rows.
    #[error("{len} elements are no whole number of rows of {row}")]
    Rows {
        /// Elements to convert.
        len: usize,
        /// Elements of a row.
        row: usize,
    },
    /// The device has no such exponent bias.
    #[error("{generation} has no {layout:?} format of exponent bias {bias}; it takes {allowed}")]
    Bias {
        /// The device.
        generation: Generation,
        /// The layout asked for.
        layout: Layout,
        /// The bias asked for.
        bias: u8,
        /// The biases that it takes, in words.
        allowed: &'static str,
    },
    /// The device has no such Inf/NaN mode.
    #[error("{generation} has no Inf/NaN mode {mode:?}; Gaudi2 always uses Full")]
    Mode {
        /// The device.
        generation: Generation,
        /// The mode asked for.
        mode: InfNan,
    },
    /// A scale or factor that is not a finite positive number, or does not stay one in bfloat16.
    #[error("a scale must be finite and positive, also in bfloat16; this one is {0}")]
    Scale(f32),
}

/// Checks the lengths of a conversion.
pub(super) fn same_length(input: usize, output: usize) -> Result<(), Fp8Error> {
    if input == output { Ok(()) } else { Err(Fp8Error::Length { input, output }) }
}

/// Checks a scale, in float32 and rounded to bfloat16, and returns the latter.
pub(super) fn checked_scale(scale: f32) -> Result<half::bf16, Fp8Error> {
    let rounded = half::bf16::from_f32(scale);
    let fine = |value: f32| value.is_finite() && value > 0.0;
    if fine(scale) && fine(rounded.to_f32()) { Ok(rounded) } else { Err(Fp8Error::Scale(scale)) }
}
