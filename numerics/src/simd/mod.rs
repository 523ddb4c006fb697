//! Instruction sets: which there are, which one runs, and how code gets compiled for it.
//!
//! - [`Isa`] names an instruction set; [`Isa::active`] is the one of this process, which `GAUDI_KV_ISA` can choose.
//! - A token, such as [`Avx2`], is the proof that this machine has the instructions. Operations are traits that tokens
//!   implement; their methods are safe to call, because no token exists without the instructions.
//! - [`Work`] is what is compiled for a token's instructions: `token.vectorize(work)` is the only way into such code.
//! - [`Level`] is the token of an instruction set that was chosen at run time, and runs work on it.
//!
//! What leads into compiled work is inlined always: work that is handed on through memory costs a short conversion more than the
//! conversion itself.

mod detection;
mod isa;
mod level;
mod register_ops;
mod tokens;
mod work;

pub use isa::{Isa, IsaError};
pub use level::{Level, WorkEverywhere, WorkWithBf16};
#[cfg(target_arch = "aarch64")]
pub use tokens::Neon;
pub use tokens::Portable;
#[cfg(target_arch = "x86_64")]
pub use tokens::{Avx2, Avx512, Avx512Bf16};
pub use work::Work;

pub(crate) use register_ops::register_ops;
