//! Attention of one sequence and one KV head: two products with a softmax between them.

use half::bf16;

use super::head_rows::HeadRows;
use super::softmax::softmax;
use super::workspace::Workspace;
use crate::ScaleFactors;
use crate::device::{DeviceError, Modifiers, QueryScale};
use crate::fp8::{Encoder, Format, Quantizer, bf16_from_f32};
use crate::mme::{Elements, Gemm, Matrix, MatrixMut, MmeError, Product, Right, emptied};

/// `a * b` as float32 accumulators, `[m, n]`.
fn multiply(gemm: Gemm, a: Matrix<'_>, b: Right<'_>, out: &mut [f32]) -> Result<(), MmeError> {
    let (rows, (_, cols)) = (a.rows(), b.shape()?);
    gemm.exact_batch(&mut [Product { a, b, out: MatrixMut::new(out, rows, cols)? }])
}

/// Query tokens that are computed together: bounds the memory of their scores.
const TILE_TOKENS: usize = 64;

/// Keys or values, and what multiplies the product with them.
#[derive(Debug)]
pub(super) struct HeadOperand<'a> {
    pub(super) rows: HeadRows<'a>,
    pub(super) dequant: f32,
}

/// A task: the query heads of one KV head, for the query tokens of one sequence.
#[derive(Debug)]
pub(super) struct HeadTask<'a> {
    /// `[.., num_heads, dim]`, of all sequences.
    pub(super) q: &'a [bf16],
    pub(super) dim: usize,
    pub(super) num_heads: usize,
    /// Query heads of a KV head.
    pub(super) group: usize,
    pub(super) kv_head: usize,
    pub(super) first_token: usize,
    pub(super) tokens: usize,
    /// Tokens that the last query token sees, itself included.
    pub(super) context_tokens: usize,
    pub(super) query_scale: Option<&'a QueryScale>,
    pub(super) key: HeadOperand<'a>,
    pub(super) value: HeadOperand<'a>,
    /// `quant` and `dequant` of the probabilities; `None` where they are bfloat16.
    pub(super) prob: Option<ScaleFactors<f32>>,
    pub(super) modifiers: &'a Modifiers<'a>,
}

impl HeadTask<'_> {
    /// `[tokens, group, value_dim]`, bfloat16 values, into the workspace.
    pub(super) fn run(&self, gemm: Gemm, workspace: &mut Workspace) -> Result<(), DeviceError> {
        workspace.out.clear();
        for first in (0..self.tokens).step_by(TILE_TOKENS) {
            self.tile(gemm, first, TILE_TOKENS.min(self.tokens - first), workspace)?;
        }
        Ok(())
    }

    /// Puts the rows of [`run`](Self::run) into `[.., num_heads, value_dim]`.
    pub(super) fn scatter(&self, rows: &[f32], out: &mut [f32]) {
        let width = self.group * self.value.rows.dim();
        for (token, row) in rows.chunks_exact(width).enumerate() {
            let at = ((self.first_token + token) * self.num_heads + self.kv_head * self.group)
                * self.value.rows.dim();
            out[at..at + width].copy_from_slice(row);
        }
    }

    /// The position of a query token.
    fn position(&self, token: usize) -> usize {
        self.context_tokens - self.tokens + token
    }

    /// `tokens` query tokens from `first` on.
    fn tile(
        &self,
        gemm: Gemm,
        first: usize,
        tokens: usize,
        workspace: &mut Workspace,
    ) -> Result<(), DeviceError> {
        let rows = self.query_rows(first, tokens);
        workspace.query.set(gemm.generation(), rows, self.dim, self.kv_head, self.query_scale)?;
        // Keys behind the last query of the tile are seen by none of it. Leaving them out changes no bit where values are
        // finite: their probabilities are zero, and a zero adds nothing to an accumulator. A value of Inf or NaN, whose
        // product with zero is NaN, does not come from a key that is left out.
        let keys = self.position(first + tokens - 1) + 1;
        self.multiply_keys(gemm, tokens * self.group, keys, workspace)?;
        self.take_softmax(first, keys, workspace);
        self.multiply_values(gemm, tokens * self.group, keys, workspace)
    }

    /// The first product: accumulators of `[rows, keys]` scores.
    fn multiply_keys(
        &self,
        gemm: Gemm,
        rows: usize,
        keys: usize,
        workspace: &mut Workspace,
    ) -> Result<(), DeviceError> {
        let Workspace { query, scores, gathered, lists, .. } = workspace;
        scores.resize(rows * keys, 0.0);
        let mut matrices: Vec<Matrix<'_>> = std::mem::take(&mut lists.matrices);
        self.key.rows.push_matrices(keys, gathered, &mut matrices)?;
        multiply(gemm, query.matrix()?, Right::NByK(&matrices), scores)?;
        lists.matrices = emptied(matrices);
        Ok(())
    }

    /// Scores from their accumulators, and from them probabilities, whose sums are kept.
    fn take_softmax(&self, first: usize, keys: usize, workspace: &mut Workspace) {
        let Workspace { query, scores, sums, .. } = workspace;
        sums.clear();
        for (number, row) in scores.chunks_exact_mut(keys).enumerate() {
            let (query, key) = (query.dequant[number], self.key.dequant);
            row.iter_mut().for_each(|score| *score = bf16_from_f32(*score * query * key).to_f32());
            let (token, head) =
                (first + number / self.group, self.kv_head * self.group + number % self.group);
            sums.push(softmax(self.modifiers, head, self.position(token), row));
        }
    }

    /// The second product over the sums of the probabilities: `[rows, value_dim]` results.
    fn multiply_values(
        &self,
        gemm: Gemm,
        rows: usize,
        keys: usize,
        workspace: &mut Workspace,
    ) -> Result<(), DeviceError> {
        let Workspace { scores, sums, prob_codes, prob_values, gathered, accumulators, out, lists, .. } =
            workspace;
        let (dim, generation) = (self.value.rows.dim(), gemm.generation());
        accumulators.resize(rows * dim, 0.0);
        let (prob, dequant) = match self.prob {
            Some(ScaleFactors { quant, dequant }) => {
                prob_codes.resize(scores.len(), 0);
                Quantizer::new(Encoder::kv_cache(generation), quant)?.quant_f32(scores, prob_codes)?;
                (Elements::Fp8(prob_codes, Format::kv_cache(generation)), dequant)
            }
            None => {
                prob_values.clear();
                prob_values.extend(scores.iter().map(|p| bf16_from_f32(*p)));
                (Elements::Bf16(prob_values), 1.0)
            }
        };
        let mut matrices: Vec<Matrix<'_>> = std::mem::take(&mut lists.matrices);
        self.value.rows.push_matrices(keys, gathered, &mut matrices)?;
        multiply(gemm, Matrix::new(prob, rows, keys)?, Right::KByN(&matrices), accumulators)?;
        lists.matrices = emptied(matrices);
        for (row, sum) in accumulators.chunks_exact(dim).zip(sums) {
            out.extend(row.iter().map(|acc| {
                let product = bf16_from_f32(*acc * dequant * self.value.dequant).to_f32();
                bf16_from_f32(product / *sum).to_f32()
            }));
        }
        Ok(())
    }

    /// The query rows of a tile, of all heads of a token at once.
    fn query_rows(&self, first: usize, tokens: usize) -> impl Iterator<Item = &[bf16]> {
        (first..first + tokens).map(|token| {
            let at = ((self.first_token + token) * self.num_heads + self.kv_head * self.group) * self.dim;
            &self.q[at..at + self.group * self.dim]
        })
    }
}
