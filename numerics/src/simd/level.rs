//! The token of an instruction set that is known at run time only.

use super::isa::Isa;
#[cfg(target_arch = "aarch64")]
use super::tokens::Neon;
use super::tokens::Portable;
#[cfg(target_arch = "x86_64")]
use super::tokens::{Avx2, Avx512, Avx512Bf16};
use super::work::Work;

/// An instruction set that this machine has.
#[derive(Debug, Clone, Copy)]
pub enum Level {
    /// Portable Rust.
    Portable(Portable),
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512 without products of bfloat16 pairs.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// AVX-512 with products of bfloat16 pairs.
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16(Avx512Bf16),
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

/// Work for every instruction set of the target, none of which needs products of bfloat16 pairs.
#[cfg(target_arch = "x86_64")]
pub trait WorkEverywhere<R>: Work<Portable, R> + Work<Avx2, R> + Work<Avx512, R> {}
#[cfg(target_arch = "x86_64")]
impl<R, W: Work<Portable, R> + Work<Avx2, R> + Work<Avx512, R>> WorkEverywhere<R> for W {}

/// Work for every instruction set of the target.
#[cfg(target_arch = "aarch64")]
pub trait WorkEverywhere<R>: Work<Portable, R> + Work<Neon, R> {}
#[cfg(target_arch = "aarch64")]
impl<R, W: Work<Portable, R> + Work<Neon, R>> WorkEverywhere<R> for W {}

/// Work for every instruction set of the target.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub trait WorkEverywhere<R>: Work<Portable, R> {}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl<R, W: Work<Portable, R>> WorkEverywhere<R> for W {}

/// Work that has a form of its own where there are products of bfloat16 pairs.
#[cfg(target_arch = "x86_64")]
pub trait WorkWithBf16<R>: WorkEverywhere<R> + Work<Avx512Bf16, R> {}
#[cfg(target_arch = "x86_64")]
impl<R, W: WorkEverywhere<R> + Work<Avx512Bf16, R>> WorkWithBf16<R> for W {}
/// Work that has a form of its own where there are products of bfloat16 pairs: on no instruction set of this target.
#[cfg(not(target_arch = "x86_64"))]
pub use WorkEverywhere as WorkWithBf16;

impl Level {
    /// The level of an instruction set, if this machine has it.
    #[must_use]
    #[inline]
    pub fn new(isa: Isa) -> Option<Self> {
        match isa {
            Isa::Scalar => Some(Self::Portable(Portable)),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::new().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::new().map(Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Bf16 => Avx512Bf16::new().map(Self::Avx512Bf16),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Neon::new().map(Self::Neon),
            #[cfg_attr(
                not(any(target_arch = "x86_64", target_arch = "aarch64")),
                allow(unreachable_patterns)
            )]
            _ => None,
        }
    }

    /// The level of an instruction set, or portable code where this machine lacks it.
    #[must_use]
    #[inline]
    pub fn or_portable(isa: Isa) -> Self {
        Self::new(isa).unwrap_or(Self::Portable(Portable))
    }

    /// The level that this process computes on: that of [`Isa::active`].
    #[must_use]
    pub fn active() -> Self {
        Self::or_portable(Isa::active())
    }

    /// Runs work compiled for the level. Products of bfloat16 pairs are left unused.
    #[inline(always)]
    pub fn run<R>(self, work: impl WorkEverywhere<R>) -> R {
        match self {
            Self::Portable(token) => token.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => token.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => token.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bf16(token) => token.without_bf16().vectorize(work),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(token) => token.vectorize(work),
        }
    }

    /// Runs work compiled for the level, with products of bfloat16 pairs where it has them.
    #[inline(always)]
    pub fn run_with_bf16<R>(self, work: impl WorkWithBf16<R>) -> R {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bf16(token) => token.vectorize(work),
            _ => self.run(work),
        }
    }
}
