//! A matrix product for each head.

use super::{Dtype, Graph, Params};

/// `out [heads, rows, n]`, bfloat16: `rows [heads, rows, k]` times `weights [heads, n, k]` transposed.
pub(in crate::device::hpu) fn graph(heads: usize, rows: usize, (n, k): (usize, usize)) -> Graph {
    let mut graph = Graph::new("project");
    let values = graph.input("rows", Dtype::Bf16, &[heads, rows, k]);
    let weights = graph.input("weights", Dtype::Bf16, &[heads, n, k]);
    let params = Params::gemm(false, true);
    let out = graph.node("batch_gemm", &[values, weights], params, Dtype::Bf16, &[heads, rows, n]);
    graph.output(out, "out");
    graph
}
