//! A batch of sequences of different lengths.

use super::AttentionError;
use crate::cache::check_block;
use crate::device::{DecodeSequence, PlaneLayout};

/// Which query tokens belong to which sequence, how long each sequence is, and where its cached tokens are.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Sequence `i` has the query tokens `query_start_loc[i]..query_start_loc[i + 1]`; one more entry than sequences.
    pub query_start_loc: &'a [usize],
    /// The tokens of each sequence, its query tokens, which are the last ones, included.
    pub seq_lens: &'a [usize],
    /// `[sequences, max_blocks]`: the blocks that hold a sequence's tokens, in order. May be empty where nothing is
    /// read from a cache.
    pub block_table: &'a [i32],
}

/// One sequence of a checked batch.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    pub(super) number: usize,
    pub(super) first_token: usize,
    pub(super) tokens: usize,
    /// All tokens, the query tokens included.
    pub(super) len: usize,
}

impl Sequence {
    /// Tokens before the query.
    pub(super) fn context_tokens(&self) -> usize {
        self.len - self.tokens
    }
}

/// One sequence whose tokens are all in the cache, with the blocks that hold them.
pub(super) struct CachedSequence {
    sequence: Sequence,
    blocks: Vec<usize>,
}

impl CachedSequence {
    pub(super) fn for_kernel(&self) -> DecodeSequence<'_> {
        DecodeSequence {
            first_token: self.sequence.first_token,
            tokens: self.sequence.tokens,
            context_tokens: self.sequence.len,
            blocks: &self.blocks,
        }
    }
}

impl Batch<'_> {
    /// The sequences of a decode: [`sequences`](Self::sequences) with the blocks of all their tokens.
    pub(super) fn cached_sequences(
        &self,
        tokens: usize,
        layout: &PlaneLayout,
    ) -> Result<Vec<CachedSequence>, AttentionError> {
        let sequences = self.sequences(tokens)?.into_iter();
        sequences
            .map(|sequence| {
                let blocks = self.blocks(&sequence, sequence.len, layout)?;
                Ok(CachedSequence { sequence, blocks })
            })
            .collect()
    }

    /// The sequences that have query tokens. `tokens` is how many there are in all.
    pub(super) fn sequences(&self, tokens: usize) -> Result<Vec<Sequence>, AttentionError> {
        let count = self.seq_lens.len();
        super::error::check_len("query_start_loc", self.query_start_loc.len(), count + 1)?;
        let ends = (self.query_start_loc[0], self.query_start_loc[count]);
        if ends != (0, tokens) {
            let reason =
                format!("query_start_loc runs from {} to {}; it must run from 0 to {tokens}", ends.0, ends.1);
            return Err(AttentionError::Batch { sequence: count.saturating_sub(1), reason });
        }
        let mut sequences = Vec::with_capacity(count);
        for (number, (bounds, len)) in self.query_start_loc.windows(2).zip(self.seq_lens).enumerate() {
            let fail = |reason| AttentionError::Batch { sequence: number, reason };
            let tokens = bounds[1]
                .checked_sub(bounds[0])
                .ok_or_else(|| fail(format!("query_start_loc falls from {} to {}", bounds[0], bounds[1])))?;
            if *len < tokens {
                return Err(fail(format!("{tokens} query tokens of {len} in all")));
            }
            if tokens > 0 {
                sequences.push(Sequence { number, first_token: bounds[0], tokens, len: *len });
            }
        }
        Ok(sequences)
    }

    /// The blocks that hold the first `tokens` tokens of a sequence, checked.
    pub(super) fn blocks(
        &self,
        sequence: &Sequence,
        tokens: usize,
        layout: &PlaneLayout,
    ) -> Result<Vec<usize>, AttentionError> {
        let (entries, sequences) = (self.block_table.len(), self.seq_lens.len());
        let max_blocks = entries / sequences;
        let needed = tokens.div_ceil(layout.block_size_tokens);
        if max_blocks * sequences != entries {
            let reason =
                format!("a block table of {entries} entries is not equal rows for {sequences} sequences");
            return Err(AttentionError::Batch { sequence: sequence.number, reason });
        }
        if needed > max_blocks {
            let reason = format!(
                "{tokens} cached tokens need {needed} blocks of {}; the block table has {max_blocks} a sequence",
                layout.block_size_tokens
            );
            return Err(AttentionError::Batch { sequence: sequence.number, reason });
        }
        let row = &self.block_table[sequence.number * max_blocks..][..needed];
        Ok(row.iter().map(|block| check_block(layout, *block)).collect::<Result<_, _>>()?)
    }

    /// The slots of the first `tokens` tokens of a sequence.
    pub(super) fn slots(
        &self,
        sequence: &Sequence,
        tokens: usize,
        layout: &PlaneLayout,
    ) -> Result<Vec<usize>, AttentionError> {
        let (blocks, size) = (self.blocks(sequence, tokens, layout)?, layout.block_size_tokens);
        Ok((0..tokens).map(|token| blocks[token / size] * size + token % size).collect())
    }
}
