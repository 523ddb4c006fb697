//! Attention over cache planes: two products with a softmax between them.
//!
//! Every float32 step of the rules in `docs/numerics.md` is one node, so that each rounds once. A graph has `batch`
//! entries: query tokens of one sequence, whose keys and values are gathered by row id. Rows and keys that only fill a
//! bucket up cannot be told from the outside: their ids name the zero row behind a plane, and no query sees them.

use super::{Dtype, Graph, Id, Params};
use crate::device::hpu::kernels::Fp8View;
use crate::device::{PlaneLayout, StorageDtype};

/// Everything that the structure and the shapes of the graph depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::device::hpu) struct Attend {
    pub(in crate::device::hpu) batch: usize,
    /// Query rows of an entry and KV head: tokens times the heads of a group.
    pub(in crate::device::hpu) rows: usize,
    /// Keys of an entry.
    pub(in crate::device::hpu) keys: usize,
    pub(in crate::device::hpu) key_layout: PlaneLayout,
    /// `None` where a value is the first elements of a key.
    pub(in crate::device::hpu) value_layout: Option<PlaneLayout>,
    pub(in crate::device::hpu) value_dim: usize,
    pub(in crate::device::hpu) has_soft_cap: bool,
    pub(in crate::device::hpu) has_alibi: bool,
    pub(in crate::device::hpu) has_window: bool,
    pub(in crate::device::hpu) has_sinks: bool,
    pub(in crate::device::hpu) view: Fp8View,
}

impl Attend {
    fn heads(&self) -> usize {
        self.key_layout.heads
    }

    fn is_fp8(&self) -> bool {
        self.key_layout.dtype == StorageDtype::Fp8
    }

    /// `[batch, heads, keys, dim]` of a plane, as the matrix engine takes it.
    fn gathered(&self, graph: &mut Graph, name: &str, layout: &PlaneLayout, ids: Id) -> Id {
        let (heads, dim) = (layout.heads, layout.dim);
        // One token more than the plane has: the zero row.
        let shape = [(layout.slots() + 1) * heads, dim];
        let plane = graph.input(name, self.view.stored(layout.dtype), &shape);
        let rows = graph.gather_rows(plane, ids);
        let rows = graph.reshape(rows, &[self.batch, heads, self.keys, dim]);
        match layout.dtype {
            StorageDtype::Fp8 => graph.reinterpret(rows, Dtype::Fp8),
            StorageDtype::Bf16 => rows,
            StorageDtype::F32 => graph.cast(rows, Dtype::Bf16),
        }
    }

    /// The value rounded to bfloat16, in float32.
    fn rounded(graph: &mut Graph, value: Id) -> Id {
        let narrow = graph.cast(value, Dtype::Bf16);
        graph.cast(narrow, Dtype::F32)
    }

    /// Keys that are not seen become `other`, a single element.
    fn seen(graph: &mut Graph, seen: Id, before: Option<Id>, values: Id, other: Id) -> Id {
        let values = graph.elementwise("where", Dtype::F32, &[seen, values, other]);
        before.map_or(values, |before| graph.elementwise("where", Dtype::F32, &[before, other, values]))
    }

