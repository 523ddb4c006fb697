//! The description of a graph's tensor.

use super::dtype::Dtype;

/// The number of a tensor in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorId(pub(super) usize);

impl TensorId {
    /// The position in [`GraphSpec::tensors`](super::spec::GraphSpec::tensors).
    pub(crate) const fn index(self) -> usize {
        self.0
    }
}

/// Where a tensor's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TensorRole {
    /// An operand: in device memory that the launch names.
    Input,
    /// A result: in device memory that the launch names.
    Output,
    /// The result of a node that changes an operand in place: in the operand's memory.
    InPlaceOf(TensorId),
    /// A result between nodes: wherever the compiler puts it.
    Inner,
    /// A constant of these bytes: in the recipe.
    Constant(Vec<u8>),
}

/// A tensor's name, type, shape and role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorSpec {
    pub(crate) name: String,
    pub(crate) dtype: Dtype,
    /// Sizes, the outermost dimension first.
    pub(crate) shape: Vec<usize>,
    /// The smallest shape, where launches may have different ones.
    pub(crate) min_shape: Option<Vec<usize>>,
    pub(crate) role: TensorRole,
}

impl TensorSpec {
    /// Sizes in the library's order, the fastest-changing dimension first.
    pub(crate) fn fcd_sizes(&self) -> Vec<usize> {
        self.shape.iter().rev().copied().collect()
    }

    /// Sizes of the smallest shape, the fastest-changing dimension first.
    pub(crate) fn fcd_min_sizes(&self) -> Option<Vec<usize>> {
        self.min_shape.as_ref().map(|shape| shape.iter().rev().copied().collect())
    }

    /// How many elements there are.
    pub(crate) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The size of all elements.
    pub(crate) fn bytes(&self) -> usize {
        self.elements() * self.dtype.bytes()
    }
}
