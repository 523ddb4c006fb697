//! Attention over cache planes: two products with a softmax between them.
//!
//! Every float32 step of the rules in `docs/numerics.md` is one node, so that each rounds once. A graph has `batch`
//! entries: query tokens of one sequence, whose keys and values are gathered by row id. Rows and keys that only fill a
//! bucket up cannot be told from the outside: their ids name the zero row behind a plane, and no query sees them.

use super::dtype::{Dtype, Fp8View};
use super::params::Params;
use super::spec::GraphSpec;
use super::tensor::TensorId;
use crate::device::{PlaneLayout, StorageDtype};

/// Everything that the structure and the shapes of an attention graph depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttentionShape {
    pub(crate) batch: usize,
    /// Query rows of an entry and KV head: tokens times the heads of a group.
    pub(crate) rows: usize,
    /// Keys of an entry.
    pub(crate) keys: usize,
    pub(crate) key_layout: PlaneLayout,
    /// `None` where a value is the first elements of a key.
    pub(crate) value_layout: Option<PlaneLayout>,
    pub(crate) value_dim: usize,
    pub(crate) has_soft_cap: bool,
    pub(crate) has_alibi: bool,
    pub(crate) has_window: bool,
    pub(crate) has_sinks: bool,
    pub(crate) view: Fp8View,
}

impl AttentionShape {
    /// Builds the graph. Its operands:
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
    pub(crate) fn graph(self) -> GraphSpec {
        let mut builder = Builder { shape: self, graph: GraphSpec::new("attend") };
        let q = builder.query();
        let ids = builder.graph.input("ids", Dtype::I32, &[self.batch * self.heads() * self.keys]);
        let key = builder.gathered("key", &self.key_layout, ids);
        let scores = builder.scores(q, key);
        let key_position = builder.input_f32("key_position", [1, 1, 1, self.keys]);
        let scores = if self.has_alibi { builder.biased(scores, key_position) } else { scores };
        let mask = builder.mask(key_position);
        let (prob, sum) = builder.softmax(scores, mask);
        let prob = builder.prob_operand(prob);
        let value = builder.value(key, ids);
        let out = builder.weighted_values(prob, value, sum);
        builder.graph.output(out, "out");
        builder.graph
    }

    fn heads(&self) -> usize {
        self.key_layout.heads
    }

    fn is_fp8(&self) -> bool {
        self.key_layout.dtype == StorageDtype::Fp8
    }

    /// One number for each query row of each entry and KV head.
    fn by_row(&self) -> [usize; 4] {
        [self.batch, self.heads(), self.rows, 1]
    }

    /// One number for each query row of each entry, the same for all heads.
    fn by_token(&self) -> [usize; 4] {
        [self.batch, 1, self.rows, 1]
    }

    /// One number for each query row of each KV head, the same for all entries.
    fn by_query_head(&self) -> [usize; 4] {
        [1, self.heads(), self.rows, 1]
    }

    /// One number for each KV head.
    fn by_head(&self) -> [usize; 4] {
        [1, self.heads(), 1, 1]
    }

    fn scores(&self) -> [usize; 4] {
        [self.batch, self.heads(), self.rows, self.keys]
    }
}

/// One number for everything.
const SCALAR: [usize; 4] = [1, 1, 1, 1];

/// The keys that each query row sees, as tensors of truth values.
#[derive(Debug, Clone, Copy)]
struct Mask {
    /// Keys before the end of the row's view.
    before_end: TensorId,
    /// Keys before the start of the row's sliding window, which it does not see.
    before_window: Option<TensorId>,
}

/// An attention graph that is being built.
#[derive(Debug)]
struct Builder {
    shape: AttentionShape,
    graph: GraphSpec,
}

impl Builder {
    fn input_f32(&mut self, name: &str, shape: [usize; 4]) -> TensorId {
        self.graph.input(name, Dtype::F32, &shape)
    }

    fn f32(&mut self, op: &str, inputs: &[TensorId]) -> TensorId {
        self.graph.elementwise(op, Dtype::F32, inputs)
    }

