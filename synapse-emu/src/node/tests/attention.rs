//! Attention as a graph of nodes gives the bits of the emulated device: what a backend builds from these nodes can be
//! compared with it.

use gaudi_kv::ScaleFactors;
use gaudi_kv::device::emulated::{Emulated, Mode};
use gaudi_kv::device::{
    AttentionProblem, AttentionWorkspace, Device, Fp8Products, HeadScales, KeysAndValues, MhaShape,
    Modifiers, PlaneLayout, PlanePair, QueryScale, SequenceSpan, StorageDtype,
};
use gaudi_numerics::Generation;
use half::bf16;

use super::{Tensor, machine, node, words};
use crate::node::machine::Machine;
use crate::node::operation::{Checked, Input, Output, Running};
use crate::node::registry::find;
use crate::node::spec::DataType::{self, Bf16, F32, Fp8_143, I8};

const KV_HEADS: usize = 2;
const GROUP: usize = 2;
const DIM: usize = 24;
const TOKENS: usize = 2;
const CONTEXT: usize = 21;
const BLOCK: usize = 8;
/// The blocks of the sequence, in order.
const BLOCKS: [usize; 3] = [3, 0, 2];
const NUM_BLOCKS: usize = 4;
/// Query rows of a KV head.
const ROWS: usize = TOKENS * GROUP;

/// One case: what the scores go through, and the scales.
struct Case {
    dtype: StorageDtype,
    query: QueryScale,
    key: ScaleFactors,
    value: ScaleFactors,
    prob: ScaleFactors<f32>,
    softmax_scale: f32,
    cap: Option<f32>,
    slopes: Option<Vec<f32>>,
    window: Option<usize>,
    sinks: Option<Vec<f32>>,
}

impl Case {
    fn plain(dtype: StorageDtype) -> Self {
        // A bfloat16 cache has no scales.
        let [quant, dequant] = if dtype == StorageDtype::Fp8 { [20.0, 0.05] } else { [1.0, 1.0] };
        let one = || ScaleFactors::new(quant, dequant);
        Self {
            dtype,
            query: QueryScale::Static(ScaleFactors::new(12.5, 0.08)),
            key: one(),
            value: one(),
            prob: ScaleFactors::from_quant(240.0),
            softmax_scale: 0.204_124,
            cap: None,
            slopes: None,
            window: None,
            sinks: None,
        }
    }
}

/// Numbers between -4 and 4 that any run gives again.
fn numbers(seed: u32, len: usize) -> Vec<bf16> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bf16::from_f32((state >> 8) as f32 / 2_097_152.0 - 4.0)
        })
        .collect()
}

fn slots() -> Vec<usize> {
    (0..CONTEXT).map(|token| BLOCKS[token / BLOCK] * BLOCK + token % BLOCK).collect()
}

/// By the device: `[TOKENS, KV_HEADS * GROUP, DIM]`.
fn by_device(generation: Generation, case: &Case, q: &[bf16], [k, v]: [&[bf16]; 2]) -> Vec<f32> {
    let device = Emulated::new(generation, Mode::Exact);
    let layout = PlaneLayout {
        num_blocks: NUM_BLOCKS,
        has_pad_block: true,
        block_size_tokens: BLOCK,
        heads: KV_HEADS,
        dim: DIM,
        dtype: case.dtype,
    };
    let (mut key, mut value) = (device.allocate(&layout).unwrap(), device.allocate(&layout).unwrap());
    device.write(&mut key, k, &slots(), &case.key.quant).unwrap();
    device.write(&mut value, v, &slots(), &case.value.quant).unwrap();
    let sequence =
        SequenceSpan { first_token: 0, tokens: TOKENS, len: CONTEXT, first_block: 0, first_row: 0 };
    let fp8 = Fp8Products { query_scale: &case.query, prob: case.prob };
    let problem = AttentionProblem {
        q,
        shape: MhaShape {
            num_heads: KV_HEADS * GROUP,
            num_kv_heads: KV_HEADS,
            head_dim: DIM,
            v_head_dim: DIM,
        },
        operands: KeysAndValues::Planes(PlanePair { key: &key, value: &value, blocks: &BLOCKS }),
        key_factors: &case.key,
        value_factors: &case.value,
        fp8: (case.dtype == StorageDtype::Fp8).then_some(fp8),
        modifiers: Modifiers {
            softmax_scale: case.softmax_scale,
            logits_soft_cap: case.cap,
            alibi_slopes: case.slopes.as_deref(),
            sliding_window: case.window,
            sinks: case.sinks.as_deref(),
        },
        sequences: &[sequence],
    };
    let mut out = vec![0.0; TOKENS * KV_HEADS * GROUP * DIM];
    device.attend(&problem, &mut AttentionWorkspace::default(), &mut out).unwrap();
    out
}

