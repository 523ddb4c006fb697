//! Softmax along a dimension.

use std::mem::offset_of;

use habana_sys::{
    ns_Softmax_Params, ns_Softmax_ParamsV3, ns_Softmax_ParamsV4, ns_Softmax_ParamsV5, ns_Softmax_ParamsV6,
    ns_Softmax_ParamsV7,
};
use half::bf16;

use super::dtype::Real;
use super::operands::{KERNEL_RANK, Operands, input, output, require, require_dtype, require_sizes};
use super::params::Params;
use super::shape::around;
use super::{DataType, Input, Machine, Operation, Output, Refusal, Spec};

/// `softmax_fwd_<dtype>`: `exp(x - max) / sum`, in float32, the sum in index order, rounded once.
pub(super) struct Softmax {
    dtype: DataType,
}

/// The dimension, counted from the fastest-changing one. Approximations and variants are not computed here, so a node
/// that asks for one is refused.
fn dimension(params: &[u8], rank: usize) -> Result<usize, Refusal> {
    let sizes = [
        size_of::<ns_Softmax_Params>(),
        size_of::<ns_Softmax_ParamsV3>(),
        size_of::<ns_Softmax_ParamsV4>(),
        size_of::<ns_Softmax_ParamsV5>(),
        size_of::<ns_Softmax_ParamsV6>(),
        size_of::<ns_Softmax_ParamsV7>(),
    ];
    let params = Params::new(params, &sizes)?;
    for (name, offset) in [
        ("is_approximation", offset_of!(ns_Softmax_ParamsV7, is_approximation)),
        ("triangularMode", offset_of!(ns_Softmax_ParamsV7, triangularMode)),
        ("mode", offset_of!(ns_Softmax_ParamsV7, mode)),
    ] {
        let value = params.i32(offset);
        require(value == 0, || format!("{name} {value} is not emulated"))?;
    }
    params.axis(offset_of!(ns_Softmax_Params, dim), rank)
}

impl Softmax {
    pub(super) fn new(dtype: DataType) -> Option<Self> {
        matches!(dtype, DataType::F32 | DataType::Bf16).then_some(Self { dtype })
    }
}

fn softmax<T: Real>([inner, along, _]: [usize; 3], x: &[T], out: &mut [T]) {
    let mut row = vec![0.0; along];
    for (x, out) in x.chunks_exact(inner * along).zip(out.chunks_exact_mut(inner * along)) {
        for column in 0..inner {
            let column_of = |elements: &[T], i: usize| elements[i * inner + column].widen();
            row.iter_mut().enumerate().for_each(|(i, value)| *value = column_of(x, i));
            let sum = exponentials(&mut row);
            for (i, p) in row.iter().enumerate() {
                out[i * inner + column] = T::narrow(p / sum);
            }
        }
    }
}

/// Turns scores into `exp(score - max)` and returns their sum, added in order.
fn exponentials(row: &mut [f32]) -> f32 {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|score| *score = libm::expf(*score - max));
    row.iter().fold(0.0, |sum, p| sum + p)
}

impl Operation for Softmax {
    fn check(
        &self,
        _: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal> {
        let operands = Operands::new(inputs, outputs, [1, 1], KERNEL_RANK)?;
        let (x, out) = (operands.input(0)?, operands.output(0)?);
        require_dtype(x, self.dtype)?;
        require_dtype(out, self.dtype)?;
        require_sizes(out, &x.sizes)?;
        dimension(params, x.sizes.len()).map(|_| ())
    }

    fn run(
        &self,
        _: &Machine,
        inputs: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        params: &[u8],
    ) -> Result<(), String> {
        let (x, out) = (input(inputs, 0)?, output(outputs, 0)?);
        let dimension = dimension(params, x.spec.sizes.len()).map_err(|refusal| refusal.reason)?;
        let shape = around(&x.spec.sizes, dimension);
        match self.dtype {
            DataType::F32 => softmax::<f32>(shape, x.elements()?, out.elements()?),
            _ => softmax::<bf16>(shape, x.elements()?, out.elements()?),
        }
        Ok(())
    }
}
