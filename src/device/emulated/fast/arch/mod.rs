//! The instruction sets, and which one runs.
//!
//! `portable` is the twin of the others. `avx512` has two forms: over float32 numbers, and over pairs of bfloat16
//! numbers where the machine multiplies those.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_pack;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_pack;
mod portable;
#[cfg(target_arch = "x86_64")]
mod prefetch;

#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
use portable::Portable;

use super::lanes::{Lanes, Line};
use super::project::Projection;
use super::softmax;
use super::task::Task;
use super::workspace::Workspace;
use crate::fp8::Isa;

/// What runs on an instruction set, compiled for it.
pub(super) enum Work<'w, 'k> {
    /// A task of attention.
    Task(&'w Task<'k>, &'w mut Workspace),
    /// A task of a projection.
    Project(&'w Projection<'k>, &'w mut Workspace),
    /// One operation on each number.
    Map(&'w mut [f32], Operation),
}

/// An operation of the softmax.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    Exp,
    #[cfg(test)]
    RoundE4m3(f32),
}

impl Work<'_, '_> {
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        match self {
            Self::Task(task, workspace) => task.run(l, workspace),
            Self::Project(task, workspace) => task.run(l, workspace),
            Self::Map(numbers, operation) => {
                for numbers in numbers.chunks_mut(16) {
                    let mut line = Line::ZERO;
                    line.0.iter_mut().zip(&*numbers).for_each(|(to, x)| *to = x.to_bits());
                    let x = l.load(&line);
                    let y = match operation {
                        Operation::Exp => softmax::exp(l, x),
                        #[cfg(test)]
                        Operation::RoundE4m3(max) => softmax::round_e4m3(l, x, max),
                    };
                    l.store(y, &mut line);
                    numbers.iter_mut().zip(line.floats()).for_each(|(to, y)| *to = y);
                }
            }
        }
    }
}

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

    /// Runs work.
    pub(super) fn work(self, work: Work<'_, '_>) {
        match self {
            Self::Portable(portable) => work.run(portable),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.run(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.run(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Bf16(avx512) => avx512.run(work),
        }
    }
}
