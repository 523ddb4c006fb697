//! Root-mean-square normalization.

use std::mem::offset_of;

use habana_sys::ns_LayerNormKernel_ParamsRmsNorm as RmsParams;

use super::operands::{KERNEL_RANK, input, optional_output, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::real::{Real, with_real};
use super::spec::DataType;

/// What is added to the mean where the parameters give nothing.
const DEFAULT_EPS: f32 = 1e-5;

/// `rms_norm_fwd_<dtype>`: along the fastest-changing dimension, `inv_rms = 1 / sqrt(mean(x * x) + eps)` and
/// `y = (x * inv_rms) * gamma`, in float32, the sum in index order; `y` rounded once.
pub(super) struct RmsNorm {
    dtype: DataType,
}

/// What is added to the mean.
fn eps(params: &[u8]) -> Result<f32, Refusal> {
    let params = Params::new(params, &[size_of::<RmsParams>()])?;
    for (name, offset) in [
        ("NormAxisBmp", offset_of!(RmsParams, NormAxisBmp)),
        ("ParamAxisBmp", offset_of!(RmsParams, ParamAxisBmp)),
    ] {
        let mask = params.i32(offset);
        require(matches!(mask, 0 | 1), || format!("{name} {mask} is not the fastest-changing dimension"))?;
    }
    let is_given = params.bool(offset_of!(RmsParams, epsValid));
    Ok(if is_given { params.f32(offset_of!(RmsParams, eps)) } else { DEFAULT_EPS })
}

impl RmsNorm {
    pub(super) fn new(dtype: DataType) -> Option<Self> {
        matches!(dtype, DataType::F32 | DataType::Bf16).then_some(Self { dtype })
    }
}

/// Normalizes each row and returns what it was multiplied by.
fn rms_norm<T: Real>(eps: f32, gamma: &[f32], x: &[T], y: &mut [T]) -> Vec<f32> {
    let dim = gamma.len();
    let rows = x.chunks_exact(dim).zip(y.chunks_exact_mut(dim));
    rows.map(|(x, y)| {
        let squares = x.iter().fold(0.0f32, |sum, x| sum + x.widen() * x.widen());
        let inverse = 1.0 / (squares / dim as f32 + eps).sqrt();
        for ((y, x), gamma) in y.iter_mut().zip(x).zip(gamma) {
            *y = T::narrow(x.widen() * inverse * gamma);
        }
        inverse
    })
    .collect()
}

impl Operation for RmsNorm {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 2, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (x, gamma, y) = (node.input(0)?, node.input(1)?, node.output(0)?);
        require_dtype(x, self.dtype)?;
        require_dtype(gamma, DataType::F32)?;
        require(gamma.sizes[0] == x.sizes[0] && gamma.count() == x.sizes[0], || {
            format!("gamma {:?} for {:?}", gamma.sizes, x.sizes)
        })?;
        require_dtype(y, self.dtype)?;
        require_sizes(y, &x.sizes)?;
        if let Some(inverse) = node.optional_output(1) {
            require_dtype(inverse, DataType::F32)?;
            let mut sizes = x.sizes.clone();
            sizes[0] = 1;
            require_sizes(inverse, &sizes)?;
        }
        eps(node.params).map(|_| ())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let eps = eps(node.params)?;
        let (x, gamma) = (input(node.inputs, 0)?, input(node.inputs, 1)?.elements()?);
        let y = output(node.outputs, 0)?;
        let inverses = with_real!(self.dtype, T => rms_norm::<T>(eps, gamma, x.elements()?, y.elements()?));
        if let Some(out) = optional_output(node.outputs, 1) {
            out.elements::<f32>()?.iter_mut().zip(inverses).for_each(|(out, inverse)| *out = inverse);
        }
        Ok(())
    }
}
