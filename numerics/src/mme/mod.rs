//! The matrix engine: exact dot products and matrix products, bit for bit, and the fast float path.
//!
//! [`Gemm::exact`] computes what the device's matrix engine computes, [`dot()`] and [`reference()`] do the
//! same slowly and plainly. Operands are [`Matrix`] views of FP8 codes or bfloat16 numbers; the right one is a [`Right`], which may be
//! transposed and may come in the blocks of a paged cache. Results are float32 accumulators, which [`scaled_bf16`] and
//! [`scaled_fp8`] convert as the device does. [`Gemm::fast`] takes the same operands and accumulates in float.
//!
//! The rules come from the vendor's functional model of the matrix engine; `docs/numerics.md` has them in full.

mod arch;
mod decode;
mod dot;
mod error;
mod gemm;
mod kernel;
mod matrix;
mod memory;
mod output;
mod pack;
mod reference;
mod simd;

pub use dot::{dot, reference};
pub use error::MmeError;
pub use gemm::{Gemm, Product};
pub use matrix::{Elements, Matrix, MatrixMut, Right};
pub use memory::emptied;
pub use output::{scaled_bf16, scaled_fp8};

use crate::Generation;
use crate::fp8::{Format, InfNan, Layout};
use reference::Rules;

/// The rules for a pair of operands, if the device multiplies them.
fn rules(generation: Generation, a: Option<Format>, b: Option<Format>) -> Result<Rules, MmeError> {
    let (a, b) = match (a, b) {
        (None, None) => return Ok(Rules::new(generation, false)),
        (Some(a), Some(b)) => (a, b),
        _ => return Err(MmeError::MixedTypes),
    };
    for format in [a, b] {
        let exists = match (generation, format.layout) {
            (Generation::Gaudi2, Layout::E4M3) => {
                format.inf_nan == InfNan::Full && matches!(format.bias, 3 | 7 | 11 | 15)
            }
            (Generation::Gaudi2, Layout::E5M2) => format.inf_nan == InfNan::Full && format.bias <= 31,
            (Generation::Gaudi3, _) => format.bias <= 63,
        };
        if !exists {
            return Err(MmeError::Format { generation, format });
        }
    }
    if generation == Generation::Gaudi2 && a.layout != b.layout {
        return Err(MmeError::MixedFlavours { generation, a, b });
    }
    Ok(Rules::new(generation, true))
}
