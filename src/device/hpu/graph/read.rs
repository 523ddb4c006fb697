//! Rows out of a cache plane.

use super::{Dtype, Graph, Params};
use crate::device::PlaneLayout;
use crate::device::hpu::buckets::ScaleShape;
use crate::device::hpu::kernels::Fp8View;

/// `out [rows, heads, dim]`, bfloat16: the codes at `slots [rows]` of `cache [slots, heads * dim]` times `dequant`.
pub(in crate::device::hpu) fn graph(
    layout: &PlaneLayout,
    rows: usize,
    scale: ScaleShape,
    view: Fp8View,
) -> Graph {
    let (heads, dim) = (layout.heads, layout.dim);
    let mut graph = Graph::new("read");
    let cache = graph.input("cache", view.stored(layout.dtype), &[layout.slots(), layout.row()]);
    let slots = graph.input("slots", Dtype::I32, &[rows]);
    let dequant = graph.input("dequant", Dtype::F32, &scale.of_heads(heads));
    let gathered = graph.gather_rows(cache, slots);
    let codes = graph.reinterpret(gathered, Dtype::Fp8);
    let codes = graph.reshape(codes, &[rows, heads, dim]);
    let out = graph.node(
        "convert_from_fp8_bf16",
        &[codes, dequant],
        Params::none(),
        Dtype::Bf16,
        &[rows, heads, dim],
    );
    graph.output(out, "out");
    graph
}

/// `out [rows, row]`: rows of `cache [total, row]` at `rows [rows]` as they are stored.
pub(in crate::device::hpu) fn raw(dtype: Dtype, (total, row): (usize, usize), rows: usize) -> Graph {
    let mut graph = Graph::new("fetch");
    let cache = graph.input("cache", dtype, &[total, row]);
    let indices = graph.input("rows", Dtype::I32, &[rows]);
    let out = graph.gather_rows(cache, indices);
    graph.output(out, "out");
    graph
}
