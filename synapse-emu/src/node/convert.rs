//! Conversions to and from FP8 with a scale.

use std::mem::offset_of;

use gaudi_kv::fp8::{
    Dequantizer, Encoder, Format, Fp8Error, Quantizer, Rounding, amax_bf16, amax_f32, bf16_from_f32,
};
use habana_sys::{
    CastF32RoundMode_t, ns_CastKernel_Params, ns_CastKernel_ParamsV2, ns_CastKernel_ParamsV3,
    ns_CastKernel_ParamsV4,
};
use half::bf16;

use super::dtype::Real;
use super::operands::{
    KERNEL_RANK, Operands, input, optional_input, optional_output, output, require, require_dtype,
    require_no_params, require_sizes,
};
use super::params::Params;
use super::shape::{Run, Walk};
use super::{DataType, Input, Machine, Operation, Output, Refusal, Spec};

/// The parameters of a cast, if there are any.
pub(super) fn cast_params(params: &[u8]) -> Result<Params<'_>, Refusal> {
    let sizes = [
        0,
        size_of::<ns_CastKernel_Params>(),
        size_of::<ns_CastKernel_ParamsV2>(),
        size_of::<ns_CastKernel_ParamsV3>(),
        size_of::<ns_CastKernel_ParamsV4>(),
    ];
    Params::new(params, &sizes)
}

/// The rounding of a conversion to FP8 or bfloat16. Those that the device has beside these are not emulated.
pub(super) fn rounding(params: Params<'_>) -> Result<Rounding, Refusal> {
    let mode = CastF32RoundMode_t(params.u32(offset_of!(ns_CastKernel_Params, round_mode)));
    match mode {
        CastF32RoundMode_t::CAST_ROUND_HALF_NE | CastF32RoundMode_t::CAST_ROUND_DEFAULT => {
            Ok(Rounding::NearestEven)
        }
        CastF32RoundMode_t::CAST_ROUND_ZERO => Ok(Rounding::TowardZero),
        other => Err(Refusal::rejected(format!("rounding mode {} is not emulated", other.0))),
    }
}

/// A float type whose conversions have a scale.
trait Scaled: Real {
    /// What a float32 scale is in this type.
    fn scale(scale: f32) -> f32;
    /// The value times a scale, in this type; NaN as a [`Quantizer`] has it.
    fn product(self, scale: f32) -> f32;
    fn quant(quantizer: &Quantizer, values: &[Self], codes: &mut [u8]) -> Result<(), Fp8Error>;
    fn dequant(dequantizer: &Dequantizer, codes: &[u8], values: &mut [Self]) -> Result<(), Fp8Error>;
}

impl Scaled for f32 {
    fn scale(scale: f32) -> f32 {
        scale
    }

    fn product(self, scale: f32) -> f32 {
        let product = self * scale;
        if product.is_nan() { product.copysign(self) } else { product }
    }

    fn quant(quantizer: &Quantizer, values: &[Self], codes: &mut [u8]) -> Result<(), Fp8Error> {
        quantizer.quant_f32(values, codes)
    }

    fn dequant(dequantizer: &Dequantizer, codes: &[u8], values: &mut [Self]) -> Result<(), Fp8Error> {
        dequantizer.dequant_f32(codes, values)
    }
}

impl Scaled for bf16 {
    fn scale(scale: f32) -> f32 {
        bf16_from_f32(scale).to_f32()
    }

    fn product(self, scale: f32) -> f32 {
        bf16_from_f32(self.to_f32() * Self::scale(scale)).to_f32()
    }

    fn quant(quantizer: &Quantizer, values: &[Self], codes: &mut [u8]) -> Result<(), Fp8Error> {
        quantizer.quant_bf16(values, codes)
    }

    fn dequant(dequantizer: &Dequantizer, codes: &[u8], values: &mut [Self]) -> Result<(), Fp8Error> {
        dequantizer.dequant_bf16(codes, values)
    }
}

/// Runs with one scale that are worth setting up a conversion for.
const LONG_RUN: usize = 512;

/// Checks a scale: one number, or a tensor whose sizes of 1 repeat.
fn check_scale(scale: Option<&Spec>, of: &Spec) -> Result<(), Refusal> {
    let Some(scale) = scale else { return Ok(()) };
    require(matches!(scale.dtype, DataType::F32 | DataType::Bf16), || {
        format!("a scale of {:?}", scale.dtype)
    })?;
    require(scale.count() == 1 || Walk::broadcast(&of.sizes, [&scale.sizes]).is_some(), || {
        format!("a scale {:?} for {:?}", scale.sizes, of.sizes)
    })
}

/// The scales in float32, and how they lie along a tensor's elements.
fn scales(scale: Option<&Input<'_>>, of: &Spec) -> Result<(Vec<f32>, Walk<1>), String> {
    let values = match scale {
        None => vec![1.0],
        Some(scale) => floats(scale)?,
    };
    let sizes = scale.map_or(&[][..], |scale| if values.len() == 1 { &[] } else { &scale.spec.sizes });
    let walk = Walk::broadcast(&of.sizes, [sizes]).ok_or("the scale does not fit")?;
    Ok((values, walk))
}

/// A float tensor's elements in float32.
pub(super) fn floats(input: &Input<'_>) -> Result<Vec<f32>, String> {
    Ok(match input.spec.dtype {
        DataType::Bf16 => input.elements::<bf16>()?.iter().map(|value| value.to_f32()).collect(),
        _ => input.elements::<f32>()?.to_vec(),
    })
}

/// The scale of each of a run's elements.
fn along(scales: &[f32], run: Run<1>) -> impl Iterator<Item = f32> {
    (0..run.len).map(move |i| scales[run.first[0] + i * run.step[0]])
}