/// Nodes of one machine.
struct Graph {
    machine: Machine,
}

impl Graph {
    fn node(&self, guid: &str, inputs: &[&Tensor], out: (DataType, &[usize]), params: &[u8]) -> Tensor {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let outputs = vec![Some(Tensor::zeros(out.0, out.1))];
        node(&self.machine, guid, &inputs, outputs, params)
            .unwrap_or_else(|failure| panic!("{guid}: {failure:?}"))
            .remove(0)
            .unwrap()
    }

    /// A node on float32 whose output has the first input's sizes.
    fn f32(&self, guid: &str, inputs: &[&Tensor]) -> Tensor {
        self.node(guid, inputs, (F32, &inputs[0].spec.sizes), &[])
    }

    fn cast(&self, guid: &str, input: &Tensor, dtype: DataType) -> Tensor {
        self.node(guid, &[input], (dtype, &input.spec.sizes), &[])
    }

    /// Rounds to bfloat16 and back.
    fn rounded(&self, input: &Tensor) -> Tensor {
        let rounded = self.cast("cast_f32_to_bf16", input, Bf16);
        self.cast("cast_bf16_to_f32", &rounded, F32)
    }

    fn along(&self, guid: &str, input: &Tensor) -> Tensor {
        let mut sizes = input.spec.sizes.clone();
        sizes[0] = 1;
        self.node(guid, &[input], (input.spec.dtype, &sizes), &words(&[0]))
    }

    /// Writes rows into a cache in place and reads the sequence back: `[DIM, CONTEXT, KV_HEADS]`.
    fn cached(&self, case: &Case, rows: &[bf16], quant: &HeadScales) -> Tensor {
        let slots: Vec<i32> = slots().into_iter().map(|slot| slot as i32).collect();
        let slots = Tensor::i32(&[CONTEXT], &slots);
        let rows = Tensor::new(Bf16, &[DIM, KV_HEADS, CONTEXT], rows);
        let is_fp8 = case.dtype == StorageDtype::Fp8;
        let (rows, stored) = if is_fp8 {
            let codes = self.node(
                "convert_to_fp8_bf16",
                &[&rows, &per_head(quant, 1)],
                (Fp8_143, &rows.spec.sizes),
                &[],
            );
            (self.cast("reinterpret_cast", &codes, I8), I8)
        } else {
            (rows, Bf16)
        };
        let suffix = if is_fp8 { "i8" } else { "bf16" };
        let width = DIM * KV_HEADS;
        let rows = self.node("reshape", &[&rows], (stored, &[width, CONTEXT]), &[]);
        let mut cache = Tensor::zeros(stored, &[width, (NUM_BLOCKS + 1) * BLOCK]);
        self.in_place(&format!("index_copy_fwd_{suffix}"), &mut cache, [&slots, &rows], &words(&[0]));
        let read = self.node(
            &format!("gather_fwd_{suffix}"),
            &[&cache, &slots],
            (stored, &[width, CONTEXT]),
            &words(&[1]),
        );
        let read = if is_fp8 { self.cast("reinterpret_cast", &read, Fp8_143) } else { read };
        let dtype = read.spec.dtype;
        let read = self.node("reshape", &[&read], (dtype, &[DIM, KV_HEADS, CONTEXT]), &[]);
        self.node("transpose", &[&read], (dtype, &[DIM, CONTEXT, KV_HEADS]), &words(&[0, 2, 1, 0, 0, 3]))
    }

