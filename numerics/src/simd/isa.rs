//! The names of the instruction sets.

use std::fmt;
use std::str::FromStr;

/// An instruction set that kernels are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Portable Rust.
    Scalar,
    /// AArch64 NEON.
    Neon,
    /// x86-64 AVX2 with FMA, F16C and POPCNT.
    Avx2,
    /// x86-64 AVX-512 F, BW, DQ, VL and VBMI, with everything that [`Isa::Avx2`] stands for.
    Avx512,
    /// x86-64 AVX512-BF16, products of bfloat16 pairs, with everything that [`Isa::Avx512`] stands for. Fast attention and
    /// projections multiply in them; conversions and exact products run as on [`Isa::Avx512`].
    Avx512Bf16,
}

/// The instruction set named by `GAUDI_KV_ISA` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IsaError {
    /// The name is not one of `scalar`, `neon`, `avx2`, `avx512`, `avx512bf16`.
    #[error("unknown instruction set {0:?}; known are scalar, neon, avx2, avx512, avx512bf16")]
    Unknown(String),
    /// This machine lacks it.
    #[error("this machine has no {0}; it has {1}")]
    Unavailable(Isa, String),
}

impl Isa {
    /// Every instruction set; of those that one machine can have, best last.
    pub const ALL: [Self; 5] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512, Self::Avx512Bf16];

    /// The name that `GAUDI_KV_ISA` takes: `scalar`, `neon`, `avx2`, `avx512` or `avx512bf16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Bf16 => "avx512bf16",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Self, IsaError> {
        let found = Self::ALL.into_iter().find(|isa| isa.name() == name);
        found.ok_or_else(|| IsaError::Unknown(name.to_owned()))
    }
}
