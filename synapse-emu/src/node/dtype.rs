//! Element types: sizes, names in guids, and what FP8 codes mean.

use bytemuck::Pod;
use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Format, InfNan, Layout, bf16_from_f32};
use half::bf16;

use super::{DataType, Machine, Refusal, Spec};

impl DataType {
    /// The type that the end of a guid names.
    pub(crate) fn from_suffix(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "i8" => Self::I8,
            "u8" => Self::U8,
            "i16" => Self::I16,
            "u16" => Self::U16,
            "i32" => Self::I32,
            "u32" => Self::U32,
            "i64" => Self::I64,
            "u64" => Self::U64,
            "bf16" => Self::Bf16,
            "f16" => Self::F16,
            "f32" => Self::F32,
            "hf8" => Self::Fp8_143,
            "f8" => Self::Fp8_152,
            _ => return None,
        })
    }

    /// The size of an element.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Fp8_143 | Self::Fp8_152 => 1,
            Self::I16 | Self::U16 | Self::Bf16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    pub(super) const fn is_fp8(self) -> bool {
        matches!(self, Self::Fp8_143 | Self::Fp8_152)
    }
}

impl Spec {
    /// The number of elements. Every check refuses those that overflow.
    pub(crate) fn count(&self) -> usize {
        self.sizes.iter().fold(1, |count, size| count.saturating_mul(*size))
    }

    /// What an FP8 tensor's codes mean on a machine: e4m3 of Gaudi3 has its casts' Inf/NaN mode, all others the full
    /// one.
    pub(super) fn format(&self, machine: &Machine) -> Result<Format, Refusal> {
        let layout = match self.dtype {
            DataType::Fp8_143 => Layout::E4M3,
            DataType::Fp8_152 => Layout::E5M2,
            other => return Err(Refusal::rejected(format!("{other:?} is not an FP8 type"))),
        };
        let inf_nan = match (machine.generation, layout) {
            (Generation::Gaudi3, Layout::E4M3) => InfNan::Minimal,
            _ => InfNan::Full,
        };
        let bias = u8::try_from(self.exp_bias)
            .map_err(|_| Refusal::rejected(format!("no exponent bias {}", self.exp_bias)))?;
        Format::on(machine.generation, layout, bias, inf_nan)
            .map_err(|error| Refusal::rejected(error.to_string()))
    }
}

/// An element that is computed with in float32.
pub(super) trait Real: Pod {
    fn widen(self) -> f32;
    /// To nearest even.
    fn narrow(value: f32) -> Self;
}

impl Real for f32 {
    fn widen(self) -> f32 {
        self
    }

    fn narrow(value: f32) -> Self {
        value
    }
}

impl Real for bf16 {
    fn widen(self) -> f32 {
        self.to_f32()
    }

    fn narrow(value: f32) -> Self {
        bf16_from_f32(value)
    }
}
