//! Element types of graphs, and the types that FP8 codes are moved as.

use crate::device::StorageDtype;

/// An element type of a graph's tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dtype {
    I8,
    I32,
    Bf16,
    F32,
    /// e4m3 at exponent bias 7.
    Fp8,
}

impl Dtype {
    /// The size of an element.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::Fp8 => 1,
            Self::Bf16 => 2,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// The end of a kernel's guid that names this type, such as `bf16` in `add_fwd_bf16`.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::Fp8 => "hf8",
        }
    }
}

/// The type that a kernel moves FP8 codes as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fp8View {
    /// FP8 codes, as they are.
    Native,
    /// 8-bit integers.
    Int8,
}

impl Fp8View {
    /// The element type that a plane is given to a recipe as.
    pub(crate) const fn stored(self, dtype: StorageDtype) -> Dtype {
        match (dtype, self) {
            (StorageDtype::Fp8, Self::Native) => Dtype::Fp8,
            (StorageDtype::Fp8, Self::Int8) => Dtype::I8,
            (StorageDtype::Bf16, _) => Dtype::Bf16,
            (StorageDtype::F32, _) => Dtype::F32,
        }
    }
}