    fn in_place(&self, guid: &str, cache: &mut Tensor, [indices, rows]: [&Tensor; 2], params: &[u8]) {
        let spec = cache.spec.clone();
        let inputs = [
            Some(Input { spec: &spec, data: &[] }),
            Some(Input { spec: &indices.spec, data: indices.bytes() }),
            Some(Input { spec: &rows.spec, data: rows.bytes() }),
        ];
        let operation = find(guid, &self.machine).unwrap();
        let specs = [Some(&spec), Some(&indices.spec), Some(&rows.spec)];
        let machine = &self.machine;
        Checked { machine, inputs: &specs, outputs: &[Some(&spec)], params }.check_by(&*operation).unwrap();
        let mut outputs = [Some(Output { spec: &spec, data: cache.bytes_mut(), aliases: Some(0) })];
        operation.run(Running { machine, inputs: &inputs, outputs: &mut outputs, params }).unwrap();
    }

    /// The query as the left operand, and what multiplies its rows back.
    fn query(&self, case: &Case, q: &Tensor) -> (Tensor, Tensor) {
        let (quant, dequant) = match &case.query {
            _ if case.dtype == StorageDtype::Bf16 => {
                return (q.clone(), Tensor::f32(&[1, ROWS, KV_HEADS], &[1.0; ROWS * KV_HEADS]));
            }
            QueryScale::Static(ScaleFactors { quant, dequant }) => (per_head(quant, 2), per_head(dequant, 2)),
            QueryScale::Dynamic => {
                let negative = self.cast("neg_fwd_bf16", q, Bf16);
                let magnitude = self.node("max_fwd_bf16", &[q, &negative], (Bf16, &q.spec.sizes), &[]);
                let amax = self.along("reduce_max_fwd_bf16", &magnitude);
                let amax = self.cast("cast_bf16_to_f32", &amax, F32);
                let sizes = amax.spec.sizes.clone();
                let number = |value: f32| Tensor::f32(&[1], &[value]);
                let max = number(self.machine.generation.fp8_max());
                let quant = self.node("div_fwd_f32", &[&max, &amax], (F32, &sizes), &[]);
                // The first float32 that rounds to an infinite bfloat16.
                let limit = number(f32::from_bits(0x7F7F_8000));
                let is_small = self.node("less_fwd_f32", &[&quant, &limit], (I8, &sizes), &[]);
                let is_positive = self.node("greater_fwd_f32", &[&quant, &number(0.0)], (I8, &sizes), &[]);
                let quant =
                    self.node("where_fwd_f32", &[&is_small, &quant, &number(1.0)], (F32, &sizes), &[]);
                let quant =
                    self.node("where_fwd_f32", &[&is_positive, &quant, &number(1.0)], (F32, &sizes), &[]);
                let dequant = self.node("div_fwd_f32", &[&number(1.0), &quant], (F32, &sizes), &[]);
                (quant, dequant)
            }
        };
        (self.node("convert_to_fp8_bf16", &[q, &quant], (Fp8_143, &q.spec.sizes), &[]), dequant)
    }

    /// The scores, modified: `[CONTEXT, ROWS, KV_HEADS]`.
    fn scores(&self, case: &Case, q: &Tensor, key: &Tensor) -> Tensor {
        let (q, q_dequant) = self.query(case, q);
        let acc = self.node("batch_gemm", &[&q, key], (F32, &[CONTEXT, ROWS, KV_HEADS]), &[0, 1]);
        let key_dequant = per_head(&case.key.dequant, 2);
        let scores = self.f32("mult_fwd_f32", &[&acc, &q_dequant]);
        let scores = self.rounded(&self.f32("mult_fwd_f32", &[&scores, &key_dequant]));
        let mut scores = self.f32("mult_fwd_f32", &[&scores, &Tensor::f32(&[1], &[case.softmax_scale])]);
        if let Some(cap) = case.cap {
            let cap = Tensor::f32(&[1], &[cap]);
            let bent = self.f32("tanh_fwd_f32", &[&self.f32("div_fwd_f32", &[&scores, &cap])]);
            scores = self.f32("mult_fwd_f32", &[&bent, &cap]);
        }
        if let Some(slopes) = &case.slopes {
            let bias = of_scores(
                |head, position, key| {
                    if key <= position { slopes[head] * (position - key) as f32 } else { 0.0 }
                },
            );
            scores = self.f32("sub_fwd_f32", &[&scores, &bias]);
        }
        scores
    }

