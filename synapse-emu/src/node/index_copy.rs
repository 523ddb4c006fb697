//! Writing slices of one dimension by index.

use super::gather::{checked_indices, is_moved, lose_bits};
use super::machine::Machine;
use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Input, Limits, Operation, Output, Refusal, Running};
use super::params::Params;
use super::shape::around;
use super::spec::DataType;

/// `index_copy_fwd_<dtype>`: the first input with slices of the third in the places that the second names; the last one
/// stays where a place is named twice. The axis is counted from the slowest-changing dimension. It changes its first
/// input where the output is that memory.
pub(super) struct IndexCopy {
    dtype: DataType,
}

impl IndexCopy {
    pub(super) fn new(dtype: DataType, machine: &Machine) -> Option<Self> {
        // There is a kernel for e5m2, and none for e4m3.
        let exists = is_moved(dtype, machine) || dtype == DataType::Fp8_152;
        exists.then_some(Self { dtype })
    }
}

/// The axis, counted from the fastest-changing dimension.
fn axis(params: &[u8], rank: usize) -> Result<usize, Refusal> {
    let params = Params::new(params, &[size_of::<habana_sys::ns_IndexCopy_Params>()])?;
    Ok(rank - 1 - params.axis(0, rank)?)
}

impl Operation for IndexCopy {
    fn limits(&self) -> Limits {
        Limits { inputs: 3, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (old, indices, source) = (node.input(0)?, node.input(1)?, node.input(2)?);
        let out = node.output(0)?;
        for spec in [old, source, out] {
            require_dtype(spec, self.dtype)?;
        }
        require_dtype(indices, DataType::I32)?;
        let count = indices.count();
        require(indices.sizes[0] == count, || format!("indices {:?} are no list", indices.sizes))?;
        let mut sizes = old.sizes.clone();
        sizes[axis(node.params, old.sizes.len())?] = count;
        require_sizes(source, &sizes)?;
        require_sizes(out, &old.sizes)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (indices, source, out) =
            (input(node.inputs, 1)?, input(node.inputs, 2)?, output(node.outputs, 0)?);
        let axis = axis(node.params, out.spec.sizes.len())?;
        let [inner, size, _] = around(&out.spec.sizes, axis);
        let indices = checked_indices(indices.elements()?, size)?;
        start_from(out, input(node.inputs, 0)?)?;
        let piece = inner * self.dtype.bytes();
        let (source, out) = (source.bytes()?, out.bytes()?);
        let blocks = source.chunks_exact(piece * indices.len()).zip(out.chunks_exact_mut(piece * size));
        for (from, to) in blocks {
            for (from, index) in from.chunks_exact(piece).zip(&indices) {
                to[index * piece..][..piece].copy_from_slice(from);
            }
        }
        lose_bits(self.dtype, node.machine, out);
        Ok(())
    }

    fn in_place(&self) -> Option<usize> {
        Some(0)
    }
}

/// Gives an output its first input's elements, unless it has them already.
pub(super) fn start_from(out: &mut Output<'_>, old: &Input<'_>) -> Result<(), String> {
    if out.aliases == Some(0) {
        return Ok(());
    }
    let (from, to) = (old.bytes()?, out.bytes()?);
    if from.len() != to.len() {
        return Err(format!("{} bytes for {}", from.len(), to.len()));
    }
    to.copy_from_slice(from);
    Ok(())
}
