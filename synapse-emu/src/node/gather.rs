//! Reading by index.

use std::mem::offset_of;

use habana_sys::{ns_GatherKernel_Params, ns_GatherKernel_ParamsV2};

use super::machine::Machine;
use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::shape::around;
use super::spec::DataType;

/// Whether kernels that move elements by index exist for a type.
pub(super) fn is_moved(dtype: DataType, machine: &Machine) -> bool {
    use DataType::{Bf16, F16, F32, Fp8_143, Fp8_152, I8, I16, I32, I64, U8, U16, U32, U64};
    match dtype {
        F32 | Bf16 | F16 | I32 | U32 | I16 | U16 | I8 | U8 => true,
        Fp8_143 | Fp8_152 => machine.has_hf8_kernels,
        I64 | U64 => false,
    }
}

/// Takes the last bit of the mantissa from moved e4m3 elements, where the machine's kernels convert them on the way.
pub(super) fn lose_bits(dtype: DataType, machine: &Machine, moved: &mut [u8]) {
    if dtype == DataType::Fp8_143 && machine.are_hf8_kernels_lossy {
        moved.iter_mut().for_each(|code| *code &= 0xFE);
    }
}

/// Indices of a dimension of `size`. A negative one is out of range too.
pub(super) fn checked_indices(indices: &[i32], size: usize) -> Result<Vec<usize>, String> {
    indices
        .iter()
        .map(|index| {
            usize::try_from(*index)
                .ok()
                .filter(|index| *index < size)
                .ok_or_else(|| format!("index {index} of a dimension of {size}"))
        })
        .collect()
}

/// `gather_fwd_<dtype>`: the input with each index's slice of a dimension in place of that dimension. The axis is
/// counted from the fastest-changing dimension.
pub(super) struct Gather {
    dtype: DataType,
}

impl Gather {
    pub(super) fn new(dtype: DataType, machine: &Machine) -> Option<Self> {
        is_moved(dtype, machine).then_some(Self { dtype })
    }
}

fn axis(params: &[u8], rank: usize) -> Result<usize, Refusal> {
    let sizes = [size_of::<ns_GatherKernel_Params>(), size_of::<ns_GatherKernel_ParamsV2>()];
    let params = Params::new(params, &sizes)?;
    let batch_dims = params.i32(offset_of!(ns_GatherKernel_ParamsV2, batchDims));
    require(batch_dims == 0, || format!("batchDims {batch_dims} is not emulated"))?;
    params.axis(offset_of!(ns_GatherKernel_Params, axis), rank)
}

impl Operation for Gather {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (data, indices, out) = (node.input(0)?, node.input(1)?, node.output(0)?);
        require_dtype(data, self.dtype)?;
        require_dtype(indices, DataType::I32)?;
        require_dtype(out, self.dtype)?;
        let axis = axis(node.params, data.sizes.len())?;
        let sizes = [&data.sizes[..axis], &indices.sizes, &data.sizes[axis + 1..]].concat();
        require_sizes(out, &sizes)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (data, indices, out) = (input(node.inputs, 0)?, input(node.inputs, 1)?, output(node.outputs, 0)?);
        let axis = axis(node.params, data.spec.sizes.len())?;
        let [inner, size, _] = around(&data.spec.sizes, axis);
        let indices = checked_indices(indices.elements()?, size)?;
        let piece = inner * self.dtype.bytes();
        let (data, out) = (data.bytes()?, out.bytes()?);
        let blocks = data.chunks_exact(piece * size).zip(out.chunks_exact_mut(piece * indices.len()));
        for (from, to) in blocks {
            for (to, index) in to.chunks_exact_mut(piece).zip(&indices) {
                to.copy_from_slice(&from[index * piece..][..piece]);
            }
        }
        lose_bits(self.dtype, node.machine, out);
        Ok(())
    }
}
