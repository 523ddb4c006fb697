//! What becomes of each tensor of a weight file.

use safetensors::Dtype;

use crate::rewrite::Fate;

/// What becomes of a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TensorEdit {
    /// Carried over byte for byte.
    Keep,
    /// FP8 codes, rewritten.
    Rerange,
    /// A weight or activation scale, multiplied.
    Scale { factor: f64, to: Dtype },
    /// A KV scale, multiplied and written as float32.
    KvScale { is_reciprocal: bool },
}

impl TensorEdit {
    /// What that means for the file.
    pub(super) fn fate(self) -> Fate {
        match self {
            Self::Keep => Fate::Kept,
            Self::Rerange => Fate::Changed(Dtype::F8_E4M3),
            Self::Scale { to, .. } => Fate::Changed(to),
            Self::KvScale { .. } => Fate::Changed(Dtype::F32),
        }
    }
}
