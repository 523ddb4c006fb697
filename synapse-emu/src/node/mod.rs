//! What a graph's nodes compute.
//!
//! A node is found by its guid, checked when it is created, and run over plain bytes when its recipe is launched.

mod cast;
mod compare;
mod concat;
mod constant;
mod convert;
mod copy;
mod elementwise;
mod engine;
mod fp8_format;
mod gather;
mod gemm;
mod index_copy;
pub(crate) mod machine;
mod norm;
mod operands;
pub(crate) mod operation;
mod params;
mod permute;
mod real;
mod reduce;
pub(crate) mod registry;
mod scatter;
mod sdpa;
mod select;
mod shape;
mod slice;
mod softmax;
pub(crate) mod spec;
#[cfg(test)]
mod tests;
