//! The matrix engine: exact dot products and matrix products, bit for bit, and the fast float path.
//!
//! [`Gemm::exact`] computes what the device's matrix engine computes, [`dot()`] and [`reference()`] do so
//! slowly and plainly. Operands are [`Matrix`] views of FP8 codes or bfloat16 numbers; the right one is a [`Right`], which may be
//! transposed and may come in the blocks of a paged cache. Results are float32 accumulators, which [`scaled_bf16`] and
//! [`scaled_fp8`] convert as the device does. [`Gemm::fast`] takes the same operands and accumulates in float.
//!
//! The rules come from the vendor's functional model of the matrix engine; `docs/numerics.md` has them in full.

mod arch;
mod batch_memory;
mod chunk;
mod decode;
mod dot;
mod emptied;
mod error;
mod exact;
mod exact_gaudi2;
mod exact_gaudi3;
mod float;
mod gemm;
mod groups;
mod matrix;
mod ops;
mod output;
mod packed_a;
mod prepared;
mod reference;
mod rules;
mod source;
mod sum;
mod task;
mod task_memory;
mod widen;
mod width;

pub use dot::{dot, reference};
pub use emptied::emptied;
pub use error::MmeError;
pub use gemm::{Gemm, Product};
pub use matrix::{Elements, Matrix, MatrixMut, Right};
pub use output::{scaled_bf16, scaled_fp8};
