//! A matrix product for each head.

use super::dtype::Dtype;
use super::params::Params;
use super::spec::GraphSpec;

/// Gives `out [heads, rows, n]`, bfloat16: `rows [heads, rows, k]` times `weights [heads, n, k]` transposed.
pub(crate) fn project_graph(heads: usize, rows: usize, (n, k): (usize, usize)) -> GraphSpec {
    let mut graph = GraphSpec::new("project");
    let values = graph.input("rows", Dtype::Bf16, &[heads, rows, k]);
    let weights = graph.input("weights", Dtype::Bf16, &[heads, n, k]);
    let params = Params::gemm(false, true);
    let out = graph.node("batch_gemm", &[values, weights], params, Dtype::Bf16, &[heads, rows, n]);
    graph.output(out, "out");
    graph
}
