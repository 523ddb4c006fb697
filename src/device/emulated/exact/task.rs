//! Attention of one sequence and one KV head: two products with a softmax between them.

use half::bf16;

use super::super::common::operands::EmulatedProblem;
use super::head_rows::HeadRows;
use super::softmax::softmax;
use super::workspace::Workspace;
use crate::ScaleFactors;
use crate::device::{DeviceError, Fp8Products, SequenceSpan};
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
    pub(super) problem: &'a EmulatedProblem<'a>,
    pub(super) sequence: &'a SequenceSpan,
    pub(super) kv_head: usize,
    pub(super) key: HeadOperand<'a>,
    pub(super) value: HeadOperand<'a>,
}

impl HeadTask<'_> {
    /// Query heads of a KV head.
    fn group(&self) -> usize {
        self.problem.shape.group()
    }

    /// The number of a token's first row of this KV head among the query's rows.
    fn row_number(&self, token: usize) -> usize {
        (self.sequence.first_token + token) * self.problem.shape.num_heads + self.kv_head * self.group()
    }

    /// `[tokens, group, value_dim]`, bfloat16 values, into the workspace.
    pub(super) fn run(&self, gemm: Gemm, workspace: &mut Workspace) -> Result<(), DeviceError> {
        workspace.out.clear();
        for first in (0..self.sequence.tokens).step_by(TILE_TOKENS) {
            self.tile(gemm, first, TILE_TOKENS.min(self.sequence.tokens - first), workspace)?;
        }
        Ok(())
    }

    /// Puts the rows of [`run`](Self::run) into `[.., num_heads, value_dim]`.
    pub(super) fn scatter(&self, rows: &[f32], out: &mut [f32]) {
        let dim = self.value.rows.dim();
        let width = self.group() * dim;
        for (token, row) in rows.chunks_exact(width).enumerate() {
            out[self.row_number(token) * dim..][..width].copy_from_slice(row);
        }
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
        let (dim, scale) = (self.problem.shape.head_dim, self.problem.fp8.map(|fp8| fp8.query_scale));
        workspace.query.set(gemm.generation(), rows, dim, self.kv_head, scale)?;
        // Keys behind the last query of the tile are seen by none of it. Leaving them out changes no bit where values are
        // finite: their probabilities are zero, and a zero adds nothing to an accumulator. A value of Inf or NaN, whose
        // product with zero is NaN, does not come from a key that is left out.
        let keys = self.sequence.position(first + tokens - 1) + 1;
        self.multiply_keys(gemm, tokens * self.group(), keys, workspace)?;
        self.take_softmax(first, keys, workspace);
        self.multiply_values(gemm, tokens * self.group(), keys, workspace)
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
        let (Workspace { query, scores, sums, .. }, group) = (workspace, self.group());
        sums.clear();
        for (number, row) in scores.chunks_exact_mut(keys).enumerate() {
            let (query, key) = (query.dequant[number], self.key.dequant);
            row.iter_mut().for_each(|score| *score = bf16_from_f32(*score * query * key).to_f32());
            let (token, head) = (first + number / group, self.kv_head * group + number % group);
            sums.push(softmax(&self.problem.modifiers, head, self.sequence.position(token), row));
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
        let (prob, dequant) = match self.problem.fp8 {
            Some(Fp8Products { prob: ScaleFactors { quant, dequant }, .. }) => {
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
        let dim = self.problem.shape.head_dim;
        (first..first + tokens)
            .map(move |token| &self.problem.q[self.row_number(token) * dim..][..self.group() * dim])
    }
}
