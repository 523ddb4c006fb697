//! Conversions between types, without a scale.

use std::mem::offset_of;

use bytemuck::Pod;
use gaudi_numerics::fp8::{Dequantizer, Encoder, Rounding, bf16_from_f32_slice};
use habana_sys::{CastF32RoundMode_t, CastSatMode_t, ns_CastKernel_Params, ns_CastKernel_ParamsV3};
use half::bf16;

use super::convert::{cast_params, rounding};
use super::machine::Machine;
use super::operands::{KERNEL_RANK, input, output, require, require_dtype, require_sizes};
use super::operation::{Checked, Input, Limits, Operation, Output, Refusal, Running};
use super::params::Params;
use super::real::Real;
use super::spec::DataType;

/// `cast_<from>_to_<to>`.
///
/// - To FP8, what overflows becomes Inf (NaN where the format has none), unless the parameters ask for clipping.
/// - To bfloat16, to nearest even or toward zero.
/// - From a float to an integer, in the rounding mode that is asked for, to nearest even by default; saturating, NaN
///   is 0.
/// - Between integers the low bits stay, or the value saturates where the parameters ask for it.
pub(super) struct Cast {
    from: DataType,
    to: DataType,
}

/// What a type is to a cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Fp8,
    Integer,
}

fn kind(dtype: DataType) -> Option<Kind> {
    use DataType::{Bf16, F16, F32, Fp8_143, Fp8_152, I8, I16, I32, I64, U8, U16, U32, U64};
    match dtype {
        F32 | Bf16 => Some(Kind::Float),
        Fp8_143 | Fp8_152 => Some(Kind::Fp8),
        I8 | U8 | I16 | U16 | I32 | U32 => Some(Kind::Integer),
        F16 | I64 | U64 => None,
    }
}

/// How a float becomes an integer.
fn whole(params: Params<'_>) -> Result<fn(f32) -> f32, Refusal> {
    let mode = CastF32RoundMode_t(params.u32(offset_of!(ns_CastKernel_Params, round_mode)));
    match mode {
        CastF32RoundMode_t::CAST_ROUND_HALF_NE | CastF32RoundMode_t::CAST_ROUND_DEFAULT => {
            Ok(f32::round_ties_even)
        }
        CastF32RoundMode_t::CAST_ROUND_DOWN => Ok(f32::floor),
        CastF32RoundMode_t::CAST_ROUND_UP => Ok(f32::ceil),
        CastF32RoundMode_t::CAST_ROUND_ZERO => Ok(f32::trunc),
        CastF32RoundMode_t::CAST_ROUND_HALF_AZ => Ok(f32::round),
        other => Err(Refusal::rejected(format!("rounding mode {} is not emulated", other.0))),
    }
}

/// Whether overflow saturates.
fn clips(params: Params<'_>) -> Result<bool, Refusal> {
    let mode = CastSatMode_t(params.u32(offset_of!(ns_CastKernel_ParamsV3, mode)));
    match mode {
        CastSatMode_t::CAST_NO_CLIP_NO_SAT => Ok(false),
        CastSatMode_t::CAST_CLIP => Ok(true),
        other => Err(Refusal::rejected(format!("saturation mode {} is not emulated", other.0))),
    }
}

/// An integer type.
trait Integer: Pod {
    fn wide(self) -> i64;
    /// The low bits.
    fn low(value: i64) -> Self;
    fn saturated(value: i64) -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            fn wide(self) -> i64 {
                i64::from(self)
            }

            fn low(value: i64) -> Self {
                value as Self
            }

            fn saturated(value: i64) -> Self {
                value.clamp(i64::from(Self::MIN), i64::from(Self::MAX)) as Self
            }
        }
    )*};
}

integers!(i8, u8, i16, u16, i32, u32);

/// Evaluates an expression with the Rust type of an integer type; the last alternative stands for every other type,
/// which [`Cast::new`] does not let through.
macro_rules! with_integer {
    ($dtype:expr, $name:ident => $body:expr) => {
        match $dtype {
            DataType::I8 => {
                type $name = i8;
                $body
            }
            DataType::U8 => {
                type $name = u8;
                $body
            }
            DataType::I16 => {
                type $name = i16;
                $body
            }
            DataType::U16 => {
                type $name = u16;
                $body
            }
            DataType::I32 => {
                type $name = i32;
                $body
            }
            _ => {
                type $name = u32;
                $body
            }
        }
    };
}

/// Converts each element.
fn map<A: Pod, B: Pod>(from: &Input<'_>, to: &mut Output<'_>, f: impl Fn(A) -> B) -> Result<(), String> {
    let (from, to) = (from.elements::<A>()?, to.elements::<B>()?);
    to.iter_mut().zip(from).for_each(|(to, from)| *to = f(*from));
    Ok(())
}

