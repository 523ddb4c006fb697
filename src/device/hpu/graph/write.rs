//! Writing rows into a cache plane, in place.

use super::dtype::{Dtype, Fp8View};
use super::params::Params;
use super::scale_shape::ScaleShape;
use super::spec::GraphSpec;
use crate::device::{PlaneLayout, StorageDtype};

/// Puts `rows [rows, heads, dim]`, bfloat16, at `slots [rows]` of `cache [slots, heads * dim]`. An FP8 plane multiplies by
/// `quant`.
pub(crate) fn write_graph(layout: &PlaneLayout, rows: usize, scale: ScaleShape, view: Fp8View) -> GraphSpec {
    let (heads, dim, row) = (layout.heads, layout.dim, layout.row());
    let mut graph = GraphSpec::new("write");
    let stored = view.stored(layout.dtype);
    let cache = graph.input("cache", stored, &[layout.slots(), row]);
    let slots = graph.input("slots", Dtype::I32, &[rows]);
    let values = graph.input("rows", Dtype::Bf16, &[rows, heads, dim]);
    let values = match layout.dtype {
        StorageDtype::Fp8 => {
            let quant = graph.input("quant", Dtype::F32, &scale.for_heads(heads));
            let codes = graph.node(
                "convert_to_fp8_bf16",
                &[values, quant],
                Params::round_to_nearest(),
                Dtype::Fp8,
                &[rows, heads, dim],
            );
            graph.reinterpret(codes, stored)
        }
        StorageDtype::Bf16 => values,
        StorageDtype::F32 => graph.cast(values, Dtype::F32),
    };
    let source = graph.reshape(values, &[rows, row]);
    graph.index_copy_in_place("cache_out", cache, slots, source);
    graph
}
