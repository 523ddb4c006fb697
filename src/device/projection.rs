//! Matrix products of a layer's projections, as a device is asked for them.

use half::bf16;

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
