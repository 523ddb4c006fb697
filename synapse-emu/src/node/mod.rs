//! What a graph's nodes compute.
//!
//! A node is found by its guid, checked when it is created, and run over plain bytes when its recipe is launched.

mod cast;
mod compare;
mod concat;
mod constant;
mod convert;
mod copy;
mod dtype;
mod elementwise;
mod engine;
mod gather;
mod gemm;
mod index_copy;
mod norm;
mod operands;
mod params;
mod permute;
mod reduce;
mod registry;
mod scatter;
mod sdpa;
mod select;
mod shape;
mod slice;
mod softmax;
#[cfg(test)]
mod tests;

use gaudi_numerics::Generation;
use gaudi_numerics::Mode;

pub(crate) use registry::find;

/// The element types that tensors have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DataType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    Bf16,
    F16,
    F32,
    /// 1-4-3, e4m3.
    Fp8_143,
    /// 1-5-2, e5m2.
    Fp8_152,
}

/// A tensor as a node sees it. Elements lie densely, the fastest-changing dimension first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) dtype: DataType,
    /// The fastest-changing dimension first.
    pub(crate) sizes: Vec<usize>,
    /// The exponent bias of FP8 elements.
    pub(crate) exp_bias: u32,
}

/// What the graph runs on, and how it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) generation: Generation,
    pub(crate) mode: Mode,
    /// The graph's inference attribute.
    pub(crate) is_inference: bool,
    /// The graph's quantization attribute.
    pub(crate) is_quantized: bool,
    /// Whether gather, index copy and scatter exist for e4m3 elements; the documented lists have none.
    pub(crate) has_hf8_kernels: bool,
    /// Whether gather and index copy of e4m3 elements lose the last bit of the mantissa.
    pub(crate) are_hf8_kernels_lossy: bool,
}

/// Why the compiler does not take a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status that the call returns.
    pub(crate) status: habana_sys::synStatus,
    /// For the log.
    pub(crate) reason: String,
}

/// An operand of a node that runs.
pub(crate) struct Input<'a> {
    pub(crate) spec: &'a Spec,
    /// Empty where an output aliases it: its elements are then what that output holds.
    pub(crate) data: &'a [u8],
}

/// A result of a node that runs.
pub(crate) struct Output<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) data: &'a mut [u8],
    /// The input whose memory this is. Only what [`Operation::in_place`] names.
    pub(crate) aliases: Option<usize>,
}

/// What nodes of one guid do.
///
/// Operands may lie in memory at multiples of their element size only; `run` says so where one does not.
pub(crate) trait Operation: Send + Sync {
    /// What a compiler checks when the node is created. Operands that the node leaves out are `None`.
    fn check(
        &self,
        machine: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal>;

    /// Computes. The operands are those that [`check`](Self::check) took. What goes wrong here is a failed launch.
    fn run(
        &self,
        machine: &Machine,
        inputs: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        params: &[u8],
    ) -> Result<(), String>;

    /// The input whose memory the first output may be, for operations that change a tensor in place.
    fn in_place(&self) -> Option<usize> {
        None
    }
}
