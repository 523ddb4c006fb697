//! One entry of a sidecar file, and the rank that it is read for.

use crate::checkpoint::scale_name::Role;

/// Where a number of a sidecar file comes from and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SidecarNumber {
    /// A dequantization factor, like a scale tensor's.
    Scale(f64),
    /// The largest magnitude that was measured; its scale depends on the range that it is divided by.
    Amax(f64),
}

/// One entry of a sidecar file.
#[derive(Debug, Clone, PartialEq)]
pub struct SidecarScale {
    /// The file and the key in it, as messages and reports name it.
    pub name: String,
    /// The layer, counted from the model's first.
    pub layer: usize,
    /// `K`, `V` or `Kv`.
    pub role: Role,
    /// The number.
    pub number: SidecarNumber,
}

/// The tensor-parallel rank to read for, where files hold one entry a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorParallel {
    /// The number of ranks.
    pub size: usize,
    /// This rank, below `size`.
    pub rank: usize,
}

impl Default for TensorParallel {
    fn default() -> Self {
        Self { size: 1, rank: 0 }
    }
}

/// A JSON number, or one of Python's constants.
pub(super) fn number(value: &serde_json::Value) -> Option<f64> {
    match value {
        serde_json::Value::Number(n) => n.as_f64(),
        serde_json::Value::String(s) => match s.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}