    /// `[DIM, ROWS, KV_HEADS]`, bfloat16.
    fn attend(&self, case: &Case, q: &Tensor, key: &Tensor, value: &Tensor) -> Tensor {
        let scores = self.scores(case, q, key);
        let visible = of_scores(|_, position, key| {
            let first = case.window.map_or(0, |window| (position + 1).saturating_sub(window));
            f32::from(u8::from((first..=position).contains(&key)))
        });
        let visible: Vec<i8> = visible.floats().iter().map(|seen| *seen as i8).collect();
        let mask = Tensor::i8(&scores.spec.sizes, &visible);
        let number = |value: f32| Tensor::f32(&[1], &[value]);
        let masked =
            self.node("where_fwd_f32", &[&mask, &scores, &number(-f32::MAX)], (F32, &scores.spec.sizes), &[]);
        let sink = case.sinks.as_ref().map(|sinks| {
            let of_rows = (0..KV_HEADS * ROWS).map(|i| sinks[i / ROWS * GROUP + i % GROUP]);
            Tensor::f32(&[1, ROWS, KV_HEADS], &of_rows.collect::<Vec<_>>())
        });
        let mut max = self.along("reduce_max_fwd_f32", &masked);
        if let Some(sink) = &sink {
            max = self.f32("max_fwd_f32", &[&max, sink]);
        }
        let p = self.f32("exp_fwd_f32", &[&self.f32("sub_fwd_f32", &[&masked, &max])]);
        let p = self.node("where_fwd_f32", &[&mask, &p, &number(0.0)], (F32, &p.spec.sizes), &[]);
        let sum = match &sink {
            None => self.along("reduce_sum_fwd_f32", &p),
            Some(sink) => {
                let first = self.f32("exp_fwd_f32", &[&self.f32("sub_fwd_f32", &[sink, &max])]);
                let sizes = [CONTEXT + 1, ROWS, KV_HEADS];
                self.along(
                    "reduce_sum_fwd_f32",
                    &self.node("concat", &[&first, &p], (F32, &sizes), &words(&[0])),
                )
            }
        };
        let value_dequant = per_head(&case.value.dequant, 2);
        let (p, prob_dequant) = match case.dtype {
            StorageDtype::Bf16 => (self.cast("cast_f32_to_bf16", &p, Bf16), number(1.0)),
            _ => (
                self.node(
                    "convert_to_fp8_f32",
                    &[&p, &number(case.prob.quant)],
                    (Fp8_143, &p.spec.sizes),
                    &[],
                ),
                number(case.prob.dequant),
            ),
        };
        let acc = self.node("batch_gemm", &[&p, value], (F32, &[DIM, ROWS, KV_HEADS]), &[0, 0]);
        let out = self.f32("mult_fwd_f32", &[&acc, &prob_dequant]);
        let out = self.rounded(&self.f32("mult_fwd_f32", &[&out, &value_dequant]));
        self.cast("cast_f32_to_bf16", &self.f32("div_fwd_f32", &[&out, &sum]), Bf16)
    }
}

/// Scales of the KV heads, which are dimension `dim` of three.
fn per_head(scales: &HeadScales, dim: usize) -> Tensor {
    let values: Vec<f32> = (0..KV_HEADS).map(|head| scales.of(head)).collect();
    let mut sizes = [1; 3];
    sizes[dim] = KV_HEADS;
    Tensor::f32(&sizes, &values)
}

/// A number for each score, from query head, query position and key.
fn of_scores(f: impl Fn(usize, usize, usize) -> f32) -> Tensor {
    let mut values = Vec::new();
    for kv_head in 0..KV_HEADS {
        for row in 0..ROWS {
            let (head, position) = (kv_head * GROUP + row % GROUP, CONTEXT - TOKENS + row / GROUP);
            values.extend((0..CONTEXT).map(|key| f(head, position, key)));
        }
    }
    Tensor::f32(&[CONTEXT, ROWS, KV_HEADS], &values)
}

