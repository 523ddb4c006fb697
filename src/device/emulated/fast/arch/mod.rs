//! The instruction sets, and which one runs.
//!
//! `portable` is the twin of the others. `avx512` has two forms: over float32 numbers, and over pairs of bfloat16
//! numbers where the machine multiplies those.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_pack;
mod portable;

#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
use portable::Portable;

use super::task::Task;
use super::workspace::Workspace;
use crate::fp8::Isa;

/// The kernels of an instruction set that this machine has.
#[derive(Debug, Clone, Copy)]
pub(super) enum Backend {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512 without bfloat16 products.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512<false>),
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16(Avx512<true>),
}

impl Backend {
    /// The kernels of the process's instruction set.
    pub(super) fn active() -> Self {
        Self::best(Isa::active())
    }

    /// The best kernels that `isa` allows on this machine.
    pub(super) fn best(isa: Isa) -> Self {
        let portable = Self::Portable(Portable);
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::<true>::new()
                .map(Self::Avx512Bf16)
                .or_else(|| Avx512::<false>::new().map(Self::Avx512))
                .unwrap_or(portable),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::new().map_or(portable, Self::Avx2),
            _ => portable,
        }
    }

    /// Every kernel that this machine can run.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut backends = vec![Self::Portable(Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            backends.extend(Avx2::new().map(Self::Avx2));
            backends.extend(Avx512::<false>::new().map(Self::Avx512));
            backends.extend(Avx512::<true>::new().map(Self::Avx512Bf16));
        }
        backends
    }

    /// Runs a task.
    pub(super) fn run(self, task: &Task<'_>, workspace: &mut Workspace) {
        match self {
            Self::Portable(portable) => task.run(portable, workspace),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.run(task, workspace),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.run(task, workspace),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bf16(avx512) => avx512.run(task, workspace),
        }
    }
}
