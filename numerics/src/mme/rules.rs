//! Which rules a product follows, and whether there are any.

use super::error::MmeError;
use crate::fp8::Format;
use crate::generation::Generation;

/// Which of the device's accumulation rules a product follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Groups of 8. C is a ninth term; everything is truncated.
    Gaudi3,
    /// Groups of 16 whose sum, 24 fractional bits below the largest product, is added to C with one rounding.
    Gaudi2Fp8,
    /// Groups of 8 whose sum, 46 fractional bits below the largest product, is added to C with one rounding.
    Gaudi2Bf16,
}

impl Rules {
    /// The rules of FP8 or of bfloat16 products.
    pub(super) const fn new(generation: Generation, fp8: bool) -> Self {
        match (generation, fp8) {
            (Generation::Gaudi3, _) => Self::Gaudi3,
            (Generation::Gaudi2, true) => Self::Gaudi2Fp8,
            (Generation::Gaudi2, false) => Self::Gaudi2Bf16,
        }
    }

    /// Products per step.
    pub(super) const fn group(self) -> usize {
        match self {
            Self::Gaudi3 | Self::Gaudi2Bf16 => 8,
            Self::Gaudi2Fp8 => 16,
        }
    }

    /// The rules for operands of these formats, `None` for bfloat16.
    ///
    /// # Errors
    /// The device does not multiply them.
    pub(super) fn of(generation: Generation, a: Option<Format>, b: Option<Format>) -> Result<Self, MmeError> {
        let (a, b) = match (a, b) {
            (None, None) => return Ok(Self::new(generation, false)),
            (Some(a), Some(b)) => (a, b),
            _ => return Err(MmeError::MixedTypes),
        };
        for format in [a, b] {
            if !format.is_operand_of(generation) {
                return Err(MmeError::Format { generation, format });
            }
        }
        if a.layout != b.layout && !generation.multiplies_two_layouts() {
            return Err(MmeError::MixedFlavours { generation, a, b });
        }
        Ok(Self::new(generation, true))
    }
}
