//! Conversions to and from FP8 with a scale.

use std::mem::offset_of;

use gaudi_numerics::fp8::{
    Dequantizer, Encoder, Format, Fp8Error, Rounding, amax_bf16, amax_f32, bf16_from_f32,
};
use habana_sys::{
    CastF32RoundMode_t, ns_CastKernel_Params, ns_CastKernel_ParamsV2, ns_CastKernel_ParamsV3,
    ns_CastKernel_ParamsV4,
};
use half::bf16;

use super::operands::{
    KERNEL_RANK, input, optional_input, optional_output, output, require, require_dtype, require_no_params,
    require_sizes,
};
use super::operation::{Checked, Input, Limits, Operation, Output, Refusal, Running};
use super::params::Params;
use super::real::{Real, with_real};
use super::shape::Walk;
use super::spec::{DataType, Spec};

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
    /// A float32 scale in this type.
    fn scale(scale: f32) -> f32;
    /// The value times a scale in this type, rounded to this type. A float32 NaN keeps the sign of the value, a bfloat16
    /// one has none.
    fn times(self, scale: f32) -> Self;
    fn encode(encoder: Encoder, values: &[Self], codes: &mut [u8]) -> Result<(), Fp8Error>;
    fn decode(decoder: &Dequantizer, codes: &[u8], values: &mut [Self]) -> Result<(), Fp8Error>;
}

impl Scaled for f32 {
    fn scale(scale: f32) -> f32 {
        scale
    }

    fn times(self, scale: f32) -> Self {
        let product = self * scale;
        // The payload of a NaN is the value's, where it is one.
        if self.is_nan() {
            self
        } else if product.is_nan() {
            product.copysign(self)
        } else {
            product
        }
    }

    fn encode(encoder: Encoder, values: &[Self], codes: &mut [u8]) -> Result<(), Fp8Error> {
        encoder.encode_f32(values, codes)
    }

    fn decode(decoder: &Dequantizer, codes: &[u8], values: &mut [Self]) -> Result<(), Fp8Error> {
        decoder.dequant_f32(codes, values)
    }
}

impl Scaled for bf16 {
    fn scale(scale: f32) -> f32 {
        bf16_from_f32(scale).to_f32()
    }

    fn times(self, scale: f32) -> Self {
        bf16_from_f32(self.to_f32() * scale)
    }

    fn encode(encoder: Encoder, values: &[Self], codes: &mut [u8]) -> Result<(), Fp8Error> {
        encoder.encode_bf16(values, codes)
    }

    fn decode(decoder: &Dequantizer, codes: &[u8], values: &mut [Self]) -> Result<(), Fp8Error> {
        decoder.dequant_bf16(codes, values)
    }
}

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

/// Multiplies a tensor's elements by its scale, if it has one.
fn multiply<T: Scaled>(values: &mut [T], of: &Spec, scale: Option<&Input<'_>>) -> Result<(), String> {
    let Some(scale) = scale else { return Ok(()) };
    let scales: Vec<f32> = floats(scale)?.into_iter().map(T::scale).collect();
    let sizes = if scales.len() == 1 { &[] } else { &scale.spec.sizes[..] };
    let walk = Walk::broadcast(&of.sizes, [sizes]).ok_or("the scale does not fit")?;
    walk.for_each(|run| {
        let values = &mut values[run.at..run.at + run.len];
        if run.step == [0] {
            let scale = scales[run.first[0]];
            values.iter_mut().for_each(|value| *value = value.times(scale));
        } else {
            let scales = scales[run.first[0]..].iter();
            values.iter_mut().zip(scales).for_each(|(value, scale)| *value = value.times(*scale));
        }
    });
    Ok(())
}

/// A float tensor's elements in float32.
pub(super) fn floats(input: &Input<'_>) -> Result<Vec<f32>, String> {
    Ok(match input.spec.dtype {
        DataType::Bf16 => input.elements::<bf16>()?.iter().map(|value| value.to_f32()).collect(),
        _ => input.elements::<f32>()?.to_vec(),
    })
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
        x: &Input<'_>,
        scale: Option<&Input<'_>>,
        out: &mut Output<'_>,
    ) -> Result<(), String> {
        let mut products = x.elements::<T>()?.to_vec();
        multiply(&mut products, x.spec, scale)?;
        T::encode(encoder, &products, out.bytes()?).map_err(|error| error.to_string())
    }
}

impl Operation for ToFp8 {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 2, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (x, out) = (node.input(0)?, node.output(0)?);
        require_dtype(x, self.source)?;
        out.format(node.machine)?;
        require_sizes(out, &x.sizes)?;
        check_scale(node.optional_input(1), x)?;
        if let Some(amax) = node.optional_output(1) {
            require_dtype(amax, DataType::F32)?;
            require_sizes(amax, &[1])?;
        }
        rounding(cast_params(node.params)?).map(|_| ())
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (x, out) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let encoder = Encoder {
            format: out.spec.format(node.machine)?,
            rounding: cast_params(node.params).and_then(rounding)?,
            clip: true,
        };
        let scale = optional_input(node.inputs, 1);
        with_real!(self.source, T => Self::quantize::<T>(encoder, x, scale, out))?;
        if let Some(out) = optional_output(node.outputs, 1) {
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
        codes: &Input<'_>,
        scale: Option<&Input<'_>>,
        out: &mut Output<'_>,
    ) -> Result<(), String> {
        let out = out.elements::<T>()?;
        // Every value of a format is exact in both types.
        T::decode(&Dequantizer::unscaled(format), codes.bytes()?, out).map_err(|error| error.to_string())?;
        multiply(out, codes.spec, scale)
    }
}

impl Operation for FromFp8 {
    fn limits(&self) -> Limits {
        Limits { inputs: 2, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (codes, out) = (node.input(0)?, node.output(0)?);
        codes.format(node.machine)?;
        require_dtype(out, self.result)?;
        require_sizes(out, &codes.sizes)?;
        check_scale(node.optional_input(1), codes)?;
        require_no_params(node.params)
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (codes, out) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let format = codes.spec.format(node.machine)?;
        let scale = optional_input(node.inputs, 1);
        with_real!(self.result, T => Self::dequantize::<T>(format, codes, scale, out))
    }
}
