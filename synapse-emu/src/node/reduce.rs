//! Sums and maxima along dimensions.

use std::mem::offset_of;

use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::real::{Real, with_real};
use super::shape::Walk;
use super::spec::DataType;
use habana_sys::{ns_Reduction_Params, ns_Reduction_ParamsV2};

/// What a reduction computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    /// The sum in float32, in index order from +0, rounded once.
    Sum,
    /// The maximum; numbers win over NaN.
    Max,
}

/// `reduce_<reduction>_fwd_<dtype>` along one dimension, which stays with size 1, and
/// `reduce_<reduction>_multi_dim_fwd_<dtype>` along those of a mask.
pub(super) struct Reduce {
    reduction: Reduction,
    dtype: DataType,
}

/// The reduced dimensions, and whether they stay.
struct Along {
    mask: u32,
    keeps: bool,
}

impl Along {
    fn new(params: &[u8], rank: usize) -> Result<Self, Refusal> {
        let (short, long) = (size_of::<ns_Reduction_Params>(), size_of::<ns_Reduction_ParamsV2>());
        let params = Params::new(params, &[short, long])?;
        if params.len() == short {
            return Ok(Self { mask: 1 << params.axis(0, rank)?, keeps: true });
        }
        let mask = params.u32(offset_of!(ns_Reduction_ParamsV2, reductionDimensionMask));
        require(mask != 0 && mask >> rank == 0, || format!("mask {mask:#b} of {rank} dimensions"))?;
        Ok(Self { mask, keeps: params.bool(offset_of!(ns_Reduction_ParamsV2, keepDim)) })
    }

    fn is_reduced(&self, dim: usize) -> bool {
        self.mask >> dim & 1 == 1
    }

    /// The sizes with every reduced one 1.
    fn kept_sizes(&self, sizes: &[usize]) -> Vec<usize> {
        sizes.iter().enumerate().map(|(dim, size)| if self.is_reduced(dim) { 1 } else { *size }).collect()
    }

    /// The sizes of the output.
    fn out_sizes(&self, sizes: &[usize]) -> Vec<usize> {
        if self.keeps {
            return self.kept_sizes(sizes);
        }
        let left = sizes.iter().enumerate().filter(|(dim, _)| !self.is_reduced(*dim));
        let left: Vec<usize> = left.map(|(_, size)| *size).collect();
        if left.is_empty() { vec![1] } else { left }
    }
}

impl Reduce {
    pub(super) fn new(reduction: Reduction, dtype: DataType) -> Option<Self> {
        matches!(dtype, DataType::F32 | DataType::Bf16).then_some(Self { reduction, dtype })
    }

    fn real<T: Real>(&self, walk: &Walk<1>, x: &[T], out: &mut [T]) {
        let (start, f): (f32, fn(f32, f32) -> f32) = match self.reduction {
            Reduction::Sum => (0.0, |a, b| a + b),
            Reduction::Max => (f32::NEG_INFINITY, f32::max),
        };
        let mut results = vec![start; out.len()];
        // Elements come in index order, so those of each result do.
        walk.for_each(|run| {
            let x = &x[run.at..run.at + run.len];
            let results = &mut results[run.first[0]..];
            if run.step == [0] {
                results[0] = x.iter().fold(results[0], |result, x| f(result, x.widen()));
            } else {
                results.iter_mut().zip(x).for_each(|(result, x)| *result = f(*result, x.widen()));
            }
        });
        out.iter_mut().zip(results).for_each(|(out, result)| *out = T::narrow(result));
    }
}

impl Operation for Reduce {
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (x, out) = (node.input(0)?, node.output(0)?);
        require_dtype(x, self.dtype)?;
        require_dtype(out, self.dtype)?;
        require_sizes(out, &Along::new(node.params, x.sizes.len())?.out_sizes(&x.sizes))
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (x, out) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let along = Along::new(node.params, x.spec.sizes.len())?;
        let kept = along.kept_sizes(&x.spec.sizes);
        let walk = Walk::broadcast(&x.spec.sizes, [&kept]).ok_or("no reduction")?;
        with_real!(self.dtype, T => self.real::<T>(&walk, x.elements()?, out.elements()?));
        Ok(())
    }
}
