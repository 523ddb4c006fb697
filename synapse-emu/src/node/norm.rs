//! Root-mean-square normalization.

use std::mem::offset_of;

use habana_sys::ns_LayerNormKernel_ParamsRmsNorm as RmsParams;
use half::bf16;

use super::dtype::Real;
use super::operands::{
    KERNEL_RANK, Operands, input, optional_output, output, require, require_dtype, require_sizes,
};
use super::params::Params;
use super::{DataType, Input, Machine, Operation, Output, Refusal, Spec};

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
    fn check(
        &self,
        _: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal> {
        let operands = Operands::new(inputs, outputs, [2, 2], KERNEL_RANK)?;
        let (x, gamma, y) = (operands.input(0)?, operands.input(1)?, operands.output(0)?);
        require_dtype(x, self.dtype)?;
        require_dtype(gamma, DataType::F32)?;
        require(gamma.sizes[0] == x.sizes[0] && gamma.count() == x.sizes[0], || {
            format!("gamma {:?} for {:?}", gamma.sizes, x.sizes)
        })?;
        require_dtype(y, self.dtype)?;
        require_sizes(y, &x.sizes)?;
        if let Some(inverse) = operands.optional_output(1) {
            require_dtype(inverse, DataType::F32)?;
            let mut sizes = x.sizes.clone();
            sizes[0] = 1;
            require_sizes(inverse, &sizes)?;
        }
        eps(params).map(|_| ())
    }

    fn run(
        &self,
        _: &Machine,
        inputs: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        params: &[u8],
    ) -> Result<(), String> {
        let eps = eps(params).map_err(|refusal| refusal.reason)?;
        let (x, gamma) = (input(inputs, 0)?, input(inputs, 1)?.elements()?);
        let y = output(outputs, 0)?;
        let inverses = match self.dtype {
            DataType::F32 => rms_norm::<f32>(eps, gamma, x.elements()?, y.elements()?),
            _ => rms_norm::<bf16>(eps, gamma, x.elements()?, y.elements()?),
        };
        if let Some(out) = optional_output(outputs, 1) {
            out.elements::<f32>()?.iter_mut().zip(inverses).for_each(|(out, inverse)| *out = inverse);
        }
        Ok(())
    }
}
