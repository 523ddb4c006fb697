//! Operations whose output has the input's bytes, one after the other: copies, other views of them.

use super::operands::{ND, input, output, require, require_no_params, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::spec::Spec;

/// What the output's view of the bytes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copy {
    /// The input's (`memcpy`, `identity`).
    Same,
    /// Any sizes of as many elements (`reshape`).
    Reshape,
    /// Two dimensions: those up to an axis, and the others (`flatten`).
    Flatten,
    /// One more dimension of size 1 (`expand_dims`).
    ExpandDims,
    /// One dimension of size 1 less, or all of them (`squeeze`).
    Squeeze,
    /// Another element type (`reinterpret_cast`).
    Reinterpret,
}

impl Copy {
    /// The sizes that the output should have.
    fn sizes(self, from: &Spec, to: &Spec, params: &[u8]) -> Result<Vec<usize>, Refusal> {
        let mut sizes = from.sizes.clone();
        let rank = sizes.len();
        match self {
            Self::Same => require_no_params(params)?,
            Self::Reshape => {
                require_no_params(params)?;
                require(from.count() == to.count(), || {
                    format!("{:?} and {:?} have different numbers of elements", from.sizes, to.sizes)
                })?;
                sizes.clone_from(&to.sizes);
            }
            Self::Flatten => {
                let axis =
                    Params::new(params, &[size_of::<habana_sys::synFlattenParams>()])?.axis(0, rank)?;
                let (inner, outer) = sizes.split_at(axis + 1);
                sizes = vec![inner.iter().product(), outer.iter().product()];
            }
            Self::ExpandDims => {
                let size = size_of::<habana_sys::synExpandDimsParams>();
                sizes.insert(Params::new(params, &[size])?.axis(0, rank + 1)?, 1);
            }
            Self::Squeeze if params.is_empty() => {
                sizes.retain(|size| *size != 1);
                // What is left of a single element, and what the output keeps at the end.
                sizes.resize(sizes.len().max(to.sizes.len().min(rank)), 1);
            }
            Self::Squeeze => {
                let axis =
                    Params::new(params, &[size_of::<habana_sys::synSqueezeParams>()])?.axis(0, rank)?;
                require(sizes[axis] == 1, || format!("dimension {axis} is {}", sizes[axis]))?;
                sizes.remove(axis);
            }
            Self::Reinterpret => {
                require_no_params(params)?;
                let bytes = sizes[0] * from.dtype.bytes();
                require(bytes.is_multiple_of(to.dtype.bytes()), || {
                    format!("{bytes} bytes are no whole number of {:?}", to.dtype)
                })?;
                sizes[0] = bytes / to.dtype.bytes();
            }
        }
        Ok(sizes)
    }
}

impl Operation for Copy {
    fn limits(&self) -> Limits {
        Limits { inputs: if *self == Self::Reshape { 2 } else { 1 }, outputs: 1, rank: ND }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (from, to) = (node.input(0)?, node.output(0)?);
        node.shape_input(1)?;
        require(from.dtype == to.dtype || *self == Self::Reinterpret, || {
            format!("{:?} into {:?}", from.dtype, to.dtype)
        })?;
        require_sizes(to, &self.sizes(from, to, node.params)?)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (from, to) = (input(node.inputs, 0)?.bytes()?, output(node.outputs, 0)?.bytes()?);
        if from.len() != to.len() {
            return Err(format!("{} bytes for {}", from.len(), to.len()));
        }
        to.copy_from_slice(from);
        Ok(())
    }
}
