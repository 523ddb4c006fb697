//! Blocks and their size.

use super::CacheError;
use crate::device::{PlaneLayout, StorageDtype};

/// How many blocks a cache has, how large they are, and how elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheGeometry {
    num_blocks: usize,
    has_pad_block: bool,
    block_size_tokens: usize,
    dtype: StorageDtype,
}

impl CacheGeometry {
    /// `num_blocks` blocks of `block_size_tokens` tokens, a power of two from 16 to 256 (Gaudi uses 128). One more
    /// block, the pad block, takes the writes of padding rows.
    ///
    /// # Errors
    /// The block size is not allowed, or there are no blocks.
    pub fn new(num_blocks: usize, block_size_tokens: usize, dtype: StorageDtype) -> Result<Self, CacheError> {
        if !block_size_tokens.is_power_of_two() || !(16..=256).contains(&block_size_tokens) {
            return Err(CacheError::BlockSize(block_size_tokens));
        }
        if num_blocks == 0 {
            return Err(CacheError::Size { what: "num_blocks", value: num_blocks });
        }
        Ok(Self { num_blocks, has_pad_block: true, block_size_tokens, dtype })
    }

    /// This geometry without a pad block, for memory that an engine laid out. Padding rows have nowhere to go then: whoever
    /// writes leaves them out.
    #[must_use]
    pub const fn without_pad_block(self) -> Self {
        Self { has_pad_block: false, ..self }
    }

    /// Blocks that hold tokens.
    #[must_use]
    pub const fn num_blocks(&self) -> usize {
        self.num_blocks
    }

    /// All blocks, the pad block included where there is one.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.num_blocks + self.has_pad_block as usize
    }

    /// Tokens of a block.
    #[must_use]
    pub const fn block_size_tokens(&self) -> usize {
        self.block_size_tokens
    }

    /// How elements are stored.
    #[must_use]
    pub const fn dtype(&self) -> StorageDtype {
        self.dtype
    }

    /// The geometry of a plane.
    pub(super) const fn of(layout: &PlaneLayout) -> Self {
        let PlaneLayout { num_blocks, has_pad_block, block_size_tokens, dtype, .. } = *layout;
        Self { num_blocks, has_pad_block, block_size_tokens, dtype }
    }

    /// The layout of a plane of `[heads, dim]` rows.
    pub(super) fn plane(&self, heads: usize, dim: usize) -> Result<PlaneLayout, CacheError> {
        for (what, value) in [("heads", heads), ("dim", dim)] {
            if value == 0 {
                return Err(CacheError::Size { what, value });
            }
        }
        let layout = PlaneLayout {
            num_blocks: self.num_blocks,
            has_pad_block: self.has_pad_block,
            block_size_tokens: self.block_size_tokens,
            heads,
            dim,
            dtype: self.dtype,
        };
        match layout.bytes() {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(layout),
            _ => Err(CacheError::Size { what: "num_blocks", value: self.num_blocks }),
        }
    }
}
