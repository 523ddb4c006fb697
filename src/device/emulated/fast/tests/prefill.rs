//! Prefills on every instruction set, against the rules in double precision and against the exact device.

use half::bf16;
use proptest::prelude::*;

use super::{EXACT_SCORES, FLOAT_SCORES, Level, Numbers, Runner, levels};
use crate::device::emulated::common::operands::{EmulatedProblem, Operands as Taken};
use crate::device::emulated::common::threads::Threads;
use crate::device::emulated::{Emulated, Mode};
use crate::device::{
    AttentionProblem, AttentionWorkspace, Device, Fp8Products, HeadScales, KeysAndValues, MhaShape,
    Modifiers, QueryScale, SequenceSpan, TensorPair,
};
use crate::{Generation, ScaleFactors};

#[derive(Debug, Clone)]
struct Case {
    kv_heads: usize,
    group: usize,
    dim: usize,
    value_dim: usize,
    queries: usize,
    keys: usize,
    integers: bool,
    window: Option<usize>,
    cap: Option<f32>,
    alibi: bool,
    sinks: bool,
    seed: u64,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            kv_heads: 2,
            group: 2,
            dim: 32,
            value_dim: 32,
            queries: 150,
            keys: 150,
            integers: true,
            window: None,
            cap: None,
            alibi: false,
            sinks: false,
            seed: 1,
        }
    }
}

/// The operands of a case.
struct Operands {
    q: Vec<bf16>,
    k: Vec<bf16>,
    v: Vec<bf16>,
    slopes: Vec<f32>,
    sinks: Vec<f32>,
}

impl Operands {
    fn tensors(&self) -> TensorPair<'_> {
        TensorPair { k: &self.k, v: &self.v }
    }
}

const SOFTMAX_SCALE: f32 = 0.125;

impl Case {
    fn heads(&self) -> usize {
        self.kv_heads * self.group
    }

    fn operands(&self) -> Operands {
        let mut numbers = Numbers(self.seed);
        let mut values = |len: usize| -> Vec<bf16> {
            let number = |numbers: &mut Numbers| {
                if self.integers { numbers.integer() } else { numbers.normal() }
            };
            (0..len).map(|_| bf16::from_f32(number(&mut numbers))).collect()
        };
        Operands {
            q: values(self.queries * self.heads() * self.dim),
            k: values(self.keys * self.kv_heads * self.dim),
            v: values(self.keys * self.kv_heads * self.value_dim),
            slopes: (0..self.heads()).map(|h| 0.5f32.powi(h as i32 % 8)).collect(),
            sinks: (0..self.heads()).map(|h| h as f32 / 4.0 - 1.0).collect(),
        }
    }

    fn sequence(&self) -> SequenceSpan {
        SequenceSpan { first_token: 0, tokens: self.queries, len: self.keys, first_block: 0, first_row: 0 }
    }

