//! Scaled dot-product attention: the parameters and operands of the node.

mod attend;

use std::mem::offset_of;

use habana_sys::{
    ns_DropoutKernel_ParamsOptionalMaskOut, ns_Sdpa_Params, ns_Sdpa_ParamsV2, ns_Sdpa_ParamsV3,
};

use super::convert::floats;
use super::operands::{KERNEL_RANK, input, optional_input, require, require_dtype, require_sizes};
use super::operation::{Checked, Limits, Operation, Refusal, Running};
use super::params::Params;
use super::shape::Walk;
use super::spec::{DataType, Spec};
use attend::Attend;

/// `sdpa_fwd_<dtype>` and `sdpa_recomp_fwd_<dtype>`, by the steps of the exact attention in `docs/numerics.md`: products
/// scaled and rounded to bfloat16, then softmax scale, mask and softmax in float32, and the sum divides at the end.
///
/// A causal query sees the keys up to its own index. The second product takes probabilities in the type of the
/// operands. K and V may have size 1 or, in the first dimension beyond the matrices, a divisor of the size of Q.
pub(super) struct Sdpa {
    dtype: DataType,
}

/// The inputs.
mod place {
    pub(super) const MASK: usize = 3;
    pub(super) const SEED: usize = 4;
    pub(super) const D_SCALE_Q: usize = 5;
    pub(super) const D_SCALE_K: usize = 6;
    pub(super) const D_SCALE_V: usize = 7;
    pub(super) const Q_SCALE_S: usize = 8;
    pub(super) const Q_SCALE_O: usize = 9;
    pub(super) const D_SCALE_S: usize = 10;
}

/// The flag of each scale input.
const SCALE_FLAGS: [(u32, usize); 6] = [
    (1 << 8, place::D_SCALE_Q),
    (1 << 9, place::D_SCALE_K),
    (1 << 10, place::D_SCALE_V),
    (1 << 11, place::Q_SCALE_S),
    (1 << 12, place::Q_SCALE_O),
    (1 << 13, place::D_SCALE_S),
];

/// The parameters that change the result.
#[derive(Debug, Clone, Copy)]
struct Settings {
    softmax_scale: f32,
    is_causal: bool,
    flags: u32,
}

impl Settings {
    /// Dropout and approximations are not computed here, so a node that asks for them is refused.
    fn new(params: &[u8]) -> Result<Self, Refusal> {
        let sizes =
            [size_of::<ns_Sdpa_Params>(), size_of::<ns_Sdpa_ParamsV2>(), size_of::<ns_Sdpa_ParamsV3>()];
        let params = Params::new(params, &sizes)?;
        let ratio =
            offset_of!(ns_Sdpa_ParamsV3, dropout) + offset_of!(ns_DropoutKernel_ParamsOptionalMaskOut, ratio);
        require(params.f32(ratio) == 0.0, || "dropout is not emulated".to_owned())?;
        let mode = params.i32(offset_of!(ns_Sdpa_ParamsV3, softmax_mode));
        require(mode == 0, || format!("softmax mode {mode} is not emulated"))?;
        let flags = params.u32(offset_of!(ns_Sdpa_ParamsV3, flags));
        let known = SCALE_FLAGS.iter().fold(0, |known, (flag, _)| known | flag);
        require(flags & !known == 0, || format!("flags {:#x} are not emulated", flags & !known))?;
        Ok(Self {
            softmax_scale: params.f32(offset_of!(ns_Sdpa_ParamsV3, scale)),
            is_causal: params.bool(offset_of!(ns_Sdpa_ParamsV3, is_causal)),
            flags,
        })
    }
}

/// The dimensions beyond the matrices.
fn batch(spec: &Spec) -> &[usize] {
    spec.sizes.get(2..).unwrap_or(&[])
}

/// Checks that K or V fits the batch of Q.
fn check_batch(q: &Spec, other: &Spec) -> Result<(), Refusal> {
    let (of_q, of_other) = (batch(q), batch(other));
    let fits = of_q.len() == of_other.len()
        && of_q
            .iter()
            .zip(of_other)
            .enumerate()
            .all(|(dim, (q, other))| q == other || *other == 1 || (dim == 0 && q.is_multiple_of(*other)));
    require(fits, || format!("{:?} for the queries {:?}", other.sizes, q.sizes))
}

