//! Which values a scale cannot hold: those beyond its range, and those too small for it.

use half::bf16;

use crate::Generation;
use crate::fp8::{Encoder, Format, Fp8Error, Quantizer};

/// The range of a scale: which values lie beyond it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheRange {
    /// Without clipping, what lies beyond the largest value shows.
    open: Quantizer,
    max_code: u8,
}

impl CacheRange {
    /// The range of a cache that multiplies by `quant` on the way in.
    pub(crate) fn new(generation: Generation, quant: f32) -> Result<Self, Fp8Error> {
        let open = Encoder { clip: false, ..Encoder::kv_cache(generation) };
        Ok(Self { open: Quantizer::new(open, quant)?, max_code: Format::kv_cache(generation).max_code() })
    }

    /// Whether a value that was stored as `code` was clipped to it.
    pub(crate) fn is_saturated(&self, value: bf16, code: u8) -> bool {
        code & 0x7F == self.max_code && self.open.quant_one_bf16(value) & 0x7F > self.max_code
    }
}

/// Whether a value that was stored as `code` is lost for being small.
pub(crate) fn is_flushed(value: bf16, code: u8) -> bool {
    code & 0x7F == 0 && value != bf16::ZERO
}
