//! The description of a graph's node.

use super::params::Params;
use super::tensor::TensorId;

/// A node: the kernel's guid, its operands, its result and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeSpec {
    pub(crate) guid: String,
    pub(crate) inputs: Vec<TensorId>,
    pub(crate) output: TensorId,
    pub(crate) params: Params,
}

impl NodeSpec {
    /// Whether this is a matrix product, whose order of additions must not depend on how work is split.
    pub(crate) fn is_product(&self) -> bool {
        matches!(self.guid.as_str(), "gemm" | "batch_gemm")
    }
}
