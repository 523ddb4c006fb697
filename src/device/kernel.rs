//! What a kernel is told: operands, scales, and what changes the scores.
//!
//! These are plain descriptions that the layers above have checked; a device need not check them again.

use half::bf16;

use super::plane::PlaneLayout;
use crate::{HeadScales, ScaleFactors};

/// How a query is quantized before an FP8 product.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryScale {
    /// By a scale of the checkpoint: its factors, by KV head. `dequant` multiplies the product.
    Static(ScaleFactors),
    /// By each token's and head's own amax over the device's range.
    Dynamic,
}

/// What is done to the scores between product and softmax. Applied in this order: `softmax_scale`, soft cap, ALiBi,
/// mask, sinks.
#[derive(Debug, Clone, Copy)]
pub struct Modifiers<'a> {
    /// Multiplies the product.
    pub softmax_scale: f32,
    /// `cap * tanh(score / cap)`.
    pub logits_soft_cap: Option<f32>,
    /// By query head: `slope * (key position - query position)` is added.
    pub alibi_slopes: Option<&'a [f32]>,
    /// A query sees itself and this many keys less one before it.
    pub sliding_window: Option<usize>,
    /// By query head: a score that takes part in the softmax and has no value.
    pub sinks: Option<&'a [f32]>,
}

/// Where the values of a decode are.
#[derive(Debug)]
pub enum Values<'a, P> {
    /// A plane of their own.
    Plane {
        /// Its layout.
        layout: &'a PlaneLayout,
        /// Its memory.
        plane: &'a P,
        /// Multiplies the second product, by KV head.
        dequant: &'a HeadScales,
    },
    /// The first elements of each row of the key plane: the latent of MLA, without its rope part.
    KeyPrefix {
        /// How many elements.
        dim: usize,
    },
}

/// One sequence of a decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeSequence {
    /// The first row of the query that is its.
    pub first_token: usize,
    /// Its query tokens, in consecutive rows.
    pub tokens: usize,
    /// Tokens in the cache, the query tokens included; the last query token is the last of them.
    pub context_tokens: usize,
    /// Where in [`DecodeKernel::blocks`] the blocks that hold them start: as many as they need, in order.
    pub first_block: usize,
}

/// Attention of several sequences over cache planes.
#[derive(Debug)]
pub struct DecodeKernel<'a, P> {
    /// `[tokens, num_heads, dim]`, bfloat16.
    pub q: &'a [bf16],
    /// Query heads.
    pub num_heads: usize,
    /// The layout of the key plane.
    pub key_layout: &'a PlaneLayout,
    /// The key plane.
    pub key: &'a P,
    /// Multiplies the first product, by KV head.
    pub key_dequant: &'a HeadScales,
    /// Where the values are.
    pub values: Values<'a, P>,
    /// How the query is quantized; not used where the plane is not FP8.
    pub query_scale: &'a QueryScale,
    /// The factors of the probabilities.
    pub prob: ScaleFactors<f32>,
    /// What is done to the scores.
    pub modifiers: Modifiers<'a>,
    /// The sequences.
    pub sequences: &'a [DecodeSequence],
    /// The blocks of all sequences, each at least once; the same in all planes.
    pub blocks: &'a [usize],
}

impl<'a, P> DecodeKernel<'a, P> {
    /// The blocks of one of the sequences.
    #[must_use]
    pub fn blocks_of(&self, sequence: &DecodeSequence) -> &'a [usize] {
        let count = sequence.context_tokens.div_ceil(self.key_layout.block_size_tokens);
        &self.blocks[sequence.first_block..][..count]
    }

    /// Elements of a value.
    #[must_use]
    pub fn value_dim(&self) -> usize {
        match &self.values {
            Values::Plane { layout, .. } => layout.dim,
            Values::KeyPrefix { dim } => *dim,
        }
    }
}

/// A bfloat16 matrix product for each head: `out[row][head] = weights[head] * rows[row][head]`, `[rows, heads, n]`.
#[derive(Debug, Clone, Copy)]
pub struct ProjectKernel<'a> {
    /// `[rows, heads, k]`.
    pub rows: &'a [bf16],
    /// `[heads, n, k]`.
    pub weights: &'a [bf16],
    /// Heads, each with a weight of its own.
    pub heads: usize,
    /// Elements of a head's row, and of a row of its weight.
    pub k: usize,
}

impl ProjectKernel<'_> {
    /// How many rows there are.
    #[must_use]
    pub const fn num_rows(&self) -> usize {
        self.rows.len() / (self.heads * self.k)
    }

    /// Elements of a head's result: `n`.
    #[must_use]
    pub const fn out_dim(&self) -> usize {
        self.weights.len() / (self.heads * self.k)
    }
}

/// Attention of one sequence over keys and values given as bfloat16. Key `j` stands at position `j`, and query `i` at
/// position `keys - queries + i`: the last query is the last key.
#[derive(Debug)]
pub struct PrefillKernel<'a> {
    /// `[queries, num_heads, dim]`.
    pub q: &'a [bf16],
    /// `[keys, num_kv_heads, dim]`.
    pub k: &'a [bf16],
    /// `[keys, num_kv_heads, value_dim]`.
    pub v: &'a [bf16],
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads.
    pub num_kv_heads: usize,
    /// Elements of a query and of a key.
    pub dim: usize,
    /// Elements of a value.
    pub value_dim: usize,
    /// Where q, k and v are quantized: their scales. `None` for bfloat16 products.
    pub fp8: Option<Fp8Prefill<'a>>,
    /// What is done to the scores.
    pub modifiers: Modifiers<'a>,
}

/// The scales of a prefill that is computed in FP8.
#[derive(Debug, Clone, Copy)]
pub struct Fp8Prefill<'a> {
    /// How the query is quantized.
    pub query_scale: &'a QueryScale,
    /// The factors of the key, by KV head.
    pub key: &'a ScaleFactors,
    /// The factors of the value, by KV head.
    pub value: &'a ScaleFactors,
    /// The factors of the probabilities.
    pub prob: ScaleFactors<f32>,
}
