//! Writing by tuples of indices.

use super::gather::is_moved;
use super::index_copy::start_from;
use super::machine::Machine;
use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_no_params, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::spec::DataType;

/// Which guid it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `scatter_nd_update_fwd_<dtype>`, which has a mode and changes its first input where the output is that memory.
    Update,
    /// `scatter_nd_onnx_fwd_<dtype>`.
    Onnx,
}

/// The first input with slices of the third in the places that the second names; the last one stays where a place is
/// named twice.
///
/// Indices are `[depth, ...]`: each tuple along the fastest-changing dimension names, from the slowest-changing
/// dimension on, one place in `depth` of them. The updates have the other dimensions of the first input, then those of
/// the indices without the first.
pub(super) struct Scatter {
    form: Form,
    dtype: DataType,
}

impl Scatter {
    pub(super) fn new(form: Form, dtype: DataType, machine: &Machine) -> Option<Self> {
        is_moved(dtype, machine).then_some(Self { form, dtype })
    }
}

/// The number of the slice that each tuple names.
fn slices(tuples: &[i32], depth: usize, sizes: &[usize]) -> Result<Vec<usize>, String> {
    tuples
        .chunks_exact(depth)
        .map(|tuple| {
            tuple.iter().zip(sizes.iter().rev()).try_fold(0, |slice, (index, size)| {
                match usize::try_from(*index) {
                    Ok(place) if place < *size => Ok(slice * size + place),
                    _ => Err(format!("index {index} of a dimension of {size}")),
                }
            })
        })
        .collect()
}

impl Operation for Scatter {
    fn limits(&self) -> Limits {
        Limits { inputs: 3, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (old, indices, updates) = (node.input(0)?, node.input(1)?, node.input(2)?);
        let out = node.output(0)?;
        for spec in [old, updates, out] {
            require_dtype(spec, self.dtype)?;
        }
        require_dtype(indices, DataType::I32)?;
        match self.form {
            Form::Onnx => require_no_params(node.params)?,
            Form::Update => {
                let params =
                    Params::new(node.params, &[size_of::<habana_sys::ns_ScatterNdUpdateKernel_Params>()])?;
                let mode = params.u32(0);
                require(mode <= 1, || format!("no mode {mode}"))?;
            }
        }
        let (rank, depth) = (old.sizes.len(), indices.sizes[0]);
        require(depth <= rank, || format!("indices of {depth} for {rank} dimensions"))?;
        let mut sizes = [&old.sizes[..rank - depth], &indices.sizes[1..]].concat();
        if sizes.is_empty() {
            sizes.push(1);
        }
        require_sizes(updates, &sizes)?;
        require_sizes(out, &old.sizes)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (indices, updates, out) =
            (input(node.inputs, 1)?, input(node.inputs, 2)?, output(node.outputs, 0)?);
        let (sizes, depth) = (&out.spec.sizes, indices.spec.sizes[0]);
        let slices = slices(indices.elements()?, depth, sizes)?;
        let piece = sizes[..sizes.len() - depth].iter().product::<usize>() * self.dtype.bytes();
        start_from(out, input(node.inputs, 0)?)?;
        let out = out.bytes()?;
        for (update, slice) in updates.bytes()?.chunks_exact(piece).zip(slices) {
            out[slice * piece..][..piece].copy_from_slice(update);
        }
        Ok(())
    }

    fn in_place(&self) -> Option<usize> {
        (self.form == Form::Update).then_some(0)
    }
}