impl Sdpa {
    pub(super) fn new(dtype: DataType) -> Option<Self> {
        matches!(dtype, DataType::Bf16 | DataType::Fp8_143).then_some(Self { dtype })
    }

    fn is_fp8(&self) -> bool {
        self.dtype == DataType::Fp8_143
    }

    fn check_scales(&self, node: &Checked<'_>, flags: u32) -> Result<(), Refusal> {
        for (flag, place) in SCALE_FLAGS {
            let scale = node.optional_input(place);
            require(scale.is_some() == (flags & flag != 0), || {
                format!("input {place} does not agree with flags {flags:#x}")
            })?;
            let Some(scale) = scale else { continue };
            require(self.is_fp8(), || format!("input {place} scales FP8 operands only"))?;
            require_dtype(scale, DataType::F32)?;
            require(scale.count() == 1, || format!("a scale of {:?}", scale.sizes))?;
        }
        Ok(())
    }
}

impl Operation for Sdpa {
    fn limits(&self) -> Limits {
        Limits { inputs: 11, outputs: 3, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (q, k, v) = (node.input(0)?, node.input(1)?, node.input(2)?);
        for spec in [q, k, v] {
            require_dtype(spec, self.dtype)?;
            require(spec.sizes.len() >= 2, || format!("{:?} is no matrix", spec.sizes))?;
            if self.is_fp8() {
                spec.format(node.machine)?;
            }
        }
        let (dim, queries) = (q.sizes[0], q.sizes[1]);
        require(k.sizes[0] == dim, || format!("keys {:?} for queries {:?}", k.sizes, q.sizes))?;
        require(k.sizes[1] == v.sizes[1], || format!("keys {:?}, values {:?}", k.sizes, v.sizes))?;
        check_batch(q, k)?;
        check_batch(q, v)?;
        if let Some(mask) = node.optional_input(place::MASK) {
            let scores = [&[k.sizes[1], queries][..], batch(q)].concat();
            require(matches!(mask.dtype, DataType::F32 | DataType::Bf16), || {
                format!("a mask of {:?}", mask.dtype)
            })?;
            require(Walk::broadcast(&scores, [&mask.sizes]).is_some(), || {
                format!("a mask {:?} for scores {scores:?}", mask.sizes)
            })?;
        }
        require(node.optional_input(place::SEED).is_none(), || "a seed without dropout".to_owned())?;
        let settings = Settings::new(node.params)?;
        self.check_scales(node, settings.flags)?;
        let out = node.output(0)?;
        let is_fp8_out = self.is_fp8() && node.optional_input(place::Q_SCALE_O).is_some();
        require_dtype(out, if is_fp8_out { DataType::Fp8_143 } else { DataType::Bf16 })?;
        if is_fp8_out {
            out.format(node.machine)?;
        }
        require_sizes(out, &[&[v.sizes[0], queries][..], batch(q)].concat())?;
        for statistic in [1, 2].into_iter().filter_map(|place| node.optional_output(place)) {
            require(matches!(statistic.dtype, DataType::F32 | DataType::Bf16), || {
                format!("a statistic of {:?}", statistic.dtype)
            })?;
            require_sizes(statistic, &[&[1, queries][..], batch(q)].concat())?;
        }
        Ok(())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let settings = Settings::new(node.params)?;
        let scale = |place: usize| -> Result<Option<f32>, String> {
            optional_input(node.inputs, place).map_or(Ok(None), |scale| Ok(floats(scale)?.first().copied()))
        };
        let quant = scale(place::Q_SCALE_S)?.unwrap_or(1.0);
        let attend = Attend {
            machine: node.machine,
            q: input(node.inputs, 0)?,
            k: input(node.inputs, 1)?,
            v: input(node.inputs, 2)?,
            mask: optional_input(node.inputs, place::MASK),
            softmax_scale: settings.softmax_scale,
            is_causal: settings.is_causal,
            dequant: [
                scale(place::D_SCALE_Q)?.unwrap_or(1.0),
                scale(place::D_SCALE_K)?.unwrap_or(1.0),
                scale(place::D_SCALE_V)?.unwrap_or(1.0),
            ],
            prob: self
                .is_fp8()
                .then(|| Ok::<_, String>((quant, scale(place::D_SCALE_S)?.unwrap_or(1.0 / quant))))
                .transpose()?,
            out_quant: scale(place::Q_SCALE_O)?,
        };
        attend.run(node.outputs)
    }
}
