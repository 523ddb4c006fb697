//! Whole blocks within a plane.

use super::{Dtype, Graph};
use crate::device::PlaneLayout;

/// Blocks `from [pairs]` of `cache [blocks, bytes]` to blocks `to [pairs]`: all are read before any is written.
pub(in crate::device::hpu) fn graph(layout: &PlaneLayout, pairs: usize) -> Graph {
    let mut graph = Graph::new("copy_blocks");
    let cache = graph.input("cache", Dtype::I8, &[layout.blocks(), layout.block_bytes()]);
    let from = graph.input("from", Dtype::I32, &[pairs]);
    let to = graph.input("to", Dtype::I32, &[pairs]);
    let blocks = graph.gather_rows(cache, from);
    graph.index_copy_in_place("cache_out", cache, to, blocks);
    graph
}
