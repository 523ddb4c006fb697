//! The batch of a decode step, checked once for all layers.

use super::{AttentionError, Batch};
use crate::cache::CacheGeometry;
use crate::device::SequenceSpan;

/// The sequences of a decode step and the blocks that hold their tokens, checked. One serves every layer whose cache has
/// as many blocks of the same size, however it stores them; the next step can be prepared in its place, in the memory
/// that it has.
#[derive(Debug, Clone, Default)]
pub struct DecodeBatch {
    /// `None` before it is prepared.
    geometry: Option<CacheGeometry>,
    tokens: usize,
    pub(super) sequences: Vec<SequenceSpan>,
    pub(super) blocks: Vec<usize>,
}

impl DecodeBatch {
    /// One that is not prepared: no cache takes it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the sequences of a step with `tokens` query tokens in all, for caches of this many blocks of this size. Their
    /// type of elements plays no part.
    ///
    /// # Errors
    /// The batch contradicts itself, has another number of query tokens or too few blocks, or a block id is outside such
    /// caches. It is not prepared then.
    pub fn prepare(
        &mut self,
        batch: &Batch<'_>,
        tokens: usize,
        geometry: CacheGeometry,
    ) -> Result<(), AttentionError> {
        self.geometry = None;
        self.sequences.clear();
        self.blocks.clear();
        for sequence in batch.sequences(tokens)? {
            self.sequences.push(SequenceSpan {
                first_token: sequence.first_token,
                tokens: sequence.tokens,
                len: sequence.len,
                first_block: self.blocks.len(),
                first_row: 0,
            });
            batch.push_blocks(&sequence, sequence.len, geometry, &mut self.blocks)?;
        }
        (self.geometry, self.tokens) = (Some(geometry), tokens);
        Ok(())
    }

    /// The query tokens of all sequences, after a check that the batch was prepared for caches like this one.
    pub(super) fn tokens_for(&self, cache: CacheGeometry) -> Result<usize, AttentionError> {
        let blocks = |geometry: CacheGeometry| (geometry.blocks(), geometry.block_size_tokens());
        match self.geometry {
            Some(geometry) if blocks(geometry) == blocks(cache) => Ok(self.tokens),
            prepared => {
                Err(AttentionError::OtherBlocks { prepared: prepared.map(blocks), cache: blocks(cache) })
            }
        }
    }
}
