//! What one layer computes attention from.

use std::ops::Range;

use half::bf16;

/// Queries, keys and values of one layer's tokens, after rotary embedding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Activations {
    /// `q` is `[tokens, heads, head_dim]`, `k` and `v` `[tokens, kv_heads, ..]`.
    Mha { tokens: usize, q: Vec<bf16>, k: Vec<bf16>, v: Vec<bf16> },
    /// `q_nope` and `q_pe` are `[tokens, heads, ..]`, `kv_c` `[tokens, kv_lora_rank]`, `k_pe` `[tokens, rope_dim]`.
    Mla { tokens: usize, q_nope: Vec<bf16>, q_pe: Vec<bf16>, kv_c: Vec<bf16>, k_pe: Vec<bf16> },
}

impl Activations {
    /// The number of tokens.
    pub(crate) fn tokens(&self) -> usize {
        match self {
            Self::Mha { tokens, .. } | Self::Mla { tokens, .. } => *tokens,
        }
    }
}

/// The heads `taken` of a tensor `[rows, heads, dim]`, `[rows, taken.len(), dim]`.
pub(crate) fn take_heads<T: Copy>(values: &[T], heads: usize, dim: usize, taken: &Range<usize>) -> Vec<T> {
    let rows = values.chunks_exact(heads * dim);
    rows.flat_map(|row| &row[taken.start * dim..taken.end * dim]).copied().collect()
}
