//! What can be wrong with the operands of a product.

use crate::fp8::{Format, Fp8Error};
use crate::generation::Generation;
use crate::simd::Isa;

/// The operands of a product do not fit each other, their memory, or the device.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MmeError {
    /// An output conversion that cannot be made.
    #[error(transparent)]
    Fp8(#[from] Fp8Error),
    /// The rows of a view overlap.
    #[error("a row stride of {stride} is less than the {cols} columns of the view")]
    Stride {
        /// Columns of the view.
        cols: usize,
        /// Elements from the start of a row to the start of the next.
        stride: usize,
    },
    /// The data end before the view does.
    #[error("{rows} x {cols} with row stride {stride} does not fit {len} elements")]
    Length {
        /// Rows of the view.
        rows: usize,
        /// Columns of the view.
        cols: usize,
        /// Elements from the start of a row to the start of the next.
        stride: usize,
        /// Elements there are.
        len: usize,
    },
    /// The size of a product cannot be counted.
    #[error("the size of the operands overflows")]
    Overflow,
    /// The common dimensions differ.
    #[error("A has a common dimension of {a}, B of {b}")]
    CommonDimension {
        /// Columns of A.
        a: usize,
        /// Rows of B as a `[K, N]` matrix.
        b: usize,
    },
    /// The result has another shape than the product.
    #[error("the product is {rows} x {cols}, its destination {out_rows} x {out_cols}")]
    Destination {
        /// Rows of the product.
        rows: usize,
        /// Columns of the product.
        cols: usize,
        /// Rows of the destination.
        out_rows: usize,
        /// Columns of the destination.
        out_cols: usize,
    },
    /// The blocks that make up B differ in width.
    #[error("block {block} of B has {cols} columns, the first {expected}")]
    BlockWidth {
        /// Index of the block.
        block: usize,
        /// Its columns.
        cols: usize,
        /// Columns of the first block.
        expected: usize,
    },
    /// The blocks that make up B differ in element type or format.
    #[error("block {block} of B has another element type than the first")]
    BlockType {
        /// Index of the block.
        block: usize,
    },
    /// One operand is FP8 and the other bfloat16.
    #[error("one operand is FP8 and the other bfloat16")]
    MixedTypes,
    /// Gaudi2 multiplies e4m3 by e4m3 and e5m2 by e5m2 only.
    #[error("{generation} does not multiply two FP8 flavours: {a:?} and {b:?}")]
    MixedFlavours {
        /// The device.
        generation: Generation,
        /// Format of A.
        a: Format,
        /// Format of B.
        b: Format,
    },
    /// The device has no such format: another Inf/NaN mode than Gaudi2's only one, or a bias out of range.
    #[error("{generation} has no format {format:?}")]
    Format {
        /// The device.
        generation: Generation,
        /// The format.
        format: Format,
    },
    /// A list of scales is not as long as the dimension it scales.
    #[error("{scales} scales for {expected} {dimension}")]
    Scales {
        /// `rows` or `columns`.
        dimension: &'static str,
        /// Scales given.
        scales: usize,
        /// Scales needed.
        expected: usize,
    },
    /// This machine cannot run the instruction set that was asked for.
    #[error("this machine has no {0}")]
    Isa(Isa),
}