/// Both ways give the same bits.
fn compare(case: &Case) {
    let heads = KV_HEADS * GROUP;
    let q = numbers(1, TOKENS * heads * DIM);
    let (k, v) = (numbers(2, CONTEXT * KV_HEADS * DIM), numbers(3, CONTEXT * KV_HEADS * DIM));
    for generation in Generation::ALL {
        let expected = by_device(generation, case, &q, [&k, &v]);
        let graph = Graph { machine: machine(generation) };
        let (key, value) =
            (graph.cached(case, &k, &case.key.quant), graph.cached(case, &v, &case.value.quant));
        // [tokens, kv heads, group] to [kv heads, tokens, group].
        let query = Tensor::new(Bf16, &[DIM, GROUP, KV_HEADS, TOKENS], &q);
        let query = graph.node(
            "transpose",
            &[&query],
            (Bf16, &[DIM, GROUP, TOKENS, KV_HEADS]),
            &words(&[0, 1, 3, 2, 0, 4]),
        );
        let out = graph.attend(case, &query.shaped(&[DIM, ROWS, KV_HEADS]), &key, &value);
        let out = graph.node(
            "transpose",
            &[&out.shaped(&[DIM, GROUP, TOKENS, KV_HEADS])],
            (Bf16, &[DIM, GROUP, KV_HEADS, TOKENS]),
            &words(&[0, 1, 3, 2, 0, 4]),
        );
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&out.floats()), bits(&expected), "{generation}");
        assert!(expected.iter().any(|value| *value != 0.0));
    }
}

#[test]
fn fp8_with_one_scale_each() {
    compare(&Case::plain(StorageDtype::Fp8));
}

#[test]
fn fp8_with_scales_of_each_head() {
    let heads = |a, b| HeadScales::PerHead(vec![a, b]);
    compare(&Case {
        query: QueryScale::Static(ScaleFactors {
            quant: heads(30.0, 11.0),
            dequant: heads(1.0 / 30.0, 1.0 / 11.0),
        }),
        key: ScaleFactors { quant: heads(17.0, 40.0), dequant: heads(1.0 / 17.0, 1.0 / 40.0) },
        value: ScaleFactors { quant: heads(33.0, 9.0), dequant: heads(1.0 / 33.0, 1.0 / 9.0) },
        prob: ScaleFactors::from_quant(100.0),
        ..Case::plain(StorageDtype::Fp8)
    });
}

#[test]
fn fp8_with_dynamic_query_scales() {
    compare(&Case { query: QueryScale::Dynamic, ..Case::plain(StorageDtype::Fp8) });
}

#[test]
fn bfloat16_cache() {
    compare(&Case::plain(StorageDtype::Bf16));
}

#[test]
fn sinks_come_first_in_the_sum() {
    for dtype in [StorageDtype::Fp8, StorageDtype::Bf16] {
        compare(&Case { sinks: Some(vec![0.5, -2.0, 3.25, 9.0]), ..Case::plain(dtype) });
    }
}

#[test]
fn soft_cap() {
    compare(&Case { cap: Some(3.5), ..Case::plain(StorageDtype::Fp8) });
}

#[test]
fn alibi() {
    compare(&Case { slopes: Some(vec![0.5, 0.25, 0.125, 0.0625]), ..Case::plain(StorageDtype::Fp8) });
}

#[test]
fn sliding_window() {
    compare(&Case { window: Some(6), ..Case::plain(StorageDtype::Bf16) });
}

#[test]
fn all_at_once() {
    compare(&Case {
        query: QueryScale::Dynamic,
        cap: Some(5.0),
        slopes: Some(vec![0.5, 0.25, 0.125, 0.0625]),
        window: Some(9),
        sinks: Some(vec![0.5, -2.0, 3.25, 1.0]),
        ..Case::plain(StorageDtype::Fp8)
    });
}
