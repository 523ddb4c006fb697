//! Attention as a device is asked for it: queries, what they see, and what changes the scores.
//!
//! These are plain descriptions that the layers above have checked; a device need not check them again.

use half::bf16;

use super::plane::Plane;
use super::shape::MhaShape;
use crate::{HeadScales, ScaleFactors};

/// How a query is quantized before an FP8 product.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryScale {
    /// By a scale of the checkpoint, by KV head: its multiplier into FP8, and that of the product.
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

/// One sequence of a problem. Its tokens stand at positions from 0 on, and its query tokens are the last of them; a query
/// sees the keys up to its own position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceSpan {
    /// The row of the query that its first query token has.
    pub first_token: usize,
    /// Its query tokens, in consecutive rows.
    pub tokens: usize,
    /// Its tokens in all, the query tokens included.
    pub len: usize,
    /// Where in [`PlanePair::blocks`] the blocks that hold its tokens start: as many as they need, in order.
    pub first_block: usize,
    /// The row of the tensors of keys and values that its first token there has.
    pub first_row: usize,
}

impl SequenceSpan {
    /// Tokens before the query tokens.
    #[must_use]
    pub const fn context_tokens(&self) -> usize {
        self.len - self.tokens
    }

    /// The position of a query token.
    #[must_use]
    pub const fn position(&self, token: usize) -> usize {
        self.len - self.tokens + token
    }
}

/// Keys and values in cache planes.
#[derive(Debug)]
pub struct PlanePair<'a, P> {
    /// The plane of the keys.
    pub key: &'a P,
    /// The plane of the values, of as many blocks of the same size: the first `v_head_dim` elements of each head. It may
    /// be the plane of the keys, as for the latents of MLA.
    pub value: &'a P,
    /// The blocks of all sequences, each at least once; the same in both planes.
    pub blocks: &'a [usize],
}

impl<'a, P: Plane> PlanePair<'a, P> {
    /// The blocks that hold the first `tokens` tokens of a sequence.
    #[must_use]
    pub fn blocks_of(&self, sequence: &SequenceSpan, tokens: usize) -> &'a [usize] {
        let count = tokens.div_ceil(self.key.layout().block_size_tokens);
        &self.blocks[sequence.first_block..][..count]
    }

    /// The slots of the tokens before a sequence's query tokens.
    #[must_use]
    pub fn context_slots(&self, sequence: &SequenceSpan) -> Vec<usize> {
        let (tokens, size) = (sequence.context_tokens(), self.key.layout().block_size_tokens);
        let blocks = self.blocks_of(sequence, tokens);
        (0..tokens).map(|token| blocks[token / size] * size + token % size).collect()
    }
}

/// Keys and values as they were computed.
#[derive(Debug, Clone, Copy)]
pub struct TensorPair<'a> {
    /// `[tokens, num_kv_heads, head_dim]`.
    pub k: &'a [bf16],
    /// `[tokens, num_kv_heads, v_head_dim]`.
    pub v: &'a [bf16],
}

/// Where the keys and values of a problem are.
#[derive(Debug)]
pub enum KeysAndValues<'a, P> {
    /// All tokens are in cache planes: a decode. The products take them as they are stored.
    Planes(PlanePair<'a, P>),
    /// All tokens are in tensors: a prefill.
    Tensors(TensorPair<'a>),
    /// The query tokens are in tensors, and those before them in cache planes, which are read to bfloat16: a prefill that
    /// goes on. Rows of the planes are as long as those of the tensors.
    ContextAndTensors {
        /// The tokens before the query tokens.
        context: PlanePair<'a, P>,
        /// The query tokens.
        new: TensorPair<'a>,
    },
}

/// What FP8 products need beside the scales of keys and values.
#[derive(Debug, Clone, Copy)]
pub struct Fp8Products<'a> {
    /// How the query is quantized.
    pub query_scale: &'a QueryScale,
    /// The factors of the probabilities.
    pub prob: ScaleFactors<f32>,
}

/// Attention of the query tokens of several sequences, each over the tokens of its own. The results are
/// `[tokens, num_heads, v_head_dim]`, bfloat16 values in float32.
#[derive(Debug)]
pub struct AttentionProblem<'a, P> {
    /// `[tokens, num_heads, head_dim]`.
    pub q: &'a [bf16],
    /// The sizes of all operands.
    pub shape: MhaShape,
    /// Where the keys and values are.
    pub operands: KeysAndValues<'a, P>,
    /// The factors of the keys, by KV head: planes are read with them, tensors quantized, and FP8 products multiplied.
    pub key_factors: &'a ScaleFactors,
    /// The factors of the values, by KV head.
    pub value_factors: &'a ScaleFactors,
    /// `None` for bfloat16 products. It is there exactly where the products take FP8 planes as they are stored, or tensors
    /// are to be quantized.
    pub fp8: Option<Fp8Products<'a>>,
    /// What is done to the scores.
    pub modifiers: Modifiers<'a>,
    /// The sequences.
    pub sequences: &'a [SequenceSpan],
}

impl<'a, P> AttentionProblem<'a, P> {
    /// This problem over other operands.
    #[must_use]
    pub fn over<'b, Q>(
        &'b self,
        operands: KeysAndValues<'b, Q>,
        sequences: &'b [SequenceSpan],
    ) -> AttentionProblem<'b, Q> {
        let Self { q, shape, key_factors, value_factors, fp8, modifiers, .. } = *self;
        AttentionProblem { q, shape, operands, key_factors, value_factors, fp8, modifiers, sequences }
    }

    /// What the first product is multiplied by for its keys, and the second for its values: 1.0 where they are bfloat16.
    pub(super) fn product_dequants(&self) -> (&'a HeadScales, &'a HeadScales) {
        static ONE: HeadScales = HeadScales::One(1.0);
        match self.fp8 {
            Some(_) => (&self.key_factors.dequant, &self.value_factors.dequant),
            None => (&ONE, &ONE),
        }
    }
}
