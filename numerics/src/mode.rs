//! The accumulation of products: exact or fast.

use std::fmt;

/// How products are accumulated. What is quantized, and every code in a cache, is the same in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The matrix engine's own order, alignment and truncation, bit for bit.
    Exact,
    /// Float accumulation.
    Fast,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Fast => "fast",
        })
    }
}
