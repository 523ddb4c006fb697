//! Memory of a device's attention that the next call uses again.

use half::bf16;

/// Buffers for keys and values that a device makes of a problem's. One may serve any problems, one after the other.
#[derive(Debug, Default)]
pub struct AttentionWorkspace {
    /// Context that was read and new tokens behind it: keys, then values.
    pub(super) joined: [Vec<bf16>; 2],
    /// Codes of tensors that were quantized: keys, then values.
    pub(super) codes: [Vec<u8>; 2],
}

impl AttentionWorkspace {
    /// The memory that it holds.
    pub(crate) fn bytes(&self) -> usize {
        let words: usize = self.joined.iter().map(Vec::capacity).sum();
        let codes: usize = self.codes.iter().map(Vec::capacity).sum();
        words * size_of::<bf16>() + codes
    }
}