    /// `values` times a new float32 operand.
    fn scaled(&mut self, values: TensorId, name: &str, shape: [usize; 4]) -> TensorId {
        let multiplier = self.input_f32(name, shape);
        self.f32("mult", &[values, multiplier])
    }

    /// The value rounded to bfloat16, in float32.
    fn rounded(&mut self, value: TensorId) -> TensorId {
        let narrow = self.graph.cast(value, Dtype::Bf16);
        self.graph.cast(narrow, Dtype::F32)
    }

    /// The query as the matrix engine takes it.
    fn query(&mut self) -> TensorId {
        let shape = [self.shape.batch, self.shape.heads(), self.shape.rows, self.shape.key_layout.dim];
        let q = self.graph.input("q", Dtype::Bf16, &shape);
        if !self.shape.is_fp8() {
            return q;
        }
        let quant = self.input_f32("q_quant", self.shape.by_row());
        let params = Params::round_to_nearest();
        self.graph.node("convert_to_fp8_bf16", &[q, quant], params, Dtype::Fp8, &shape)
    }

    /// `[batch, heads, keys, dim]` of a plane, as the matrix engine takes it.
    fn gathered(&mut self, name: &str, layout: &PlaneLayout, ids: TensorId) -> TensorId {
        let (heads, dim) = (layout.heads, layout.dim);
        // One token more than the plane has: the zero row.
        let shape = [(layout.slots() + 1) * heads, dim];
        let plane = self.graph.input(name, self.shape.view.stored(layout.dtype), &shape);
        let rows = self.graph.gather_rows(plane, ids);
        let rows = self.graph.reshape(rows, &[self.shape.batch, heads, self.shape.keys, dim]);
        match layout.dtype {
            StorageDtype::Fp8 => self.graph.reinterpret(rows, Dtype::Fp8),
            StorageDtype::Bf16 => rows,
            StorageDtype::F32 => self.graph.cast(rows, Dtype::Bf16),
        }
    }

    /// The first product, dequantized and rounded, times the softmax scale, and capped.
    fn scores(&mut self, q: TensorId, key: TensorId) -> TensorId {
        let params = Params::gemm(false, true);
        let shape = self.shape.scores();
        let mut scores = self.graph.node("batch_gemm", &[q, key], params, Dtype::F32, &shape);
        if self.shape.is_fp8() {
            scores = self.scaled(scores, "q_dequant", self.shape.by_row());
        }
        scores = self.scaled(scores, "key_dequant", self.shape.by_head());
        scores = self.rounded(scores);
        scores = self.scaled(scores, "softmax_scale", SCALAR);
        if self.shape.has_soft_cap {
            let cap = self.input_f32("cap", SCALAR);
            scores = self.f32("div", &[scores, cap]);
            scores = self.f32("tanh", &[scores]);
            scores = self.f32("mult", &[scores, cap]);
        }
        scores
    }

    /// The scores less ALiBi's slope times the distance of query and key.
    fn biased(&mut self, scores: TensorId, key_position: TensorId) -> TensorId {
        let position = self.input_f32("position", self.shape.by_token());
        let slope = self.input_f32("slope", self.shape.by_query_head());
        let distance = self.f32("sub", &[position, key_position]);
        let bias = self.f32("mult", &[slope, distance]);
        self.f32("sub", &[scores, bias])
    }

    fn mask(&mut self, key_position: TensorId) -> Mask {
        let before_end = self.keys_before(key_position, "end");
        let before_window = self.shape.has_window.then(|| self.keys_before(key_position, "first"));
        Mask { before_end, before_window }
    }

    /// Whether a key's position is less than a new operand's number of the row.
    fn keys_before(&mut self, key_position: TensorId, name: &str) -> TensorId {
        let bound = self.input_f32(name, self.shape.by_token());
        let shape = [self.shape.batch, 1, self.shape.rows, self.shape.keys];
        self.graph.node("less_fwd_f32", &[key_position, bound], Params::none(), Dtype::I8, &shape)
    }