    fn problem<'a>(
        &self,
        operands: &'a Operands,
        sequence: &'a SequenceSpan,
        factors: [&'a ScaleFactors; 2],
        fp8: Option<Fp8Products<'a>>,
    ) -> EmulatedProblem<'a> {
        AttentionProblem {
            q: &operands.q,
            shape: MhaShape {
                num_heads: self.heads(),
                num_kv_heads: self.kv_heads,
                head_dim: self.dim,
                v_head_dim: self.value_dim,
            },
            operands: KeysAndValues::Tensors(operands.tensors()),
            key_factors: factors[0],
            value_factors: factors[1],
            fp8,
            modifiers: Modifiers {
                softmax_scale: SOFTMAX_SCALE,
                logits_soft_cap: self.cap,
                alibi_slopes: self.alibi.then_some(&operands.slopes),
                sliding_window: self.window,
                sinks: self.sinks.then_some(&operands.sinks),
            },
            sequences: std::slice::from_ref(sequence),
        }
    }

    /// bfloat16 attention as the documentation says it, with sums in double precision.
    fn by_the_rules(&self) -> Vec<f32> {
        let operands = self.operands();
        let bf16_of = |x: f64| bf16::from_f32(x as f32).to_f64();
        let mut out = Vec::new();
        for query in 0..self.queries {
            let position = self.keys - self.queries + query;
            let first = self.window.map_or(0, |window| (position + 1).saturating_sub(window));
            for head in 0..self.heads() {
                let kv_head = head / self.group;
                let row =
                    |values: &[bf16], token: usize, heads: usize, head: usize, dim: usize| -> Vec<f64> {
                        values[(token * heads + head) * dim..][..dim].iter().map(|x| x.to_f64()).collect()
                    };
                let q = row(&operands.q, query, self.heads(), head, self.dim);
                let scores: Vec<f64> = (first..=position)
                    .map(|key| {
                        let k = row(&operands.k, key, self.kv_heads, kv_head, self.dim);
                        let product = bf16_of(q.iter().zip(&k).map(|(a, b)| a * b).sum());
                        let mut score = product * f64::from(SOFTMAX_SCALE);
                        if let Some(cap) = self.cap {
                            score = f64::from(cap) * (score / f64::from(cap)).tanh();
                        }
                        if self.alibi {
                            score -= f64::from(operands.slopes[head]) * (position - key) as f64;
                        }
                        score
                    })
                    .collect();
                let sink = self.sinks.then(|| f64::from(operands.sinks[head]));
                let max = scores.iter().copied().fold(sink.unwrap_or(f64::NEG_INFINITY), f64::max);
                let probs: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
                let sum = probs.iter().sum::<f64>() + sink.map_or(0.0, |sink| (sink - max).exp());
                for column in 0..self.value_dim {
                    let value =
                        |key: usize| row(&operands.v, key, self.kv_heads, kv_head, self.value_dim)[column];
                    let product: f64 =
                        probs.iter().zip(first..).map(|(p, key)| bf16_of(*p) * value(key)).sum();
                    out.push(bf16_of(bf16_of(product) / sum) as f32);
                }
            }
        }
        out
    }

    /// The results of every level.
    fn run(
        &self,
        generation: Generation,
        factors: [&ScaleFactors; 2],
        fp8: Option<Fp8Products<'_>>,
    ) -> Vec<(Level, Vec<f32>)> {
        let (operands, sequence, mut codes) = (self.operands(), self.sequence(), Default::default());
        let problem = self.problem(&operands, &sequence, factors, fp8);
        let taken = Taken::of_tensors(generation, &problem, &operands.tensors(), &mut codes).unwrap();
        let all = levels().into_iter();
        all.flat_map(|level| [Threads::Pool, Threads::Calling].map(|threads| Runner { level, threads }))
            .map(|runner| {
                let mut out = vec![f32::NAN; self.queries * self.heads() * self.value_dim];
                runner.attend(generation, &problem, taken, &mut out).unwrap();
                (runner.level, out)
            })
            .collect()
    }

    fn check(&self, expected: &[f32], all: &[(Level, Vec<f32>)], bound: f32) {
        for (level, out) in all {
            let equal = expected.iter().zip(out).filter(|(a, b)| a == b).count();
            // Where every score is exact, only the sum of the probabilities may differ.
            let needed = if bound == EXACT_SCORES { expected.len() * 97 / 100 } else { 0 };
            assert!(equal >= needed, "{level:?}: {equal} of {} are equal in {self:?}", expected.len());
            for (row, (expected, out)) in
                expected.chunks(self.value_dim).zip(out.chunks(self.value_dim)).enumerate()
            {
                let largest = expected.iter().fold(f32::MIN_POSITIVE, |max, x| max.max(x.abs()));
                for (expected, found) in expected.iter().zip(out) {
                    let distance = (expected - found).abs() / largest;
                    assert!(distance <= bound, "{level:?}: row {row}: {found} for {expected} in {self:?}");
                }
            }
        }
    }

    fn check_rules(&self, bound: f32) {
        let one = ScaleFactors::ONE;
        let found = self.run(Generation::Gaudi2, [&one, &one], None);
        self.check(&self.by_the_rules(), &found, bound);
    }

    /// An FP8 prefill of the exact device, and of every level.
    fn check_fp8(&self, generation: Generation, query_scale: &QueryScale, bound: f32) {
        let scales = |base: f32| {
            HeadScales::PerHead((0..self.kv_heads).map(|head| base * (1 << head) as f32).collect())
        };
        let key = ScaleFactors { quant: scales(2.0), dequant: scales(0.5) };
        let value = ScaleFactors { quant: scales(0.5), dequant: scales(2.0) };
        let fp8 = Fp8Products { query_scale, prob: ScaleFactors::from_quant(8.0) };
        let (operands, sequence, factors) = (self.operands(), self.sequence(), [&key, &value]);
        let problem = self.problem(&operands, &sequence, factors, Some(fp8));
        let mut expected = vec![f32::NAN; self.queries * self.heads() * self.value_dim];
        let device = Emulated::new(generation, Mode::Exact);
        device.attend(&problem, &mut AttentionWorkspace::default(), &mut expected).unwrap();
        self.check(&expected, &self.run(generation, factors, Some(fp8)), bound);
    }
}