impl Cast {
    pub(super) fn new(from: DataType, to: DataType) -> Option<Self> {
        let exists = match (kind(from)?, kind(to)?) {
            (Kind::Fp8, Kind::Fp8 | Kind::Integer) | (Kind::Integer, Kind::Fp8) => false,
            _ => from != to,
        };
        exists.then_some(Self { from, to })
    }

    fn decode(&self, machine: &Machine, from: &Input<'_>, to: &mut Output<'_>) -> Result<(), String> {
        let format = from.spec.format(machine)?;
        let decoder = Dequantizer::unscaled(format);
        match self.to {
            DataType::F32 => decoder.dequant_f32(from.bytes()?, to.elements()?),
            _ => decoder.dequant_bf16(from.bytes()?, to.elements()?),
        }
        .map_err(|error| error.to_string())
    }

    fn encode(
        &self,
        machine: &Machine,
        from: &Input<'_>,
        to: &mut Output<'_>,
        params: Params<'_>,
    ) -> Result<(), String> {
        let encoder =
            Encoder { format: to.spec.format(machine)?, rounding: rounding(params)?, clip: clips(params)? };
        match self.from {
            DataType::F32 => encoder.encode_f32(from.elements()?, to.bytes()?),
            _ => encoder.encode_bf16(from.elements()?, to.bytes()?),
        }
        .map_err(|error| error.to_string())
    }

    fn float_to_float(
        &self,
        from: &Input<'_>,
        to: &mut Output<'_>,
        rounding: Rounding,
    ) -> Result<(), String> {
        match (self.to, rounding) {
            (DataType::F32, _) => map(from, to, bf16::to_f32),
            (_, Rounding::NearestEven) => {
                bf16_from_f32_slice(from.elements()?, to.elements()?).map_err(|error| error.to_string())
            }
            (_, Rounding::TowardZero) => map(from, to, |value: f32| {
                if value.is_nan() {
                    bf16::narrow(value)
                } else {
                    bf16::from_bits((value.to_bits() >> 16) as u16)
                }
            }),
        }
    }
}

impl Operation for Cast {
    fn limits(&self) -> Limits {
        Limits { inputs: 1, outputs: 1, rank: KERNEL_RANK }
    }

    fn check(&self, node: &Checked<'_>) -> Result<(), Refusal> {
        let (from, to) = (node.input(0)?, node.output(0)?);
        require_dtype(from, self.from)?;
        require_dtype(to, self.to)?;
        require_sizes(to, &from.sizes)?;
        let params = cast_params(node.params)?;
        for spec in [from, to] {
            if spec.dtype.is_fp8() {
                spec.format(node.machine)?;
            }
        }
        clips(params)?;
        match (kind(self.from), kind(self.to)) {
            (Some(Kind::Float), Some(Kind::Integer)) => whole(params).map(|_| ()),
            (Some(Kind::Float), _) => rounding(params).map(|_| ()),
            _ => {
                let mode = params.u32(offset_of!(ns_CastKernel_Params, round_mode));
                require(mode <= 8, || format!("no rounding mode {mode}"))
            }
        }
    }

    fn run(&self, node: Running<'_, '_>) -> Result<(), String> {
        let (from, to) = (input(node.inputs, 0)?, output(node.outputs, 0)?);
        let params = cast_params(node.params)?;
        match (kind(self.from), kind(self.to)) {
            (Some(Kind::Fp8), _) => self.decode(node.machine, from, to),
            (_, Some(Kind::Fp8)) => self.encode(node.machine, from, to, params),
            (Some(Kind::Float), Some(Kind::Float)) => self.float_to_float(from, to, rounding(params)?),
            (Some(Kind::Float), _) => {
                let whole = whole(params)?;
                // Casting a float saturates and makes NaN 0.
                with_integer!(self.to, To => match self.from {
                    DataType::F32 => map(from, to, |value: f32| whole(value) as To),
                    _ => map(from, to, |value: bf16| whole(value.to_f32()) as To),
                })
            }
            (_, Some(Kind::Float)) => with_integer!(self.from, From => match self.to {
                DataType::F32 => map(from, to, |value: From| value.wide() as f32),
                _ => map(from, to, |value: From| bf16::narrow(value.wide() as f32)),
            }),
            _ => {
                let saturates = clips(params)?;
                with_integer!(self.from, From => with_integer!(self.to, To => map(from, to, |value: From| {
                    if saturates { To::saturated(value.wide()) } else { To::low(value.wide()) }
                })))
            }
        }
    }
}