    /// The values with a new operand, a single number, in the place of those of keys that are not seen.
    fn masked(&mut self, mask: Mask, values: TensorId, name: &str) -> TensorId {
        let other = self.input_f32(name, SCALAR);
        let values = self.f32("where", &[mask.before_end, values, other]);
        mask.before_window.map_or(values, |before| self.f32("where", &[before, other, values]))
    }

    /// The exponentials of the masked scores less their maximum, and the sum of a row of them.
    fn softmax(&mut self, scores: TensorId, mask: Mask) -> (TensorId, TensorId) {
        let by_row = self.shape.by_row();
        let scores = self.masked(mask, scores, "lowest");
        let params = Params::reduce_rows();
        let guid = "reduce_max_multi_dim_fwd_f32";
        let mut max = self.graph.node(guid, &[scores], params, Dtype::F32, &by_row);
        let sink = self.shape.has_sinks.then(|| self.input_f32("sink", self.shape.by_query_head()));
        if let Some(sink) = sink {
            max = self.f32("max", &[max, sink]);
        }
        let shifted = self.f32("sub", &[scores, max]);
        let exponentials = self.f32("exp", &[shifted]);
        let prob = self.masked(mask, exponentials, "zero");
        let summed = sink.map_or(prob, |sink| self.with_sink(prob, sink, max));
        let (guid, params) = ("reduce_sum_multi_dim_fwd_f32", Params::reduce_rows());
        let sum = self.graph.node(guid, &[summed], params, Dtype::F32, &by_row);
        (prob, sum)
    }

    /// The sink's exponential in front of the others: it is part of the sum, comes first, and has no value.
    fn with_sink(&mut self, prob: TensorId, sink: TensorId, max: TensorId) -> TensorId {
        let shifted = self.f32("sub", &[sink, max]);
        let part = self.f32("exp", &[shifted]);
        let [batch, heads, rows, keys] = self.shape.scores();
        let shape = [batch, heads, rows, keys + 1];
        self.graph.node("concat", &[part, prob], Params::concat(0), Dtype::F32, &shape)
    }

    /// The probabilities as the matrix engine takes them.
    fn prob_operand(&mut self, prob: TensorId) -> TensorId {
        if !self.shape.is_fp8() {
            return self.graph.cast(prob, Dtype::Bf16);
        }
        let quant = self.input_f32("prob_quant", SCALAR);
        let params = Params::round_to_nearest();
        let shape = self.shape.scores();
        self.graph.node("convert_to_fp8_f32", &[prob, quant], params, Dtype::Fp8, &shape)
    }

    /// The values as the matrix engine takes them: of a plane of their own, or the first elements of the keys.
    fn value(&mut self, key: TensorId, ids: TensorId) -> TensorId {
        if let Some(layout) = self.shape.value_layout {
            return self.gathered("value", &layout, ids);
        }
        let dtype = self.graph.spec(key).dtype;
        let params = Params::first_elements(self.shape.value_dim as u32);
        let shape = [self.shape.batch, self.shape.heads(), self.shape.keys, self.shape.value_dim];
        self.graph.node("slice_axis", &[key], params, dtype, &shape)
    }

    /// The second product, dequantized and rounded, over the sum of the probabilities.
    fn weighted_values(&mut self, prob: TensorId, value: TensorId, sum: TensorId) -> TensorId {
        let shape = [self.shape.batch, self.shape.heads(), self.shape.rows, self.shape.value_dim];
        let params = Params::gemm(false, false);
        let mut out = self.graph.node("batch_gemm", &[prob, value], params, Dtype::F32, &shape);
        if self.shape.is_fp8() {
            out = self.scaled(out, "prob_dequant", SCALAR);
        }
        out = self.scaled(out, "value_dequant", self.shape.by_head());
        out = self.rounded(out);
        out = self.f32("div", &[out, sum]);
        self.graph.cast(out, Dtype::Bf16)
    }
}