#[test]
fn integers_agree_with_the_rules() {
    Case::default().check_rules(EXACT_SCORES);
    // MLA's, expanded; one query; many cached tokens; more than a panel of values.
    let mla = Case { kv_heads: 4, group: 1, dim: 96, queries: 70, keys: 70, ..Case::default() };
    mla.check_rules(EXACT_SCORES);
    Case { queries: 1, keys: 1, ..Case::default() }.check_rules(EXACT_SCORES);
    Case { queries: 3, keys: 200, ..Case::default() }.check_rules(EXACT_SCORES);
    Case { dim: 65, value_dim: 80, queries: 20, keys: 100, ..Case::default() }.check_rules(EXACT_SCORES);
}

#[test]
fn modifiers_agree_with_the_rules() {
    let case = Case { queries: 130, keys: 150, ..Case::default() };
    Case { window: Some(70), ..case.clone() }.check_rules(EXACT_SCORES);
    Case { window: Some(1), ..case.clone() }.check_rules(EXACT_SCORES);
    Case { cap: Some(5.0), ..case.clone() }.check_rules(EXACT_SCORES);
    Case { alibi: true, ..case.clone() }.check_rules(EXACT_SCORES);
    Case { sinks: true, window: Some(65), ..case }.check_rules(EXACT_SCORES);
}

#[test]
fn normal_numbers_agree_to_a_few_roundings() {
    Case { integers: false, ..Case::default() }.check_rules(FLOAT_SCORES);
    Case { integers: false, kv_heads: 4, group: 1, dim: 96, queries: 90, keys: 240, ..Case::default() }
        .check_rules(FLOAT_SCORES);
}

#[test]
fn fp8_agrees_with_products() {
    for generation in Generation::ALL {
        let fixed = QueryScale::Static(ScaleFactors::ONE);
        let case = Case { queries: 100, keys: 130, ..Case::default() };
        case.check_fp8(generation, &fixed, EXACT_SCORES);
        Case { integers: false, ..case }.check_fp8(generation, &QueryScale::Dynamic, FLOAT_SCORES);
    }
}

#[test]
fn a_tile_of_keys_that_no_query_sees_changes_nothing() {
    // The last 64 keys, a tile of their own, are seen by the last queries only.
    let case = Case { queries: 128, keys: 128, ..Case::default() };
    let mut operands = case.operands();
    let row = case.kv_heads * case.value_dim;
    operands.v[64 * row..].fill(bf16::NAN);
    let (sequence, one) = (case.sequence(), ScaleFactors::ONE);
    let problem = case.problem(&operands, &sequence, [&one, &one], None);
    let expected = case.by_the_rules();
    for level in levels() {
        let mut out = vec![0.0; expected.len()];
        let runner = Runner { level, threads: Threads::Calling };
        let mut codes = Default::default();
        let taken = Taken::of_tensors(Generation::Gaudi2, &problem, &operands.tensors(), &mut codes).unwrap();
        runner.attend(Generation::Gaudi2, &problem, taken, &mut out).unwrap();
        let (first, last) = out.split_at(64 * case.heads() * case.value_dim);
        assert!(first.iter().all(|x| x.is_finite()), "{level:?}");
        assert!(last.iter().all(|x| x.is_nan()), "{level:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_shape(
        (kv_heads, group, dim, value_dim) in (1..4usize, 1..5usize, 1..100usize, 1..150usize),
        (queries, context) in (1..90usize, 0..150usize),
        (sinks, alibi) in any::<(bool, bool)>(),
        window in prop::option::of(1..200usize),
        seed: u64,
    ) {
        let keys = queries + context;
        let case = Case {
            kv_heads, group, dim, value_dim, queries, keys, window, alibi, sinks, seed, ..Case::default()
        };
        case.check_rules(EXACT_SCORES);
    }
}
