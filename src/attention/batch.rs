//! A batch of sequences of different lengths.

use super::AttentionError;
use super::error::check_len;
use crate::cache::{CacheGeometry, check_block};
use crate::device::SequenceSpan;

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

impl Batch<'_> {
    /// The sequences that have query tokens, after a check of all. `tokens` is how many there are in all.
    pub(super) fn sequences(&self, tokens: usize) -> Result<impl Iterator<Item = Sequence>, AttentionError> {
        self.check(tokens)?;
        let each = self.query_start_loc.windows(2).zip(self.seq_lens).enumerate();
        Ok(each
            .map(|(number, (bounds, len))| Sequence {
                number,
                first_token: bounds[0],
                tokens: bounds[1] - bounds[0],
                len: *len,
            })
            .filter(|sequence| sequence.tokens > 0))
    }

    /// Checks that the batch does not contradict itself, but for its block table. `tokens` is how many query tokens
    /// there are in all.
    ///
    /// # Errors
    /// Starts or lengths do not fit each other, or `tokens`.
    pub fn check(&self, tokens: usize) -> Result<(), AttentionError> {
        let count = self.seq_lens.len();
        check_len("query_start_loc", self.query_start_loc.len(), count + 1)?;
        let ends = (self.query_start_loc[0], self.query_start_loc[count]);
        if ends != (0, tokens) {
            let reason =
                format!("query_start_loc runs from {} to {}; it must run from 0 to {tokens}", ends.0, ends.1);
            return Err(AttentionError::Batch { sequence: count.saturating_sub(1), reason });
        }
        for (sequence, (bounds, len)) in self.query_start_loc.windows(2).zip(self.seq_lens).enumerate() {
            let fail = |reason| AttentionError::Batch { sequence, reason };
            let tokens = bounds[1]
                .checked_sub(bounds[0])
                .ok_or_else(|| fail(format!("query_start_loc falls from {} to {}", bounds[0], bounds[1])))?;
            if *len < tokens {
                return Err(fail(format!("{tokens} query tokens of {len} in all")));
            }
        }
        Ok(())
    }

    /// Appends the blocks that hold the first `tokens` tokens of a sequence, checked.
    pub(super) fn push_blocks(
        &self,
        sequence: &Sequence,
        tokens: usize,
        geometry: CacheGeometry,
        blocks: &mut Vec<usize>,
    ) -> Result<(), AttentionError> {
        let (entries, sequences) = (self.block_table.len(), self.seq_lens.len());
        let (max_blocks, size) = (entries / sequences, geometry.block_size_tokens());
        let needed = tokens.div_ceil(size);
        if max_blocks * sequences != entries {
            let reason =
                format!("a block table of {entries} entries is not equal rows for {sequences} sequences");
            return Err(AttentionError::Batch { sequence: sequence.number, reason });
        }
        if needed > max_blocks {
            let reason = format!(
                "{tokens} cached tokens need {needed} blocks of {size}; the block table has {max_blocks} a sequence"
            );
            return Err(AttentionError::Batch { sequence: sequence.number, reason });
        }
        for block in &self.block_table[sequence.number * max_blocks..][..needed] {
            blocks.push(check_block(geometry.blocks(), *block)?);
        }
        Ok(())
    }

    /// The sequences that have query tokens, and the blocks that hold their tokens before them, after a check of all. Keys
    /// and values of each are tensors of their own. `geometry` is that of the cache, if there is one.
    pub(super) fn with_context(
        &self,
        tokens: usize,
        geometry: Option<CacheGeometry>,
    ) -> Result<(Vec<SequenceSpan>, Vec<usize>), AttentionError> {
        let (mut spans, mut blocks) = (Vec::new(), Vec::new());
        for sequence in self.sequences(tokens)? {
            let Sequence { first_token, tokens, len, .. } = sequence;
            spans.push(SequenceSpan { first_token, tokens, len, first_block: blocks.len(), first_row: 0 });
            match (sequence.context_tokens(), geometry) {
                (0, _) => {}
                (context_tokens, None) => {
                    return Err(AttentionError::NoCache { sequence: sequence.number, context_tokens });
                }
                (context_tokens, Some(geometry)) => {
                    self.push_blocks(&sequence, context_tokens, geometry, &mut blocks)?;
                }
            }
        }
        Ok((spans, blocks))
    }
}
