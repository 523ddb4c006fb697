//! Outputs of attention in arrays of float32, or of bfloat16, which holds the values of every output.

use gaudi_kv::fp8::bf16_from_f32_slice;
use half::bf16;

use crate::array::{Array, Element};
use crate::error::Failure;
use crate::memory_lease::{Lease, Operands, ViewMut};

/// An array for the output of attention, of either type.
#[derive(Debug)]
pub(crate) enum Output {
    F32(ViewMut<f32>),
    Bf16(ViewMut<bf16>),
}

impl Output {
    /// Adds an array to the operands, to be written.
    ///
    /// # Errors
    /// The array is of another type, or read-only.
    pub(crate) fn of(array: &Array, operands: &mut Operands) -> Result<Self, Failure> {
        Ok(match array.element {
            Element::Bf16 => Self::Bf16(operands.write(array)?),
            _ => Self::F32(operands.write(array)?),
        })
    }

    /// Lets `compute` fill the output, or for bfloat16 `results`, from which it is then rounded: exactly, for what
    /// attention gives. The output is left as it is where `compute` fails before it writes.
    pub(crate) fn fill(
        self,
        lease: &Lease,
        results: &mut Vec<f32>,
        compute: impl FnOnce(&mut [f32]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Self::F32(view) => compute(lease.slice_mut(view)),
            Self::Bf16(view) => {
                let out = lease.slice_mut(view);
                results.resize(out.len(), 0.0);
                compute(results)?;
                Ok(bf16_from_f32_slice(results, out)?)
            }
        }
    }
}
