//! Attention of one sequence and one KV head: two products with a softmax between them.

use half::bf16;

use super::head_rows::HeadRows;
use super::products::Products;
use super::query::QueryRows;
use super::softmax::softmax;
use crate::device::{DeviceError, Modifiers, QueryScale};
use crate::fp8::{Encoder, Format, Quantizer, bf16_from_f32};
use crate::mme::{Elements, Matrix, Right};

/// Query tokens that are computed together: bounds the memory of their scores.
const TILE_TOKENS: usize = 64;

/// Keys or values, and what multiplies the product with them.
#[derive(Debug)]
pub(super) struct Side<'a> {
    pub(super) rows: HeadRows<'a>,
    pub(super) dequant: f32,
}

/// One task: the query heads of one KV head, for the query tokens of one sequence.
#[derive(Debug)]
pub(super) struct Attend<'a> {
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
    pub(super) key: Side<'a>,
    pub(super) value: Side<'a>,
    /// `quant` and `dequant` of the probabilities; `None` where they are bfloat16.
    pub(super) prob: Option<(f32, f32)>,
    pub(super) modifiers: &'a Modifiers<'a>,
}

impl Attend<'_> {
    /// `[tokens, group, value_dim]`, bfloat16 values.
    pub(super) fn run(&self, products: &Products) -> Result<Vec<f32>, DeviceError> {
        let mut out = Vec::with_capacity(self.tokens * self.group * self.value.rows.dim);
        for first in (0..self.tokens).step_by(TILE_TOKENS) {
            self.tile(products, first, TILE_TOKENS.min(self.tokens - first), &mut out)?;
        }
        Ok(out)
    }

    /// Puts the rows of [`run`](Self::run) into `[.., num_heads, value_dim]`.
    pub(super) fn scatter(&self, rows: &[f32], out: &mut [f32]) {
        let width = self.group * self.value.rows.dim;
        for (token, row) in rows.chunks_exact(width).enumerate() {
            let at = ((self.first_token + token) * self.num_heads + self.kv_head * self.group)
                * self.value.rows.dim;
            out[at..at + width].copy_from_slice(row);
        }
    }

    /// The position of a query token.
    fn position(&self, token: usize) -> usize {
        self.context_tokens - self.tokens + token
    }

    fn tile(
        &self,
        products: &Products,
        first: usize,
        tokens: usize,
        out: &mut Vec<f32>,
    ) -> Result<(), DeviceError> {
        let rows = tokens * self.group;
        let query = self.query(products, first, tokens)?;
        // Keys behind the last query of the tile are seen by none of it. Leaving them out changes no bit: their
        // probabilities are zero, and a zero adds nothing to an accumulator.
        let keys = self.position(first + tokens - 1) + 1;
        let mut scores = vec![0.0; rows * keys];
        products.multiply(query.matrix()?, Right::NByK(&self.key.rows.matrices(keys)?), &mut scores)?;
        let mut sums = Vec::with_capacity(rows);
        for (number, row) in scores.chunks_exact_mut(keys).enumerate() {
            let (query, key) = (query.dequant[number], self.key.dequant);
            row.iter_mut().for_each(|score| *score = bf16_from_f32(*score * query * key).to_f32());
            let (token, head) =
                (first + number / self.group, self.kv_head * self.group + number % self.group);
            sums.push(softmax(self.modifiers, head, self.position(token), row));
        }
        let dim = self.value.rows.dim;
        let mut accumulators = vec![0.0; rows * dim];
        let value = self.value.rows.matrices(keys)?;
        let dequant = match self.prob {
            Some((quant, dequant)) => {
                let mut codes = vec![0; scores.len()];
                let generation = products.generation();
                Quantizer::new(Encoder::kv_cache(generation), quant)?.quant_f32(&scores, &mut codes)?;
                let prob = Matrix::new(Elements::Fp8(&codes, Format::kv_cache(generation)), rows, keys)?;
                products.multiply(prob, Right::KByN(&value), &mut accumulators)?;
                dequant
            }
            None => {
                let rounded: Vec<bf16> = scores.iter().map(|p| bf16_from_f32(*p)).collect();
                let prob = Matrix::new(Elements::Bf16(&rounded), rows, keys)?;
                products.multiply(prob, Right::KByN(&value), &mut accumulators)?;
                1.0
            }
        };
        for (row, sum) in accumulators.chunks_exact(dim).zip(&sums) {
            out.extend(row.iter().map(|acc| {
                let product = bf16_from_f32(*acc * dequant * self.value.dequant).to_f32();
                bf16_from_f32(product / sum).to_f32()
            }));
        }
        Ok(())
    }

    /// The query rows of a tile, `[tokens, group, dim]`.
    fn query(&self, products: &Products, first: usize, tokens: usize) -> Result<QueryRows, DeviceError> {
        let width = self.group * self.dim;
        let mut values = Vec::with_capacity(tokens * width);
        for token in first..first + tokens {
            let at = ((self.first_token + token) * self.num_heads + self.kv_head * self.group) * self.dim;
            values.extend_from_slice(&self.q[at..at + width]);
        }
        QueryRows::new(products.generation(), values, self.dim, self.kv_head, self.query_scale)
    }
}
