//! Blocks on their way to another device, another process, or the host's memory.

use crate::Generation;
use crate::device::StorageDtype;

/// A block of a cache with all that its bytes mean. A cache takes it only if its own generation, storage type, shape
/// and scales are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockImage {
    /// The generation whose arithmetic stored it.
    pub generation: Generation,
    /// Hash of storage type, shape and scales: equal where the same bytes mean the same values. Also a part of the key
    /// under which a prefix cache may share the block.
    pub fingerprint: u64,
    /// Key and value, or the latent.
    pub planes: Vec<PlaneImage>,
}

/// The bytes of one plane of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaneImage {
    /// How elements are stored.
    pub dtype: StorageDtype,
    /// Tokens of the block.
    pub block_size_tokens: usize,
    /// Heads of a token.
    pub heads: usize,
    /// Elements of a head.
    pub dim: usize,
    /// The stored bytes, little endian, `[block_size_tokens, heads, dim]`.
    pub bytes: Vec<u8>,
}
