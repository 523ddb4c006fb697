//! Choosing between two tensors.

use bytemuck::Pod;

use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_no_params, require_sizes};
use super::operation::{Checked, Input, Limits, Operation, Output, Refusal, Running};
use super::shape::{Walk, broadcast_sizes};
use super::spec::DataType;

/// `where_fwd_<dtype>`: the second input where the first is not zero, else the third. Sizes of 1 are repeated.
pub(super) struct Where {
    dtype: DataType,
}

impl Where {
    pub(super) fn new(dtype: DataType) -> Option<Self> {
        use DataType::{Bf16, F32, I8, I16, I32, U8, U16, U32};
        matches!(dtype, F32 | Bf16 | I32 | U32 | I16 | U16 | I8 | U8).then_some(Self { dtype })
    }
}

fn choose<T: Pod>(
    walk: &Walk<3>,
    [condition, yes, no]: [&Input<'_>; 3],
    out: &mut Output<'_>,
) -> Result<(), String> {
    let (condition, yes, no) = (condition.elements::<i8>()?, yes.elements::<T>()?, no.elements::<T>()?);
    let out = out.elements::<T>()?;
    walk.for_each(|run| {
        let [condition_step, yes_step, no_step] = run.step;
        let condition = &condition[run.first[0]..];
        let (yes, no) = (&yes[run.first[1]..], &no[run.first[2]..]);
        for (i, out) in out[run.at..run.at + run.len].iter_mut().enumerate() {
            let (yes, no) = (yes[i * yes_step], no[i * no_step]);
            *out = if condition[i * condition_step] != 0 { yes } else { no };
        }
    });
    Ok(())
}

impl Operation for Where {
    fn limits(&self) -> Limits {
        Limits { inputs: 3, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        require_no_params(node.params)?;
        let (condition, yes, no) = (node.input(0)?, node.input(1)?, node.input(2)?);
        require_dtype(condition, DataType::I8)?;
        for spec in [yes, no, node.output(0)?] {
            require_dtype(spec, self.dtype)?;
        }
        let sizes = broadcast_sizes(&yes.sizes, &no.sizes)
            .and_then(|sizes| broadcast_sizes(&sizes, &condition.sizes));
        require(sizes.is_some(), || format!("{condition:?}, {yes:?} and {no:?} do not fit"))?;
        require_sizes(node.output(0)?, &sizes.unwrap_or_default())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let operands = [input(node.inputs, 0)?, input(node.inputs, 1)?, input(node.inputs, 2)?];
        let out = output(node.outputs, 0)?;
        let walk = Walk::broadcast(&out.spec.sizes, operands.map(|operand| operand.spec.sizes.as_slice()))
            .ok_or("the operands do not fit")?;
        match self.dtype.bytes() {
            1 => choose::<u8>(&walk, operands, out),
            2 => choose::<u16>(&walk, operands, out),
            _ => choose::<u32>(&walk, operands, out),
        }
    }
}
