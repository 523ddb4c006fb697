//! Softmax along a dimension.

use std::mem::offset_of;

use habana_sys::{
    ns_Softmax_Params, ns_Softmax_ParamsV3, ns_Softmax_ParamsV4, ns_Softmax_ParamsV5, ns_Softmax_ParamsV6,
    ns_Softmax_ParamsV7,
};

use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::real::{Real, with_real};
use super::shape::around;
use super::spec::DataType;

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
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (x, out) = (node.input(0)?, node.output(0)?);
        require_dtype(x, self.dtype)?;
        require_dtype(out, self.dtype)?;
        require_sizes(out, &x.sizes)?;
        dimension(node.params, x.sizes.len()).map(|_| ())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (x, out) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let dimension = dimension(node.params, x.spec.sizes.len())?;
        let shape = around(&x.spec.sizes, dimension);
        with_real!(self.dtype, T => softmax::<T>(shape, x.elements()?, out.elements()?));
        Ok(())
    }
}
