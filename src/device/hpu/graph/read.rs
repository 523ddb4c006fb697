//! Reading rows out of a cache plane.

use super::dtype::{Dtype, Fp8View};
use super::params::Params;
use super::scale_shape::ScaleShape;
use super::spec::GraphSpec;
use crate::device::PlaneLayout;

/// Gives `out [rows, heads, dim]`, bfloat16: the codes at `slots [rows]` of `cache [slots, heads * dim]` times `dequant`.
pub(crate) fn read_graph(layout: &PlaneLayout, rows: usize, scale: ScaleShape, view: Fp8View) -> GraphSpec {
    let (heads, dim) = (layout.heads, layout.dim);
    let mut graph = GraphSpec::new("read");
    let cache = graph.input("cache", view.stored(layout.dtype), &[layout.slots(), layout.row()]);
    let slots = graph.input("slots", Dtype::I32, &[rows]);
    let dequant = graph.input("dequant", Dtype::F32, &scale.for_heads(heads));
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

/// Gives `out [rows, row]`: rows of `cache [total, row]` at `rows [rows]` as they are stored.
pub(crate) fn fetch_graph(dtype: Dtype, (total, row): (usize, usize), rows: usize) -> GraphSpec {
    let mut graph = GraphSpec::new("fetch");
    let cache = graph.input("cache", dtype, &[total, row]);
    let indices = graph.input("rows", Dtype::I32, &[rows]);
    let out = graph.gather_rows(cache, indices);
    graph.output(out, "out");
    graph
}
