//! Copying whole blocks within a plane.

use super::dtype::Dtype;
use super::spec::GraphSpec;
use crate::device::PlaneLayout;

/// Copies blocks `from [pairs]` of `cache [blocks, bytes]` to blocks `to [pairs]`: all are read before any is written.
pub(crate) fn copy_blocks_graph(layout: &PlaneLayout, pairs: usize) -> GraphSpec {
    let mut graph = GraphSpec::new("copy_blocks");
    let cache = graph.input("cache", Dtype::I8, &[layout.blocks(), layout.block_bytes()]);
    let from = graph.input("from", Dtype::I32, &[pairs]);
    let to = graph.input("to", Dtype::I32, &[pairs]);
    let blocks = graph.gather_rows(cache, from);
    graph.index_copy_in_place("cache_out", cache, to, blocks);
    graph
}
