//! The machine that nodes run on.

use gaudi_numerics::{Generation, Mode};

/// What the graph runs on, and how it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) generation: Generation,
    pub(crate) mode: Mode,
    /// The graph's inference attribute.
    pub(crate) is_inference: bool,
    /// The graph's quantization attribute.
    pub(crate) is_quantized: bool,
    /// Whether gather, index copy and scatter exist for e4m3 elements; the documented lists have none.
    pub(crate) has_hf8_kernels: bool,
    /// Whether gather and index copy of e4m3 elements lose the last bit of the mantissa.
    pub(crate) are_hf8_kernels_lossy: bool,
}
