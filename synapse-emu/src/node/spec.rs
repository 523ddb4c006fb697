//! Tensors as nodes see them: element types and sizes.

use habana_sys::synDataType;

/// The element types that tensors have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DataType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    Bf16,
    F16,
    F32,
    /// 1-4-3, e4m3.
    Fp8_143,
    /// 1-5-2, e5m2.
    Fp8_152,
}

/// A tensor as a node sees it. Elements lie densely, the fastest-changing dimension first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) dtype: DataType,
    /// The fastest-changing dimension first.
    pub(crate) sizes: Vec<usize>,
    /// The exponent bias of FP8 elements.
    pub(crate) exp_bias: u32,
}

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

    /// The element type that nodes compute with; `None` for those that the emulator does not have.
    pub(crate) const fn of(dtype: synDataType) -> Option<Self> {
        Some(match dtype {
            synDataType::syn_type_int8 => Self::I8,
            synDataType::syn_type_uint8 => Self::U8,
            synDataType::syn_type_int16 => Self::I16,
            synDataType::syn_type_uint16 => Self::U16,
            synDataType::syn_type_int32 => Self::I32,
            synDataType::syn_type_uint32 => Self::U32,
            synDataType::syn_type_int64 => Self::I64,
            synDataType::syn_type_uint64 => Self::U64,
            synDataType::syn_type_bf16 => Self::Bf16,
            synDataType::syn_type_fp16 => Self::F16,
            synDataType::syn_type_single => Self::F32,
            synDataType::syn_type_fp8_143 => Self::Fp8_143,
            synDataType::syn_type_fp8_152 => Self::Fp8_152,
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

    /// The bytes of all elements. Those of a spec that a tensor gave can be counted.
    pub(crate) fn bytes(&self) -> u64 {
        (self.count() * self.dtype.bytes()) as u64
    }
}