/// `convert_to_fp8_<source>`: `fp8(x * scale)`, saturating. The product is rounded to the source's type, and so is the
/// scale. A second output is the largest magnitude of `x`.
pub(super) struct ToFp8 {
    source: DataType,
}

impl ToFp8 {
    pub(super) fn new(source: DataType) -> Option<Self> {
        matches!(source, DataType::F32 | DataType::Bf16).then_some(Self { source })
    }

    fn quantize<T: Scaled>(
        encoder: Encoder,
        (x, out): (&Input<'_>, &mut Output<'_>),
        (scales, walk): (Vec<f32>, Walk<1>),
    ) -> Result<(), String> {
        let (x, out) = (x.elements::<T>()?, out.bytes()?);
        walk.for_each(|run| {
            let (x, out) = (&x[run.at..run.at + run.len], &mut out[run.at..run.at + run.len]);
            let one = (run.step == [0] && run.len >= LONG_RUN)
                .then(|| Quantizer::new(encoder, scales[run.first[0]]).ok())
                .flatten();
            // The same with any scale, and for runs that are too short.
            if !one.is_some_and(|quantizer| T::quant(&quantizer, x, out).is_ok()) {
                for ((x, out), scale) in x.iter().zip(out).zip(along(&scales, run)) {
                    *out = encoder.encode(x.product(scale));
                }
            }
        });
        Ok(())
    }
}

impl Operation for ToFp8 {
    fn check(
        &self,
        machine: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal> {
        let operands = Operands::new(inputs, outputs, [2, 2], KERNEL_RANK)?;
        let (x, out) = (operands.input(0)?, operands.output(0)?);
        require_dtype(x, self.source)?;
        out.format(machine)?;
        require_sizes(out, &x.sizes)?;
        check_scale(operands.optional_input(1), x)?;
        if let Some(amax) = operands.optional_output(1) {
            require_dtype(amax, DataType::F32)?;
            require_sizes(amax, &[1])?;
        }
        rounding(cast_params(params)?).map(|_| ())
    }

    fn run(
        &self,
        machine: &Machine,
        inputs: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        params: &[u8],
    ) -> Result<(), String> {
        let refused = |refusal: Refusal| refusal.reason;
        let (x, out) = (input(inputs, 0)?, output(outputs, 0)?);
        let encoder = Encoder {
            format: out.spec.format(machine).map_err(refused)?,
            rounding: cast_params(params).and_then(rounding).map_err(refused)?,
            clip: true,
        };
        let scales = scales(optional_input(inputs, 1), x.spec)?;
        match self.source {
            DataType::F32 => Self::quantize::<f32>(encoder, (x, out), scales)?,
            _ => Self::quantize::<bf16>(encoder, (x, out), scales)?,
        }
        if let Some(out) = optional_output(outputs, 1) {
            out.elements::<f32>()?.fill(match self.source {
                DataType::F32 => amax_f32(x.elements()?),
                _ => amax_bf16(x.elements()?).to_f32(),
            });
        }
        Ok(())
    }
}

/// `convert_from_fp8_<result>`: `value * scale`, rounded to the result's type, and so is the scale.
pub(super) struct FromFp8 {
    result: DataType,
}

impl FromFp8 {
    pub(super) fn new(result: DataType) -> Option<Self> {
        matches!(result, DataType::F32 | DataType::Bf16).then_some(Self { result })
    }

    fn dequantize<T: Scaled>(
        format: Format,
        (codes, out): (&Input<'_>, &mut Output<'_>),
        (scales, walk): (Vec<f32>, Walk<1>),
    ) -> Result<(), String> {
        let (codes, out) = (codes.bytes()?, out.elements::<T>()?);
        let table = format.decode_table();
        walk.for_each(|run| {
            let (codes, out) = (&codes[run.at..run.at + run.len], &mut out[run.at..run.at + run.len]);
            let one = (run.step == [0] && run.len >= LONG_RUN)
                .then(|| Dequantizer::new(format, scales[run.first[0]]).ok())
                .flatten();
            if !one.is_some_and(|dequantizer| T::dequant(&dequantizer, codes, out).is_ok()) {
                for ((code, out), scale) in codes.iter().zip(out).zip(along(&scales, run)) {
                    let value = f32::from_bits(table[usize::from(*code)]);
                    *out = T::narrow(if value.is_nan() { value } else { value * T::scale(scale) });
                }
            }
        });
        Ok(())
    }
}

impl Operation for FromFp8 {
    fn check(
        &self,
        machine: &Machine,
        inputs: &[Option<&Spec>],
        outputs: &[Option<&Spec>],
        params: &[u8],
    ) -> Result<(), Refusal> {
        let operands = Operands::new(inputs, outputs, [2, 1], KERNEL_RANK)?;
        let (codes, out) = (operands.input(0)?, operands.output(0)?);
        codes.format(machine)?;
        require_dtype(out, self.result)?;
        require_sizes(out, &codes.sizes)?;
        check_scale(operands.optional_input(1), codes)?;
        require_no_params(params)
    }

    fn run(
        &self,
        machine: &Machine,
        inputs: &[Option<Input<'_>>],
        outputs: &mut [Option<Output<'_>>],
        _: &[u8],
    ) -> Result<(), String> {
        let (codes, out) = (input(inputs, 0)?, output(outputs, 0)?);
        let format = codes.spec.format(machine).map_err(|refusal| refusal.reason)?;
        let scales = scales(optional_input(inputs, 1), codes.spec)?;
        match self.result {
            DataType::F32 => Self::dequantize::<f32>(format, (codes, out), scales),
            _ => Self::dequantize::<bf16>(format, (codes, out), scales),
        }
    }
}
