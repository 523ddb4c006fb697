//! Transposition and repetition.

use std::mem::offset_of;

use habana_sys::{synTransposeParams, synTransposeParamsNDims};

use super::operands::{ND, input, output, require, require_dtype, require_no_params, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::shape::{Walk, dense_strides};

/// `transpose`: dimension `d` of the output is dimension `permutation[d]` of the input.
pub(super) struct Transpose;

/// The permutation, after a look at it.
fn permutation(params: &[u8], rank: usize) -> Result<Vec<usize>, Refusal> {
    let (short, long) = (size_of::<synTransposeParams>(), size_of::<synTransposeParamsNDims>());
    let params = Params::new(params, &[short, long])?;
    let (dims, list, most) = if params.len() == short {
        (offset_of!(synTransposeParams, tensorDim), offset_of!(synTransposeParams, permutation), 5)
    } else {
        (offset_of!(synTransposeParamsNDims, tensorDim), offset_of!(synTransposeParamsNDims, permutation), ND)
    };
    let dims = params.size32(dims);
    require(dims == rank && rank <= most, || format!("a permutation of {dims} of {rank} dimensions"))?;
    let permutation: Vec<usize> = (0..rank).map(|dim| params.size32(list + 4 * dim)).collect();
    require((0..rank).all(|dim| permutation.contains(&dim)), || {
        format!("{permutation:?} is no permutation")
    })?;
    Ok(permutation)
}

impl Operation for Transpose {
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: ND }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (from, to) = (node.input(0)?, node.output(0)?);
        require_dtype(to, from.dtype)?;
        let permutation = permutation(node.params, from.sizes.len())?;
        let sizes: Vec<usize> = permutation.iter().map(|dim| from.sizes[*dim]).collect();
        require_sizes(to, &sizes)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (from, to) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let permutation = permutation(node.params, from.spec.sizes.len())?;
        let strides = dense_strides(&from.spec.sizes);
        let strides = permutation.iter().map(|dim| [strides[*dim]]).collect();
        let walk = Walk::strided(&to.spec.sizes, strides, [0]);
        walk.copy_bytes(from.spec.dtype.bytes(), from.bytes()?, to.bytes()?);
        Ok(())
    }
}

/// `broadcast`: sizes of 1 are repeated.
pub(super) struct Broadcast;

impl Operation for Broadcast {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 1, rank: ND }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (from, to) = (node.input(0)?, node.output(0)?);
        node.shape_input(1)?;
        require_dtype(to, from.dtype)?;
        require_no_params(node.params)?;
        require(Walk::broadcast(&to.sizes, [&from.sizes]).is_some(), || {
            format!("{:?} does not repeat to {:?}", from.sizes, to.sizes)
        })
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (from, to) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let walk = Walk::broadcast(&to.spec.sizes, [&from.spec.sizes]).ok_or("the sizes do not repeat")?;
        walk.copy_bytes(from.spec.dtype.bytes(), from.bytes()?, to.bytes()?);
        Ok(())
    }
}