    /// The graph. Its operands:
    ///
    /// - `q [batch, heads, rows, dim]`, `q_quant` and `q_dequant [batch, heads, rows, 1]`,
    /// - `key`, `value`: planes with a zero row behind them; `ids [batch * heads * keys]` names their rows by head,
    /// - `key_dequant`, `value_dequant [1, heads, 1, 1]`, `prob_quant`, `prob_dequant`, `softmax_scale`, `cap`,
    ///   `lowest` and `zero [1, 1, 1, 1]`,
    /// - `key_position [1, 1, 1, keys]`, `position`, `end` and `first [batch, 1, rows, 1]`: a row sees the keys from
    ///   `first` to before `end`,
    /// - `slope` and `sink [1, heads, rows, 1]`.
    ///
    /// The result is `out [batch, heads, rows, value_dim]`, bfloat16.
    pub(in crate::device::hpu) fn graph(&self) -> Graph {
        let (batch, heads, rows, keys) = (self.batch, self.heads(), self.rows, self.keys);
        let dim = self.key_layout.dim;
        let graph = &mut Graph::new("attend");
        let f32s = |graph: &mut Graph, name: &str, shape: [usize; 4]| graph.input(name, Dtype::F32, &shape);
        let of_row = [batch, heads, rows, 1];
        let of_head = [1, heads, 1, 1];
        let of_entry = [batch, 1, rows, 1];
        let one = [1, 1, 1, 1];

        let mut q = graph.input("q", Dtype::Bf16, &[batch, heads, rows, dim]);
        if self.is_fp8() {
            let quant = f32s(graph, "q_quant", of_row);
            let (guid, params) = ("convert_to_fp8_bf16", Params::round_to_nearest());
            q = graph.node(guid, &[q, quant], params, Dtype::Fp8, &[batch, heads, rows, dim]);
        }
        let ids = graph.input("ids", Dtype::I32, &[batch * heads * keys]);
        let key = self.gathered(graph, "key", &self.key_layout, ids);
        let scores_shape = [batch, heads, rows, keys];
        let params = Params::gemm(false, true);
        let mut scores = graph.node("batch_gemm", &[q, key], params, Dtype::F32, &scores_shape);
        if self.is_fp8() {
            let dequant = f32s(graph, "q_dequant", of_row);
            scores = graph.elementwise("mult", Dtype::F32, &[scores, dequant]);
        }
        let key_dequant = f32s(graph, "key_dequant", of_head);
        scores = graph.elementwise("mult", Dtype::F32, &[scores, key_dequant]);
        scores = Self::rounded(graph, scores);
        let softmax_scale = f32s(graph, "softmax_scale", one);
        scores = graph.elementwise("mult", Dtype::F32, &[scores, softmax_scale]);
        if self.has_soft_cap {
            let cap = f32s(graph, "cap", one);
            scores = graph.elementwise("div", Dtype::F32, &[scores, cap]);
            scores = graph.elementwise("tanh", Dtype::F32, &[scores]);
            scores = graph.elementwise("mult", Dtype::F32, &[scores, cap]);
        }
        let key_position = f32s(graph, "key_position", [1, 1, 1, keys]);
        if self.has_alibi {
            let position = f32s(graph, "position", of_entry);
            let slope = f32s(graph, "slope", [1, heads, rows, 1]);
            let distance = graph.elementwise("sub", Dtype::F32, &[position, key_position]);
            let bias = graph.elementwise("mult", Dtype::F32, &[slope, distance]);
            scores = graph.elementwise("sub", Dtype::F32, &[scores, bias]);
        }
        let less = |graph: &mut Graph, a: Id, b: Id| {
            graph.node("less_fwd_f32", &[a, b], Params::none(), Dtype::I8, &[batch, 1, rows, keys])
        };
        let end = f32s(graph, "end", of_entry);
        let seen = less(graph, key_position, end);
        let before = self.has_window.then(|| {
            let first = f32s(graph, "first", of_entry);
            less(graph, key_position, first)
        });
        let lowest = f32s(graph, "lowest", one);
        scores = Self::seen(graph, seen, before, scores, lowest);
        let params = Params::reduce_rows();
        let mut max = graph.node("reduce_max_multi_dim_fwd_f32", &[scores], params, Dtype::F32, &of_row);
        let sink = self.has_sinks.then(|| f32s(graph, "sink", [1, heads, rows, 1]));
        if let Some(sink) = sink {
            max = graph.elementwise("max", Dtype::F32, &[max, sink]);
        }
        let shifted = graph.elementwise("sub", Dtype::F32, &[scores, max]);
        let exponentials = graph.elementwise("exp", Dtype::F32, &[shifted]);
        let zero = f32s(graph, "zero", one);
        let prob = Self::seen(graph, seen, before, exponentials, zero);
        let mut summed = prob;
        if let Some(sink) = sink {
            // Its part of the sum comes first, and it has no value.
            let shifted = graph.elementwise("sub", Dtype::F32, &[sink, max]);
            let part = graph.elementwise("exp", Dtype::F32, &[shifted]);
            let shape = [batch, heads, rows, keys + 1];
            summed = graph.node("concat", &[part, prob], Params::concat(0), Dtype::F32, &shape);
        }
        let params = Params::reduce_rows();
        let sum = graph.node("reduce_sum_multi_dim_fwd_f32", &[summed], params, Dtype::F32, &of_row);

        let prob = if self.is_fp8() {
            let quant = f32s(graph, "prob_quant", one);
            let params = Params::round_to_nearest();
            graph.node("convert_to_fp8_f32", &[prob, quant], params, Dtype::Fp8, &scores_shape)
        } else {
            graph.cast(prob, Dtype::Bf16)
        };
        let value = match &self.value_layout {
            Some(layout) => self.gathered(graph, "value", layout, ids),
            None => {
                let dtype = graph.spec(key).dtype;
                let params = Params::first_elements(self.value_dim as u32);
                graph.node("slice_axis", &[key], params, dtype, &[batch, heads, keys, self.value_dim])
            }
        };
        let out_shape = [batch, heads, rows, self.value_dim];
        let params = Params::gemm(false, false);
        let mut out = graph.node("batch_gemm", &[prob, value], params, Dtype::F32, &out_shape);
        if self.is_fp8() {
            let dequant = f32s(graph, "prob_dequant", one);
            out = graph.elementwise("mult", Dtype::F32, &[out, dequant]);
        }
        let value_dequant = f32s(graph, "value_dequant", of_head);
        out = graph.elementwise("mult", Dtype::F32, &[out, value_dequant]);
        out = Self::rounded(graph, out);
        out = graph.elementwise("div", Dtype::F32, &[out, sum]);
        out = graph.cast(out, Dtype::Bf16);
        graph.output(out, "out");
        graph.clone()
    }
}
