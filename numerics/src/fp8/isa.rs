//! Which instruction set the vector kernels run on, chosen at run time.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// An instruction set that kernels are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Portable Rust.
    Scalar,
    /// x86-64 AVX2 with FMA, F16C and POPCNT.
    Avx2,
    /// x86-64 AVX-512 F, BW, DQ, VL and VBMI, with everything that [`Isa::Avx2`] stands for.
    Avx512,
    /// AArch64 NEON.
    Neon,
}

/// The instruction set named by `GAUDI_KV_ISA` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IsaError {
    /// The name is not one of `scalar`, `avx2`, `avx512`, `neon`.
    #[error("unknown instruction set {0:?}; known are scalar, avx2, avx512, neon")]
    Unknown(String),
    /// This machine lacks it.
    #[error("this machine has no {0}; it has {1}")]
    Unavailable(Isa, String),
}

impl Isa {
    /// The environment variable that overrides detection.
    pub const ENV: &str = "GAUDI_KV_ISA";

    /// Whether this machine can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        // Kernels ask before each call, and a detection looks at many features.
        static AVAILABLE: OnceLock<[bool; 4]> = OnceLock::new();
        AVAILABLE.get_or_init(|| [Self::Scalar, Self::Avx2, Self::Avx512, Self::Neon].map(Self::detect))
            [self as usize]
    }

    fn detect(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.detect()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }

    /// Everything this machine can run, best last.
    #[must_use]
    pub fn available() -> Vec<Self> {
        [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512]
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect()
    }

    /// What [`active`](Self::active) will use, or why the value of `GAUDI_KV_ISA` cannot be.
    ///
    /// # Errors
    /// The variable names no instruction set, or one that this machine lacks.
    pub fn from_env() -> Result<Self, IsaError> {
        match std::env::var(Self::ENV) {
            Ok(name) if !name.is_empty() => {
                let isa: Self = name.parse()?;
                if isa.is_available() {
                    Ok(isa)
                } else {
                    let have: Vec<_> = Self::available().iter().map(ToString::to_string).collect();
                    Err(IsaError::Unavailable(isa, have.join(", ")))
                }
            }
            _ => Ok(Self::available().last().copied().unwrap_or(Self::Scalar)),
        }
    }

    /// The instruction set that kernels run on in this process: `GAUDI_KV_ISA`, else the best available. Read once.
    /// A value that cannot be used is logged as an error and the best available is taken.
    #[must_use]
    pub fn active() -> Self {
        static ACTIVE: OnceLock<Isa> = OnceLock::new();
        *ACTIVE.get_or_init(|| {
            let isa = Self::from_env().unwrap_or_else(|error| {
                let best = Self::available().last().copied().unwrap_or(Self::Scalar);
                tracing::error!(%error, using = %best, "{} is ignored", Self::ENV);
                best
            });
            tracing::debug!(%isa, "instruction set of the vector kernels");
            isa
        })
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        })
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Self, IsaError> {
        match name {
            "scalar" => Ok(Self::Scalar),
            "avx2" => Ok(Self::Avx2),
            "avx512" => Ok(Self::Avx512),
            "neon" => Ok(Self::Neon),
            _ => Err(IsaError::Unknown(name.to_owned())),
        }
    }
}
