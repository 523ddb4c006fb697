//! Every instruction set against the exact device.
//!
//! With integers of few bits every float sum is exact, whatever its order, and so is each score: results then agree to
//! the rounding of the sum of the probabilities alone. With normal numbers a score may fall on the other side of a
//! bfloat16 rounding, or a probability on the other side of an FP8 rounding.

mod prefill;
mod project;

use gaudi_numerics::simd::{Isa, Level};
use half::bf16;
use proptest::prelude::*;

use super::Runner;
use super::job::{Job, Operation};
use crate::device::emulated::common::operands::Operands;
use crate::device::emulated::common::threads::Threads;
use crate::device::emulated::{Emulated, Mode};
use crate::device::{
    AttentionProblem, AttentionWorkspace, Device, Fp8Products, HeadScales, KeysAndValues, MhaShape,
    Modifiers, PlaneLayout, PlanePair, QueryScale, SequenceSpan, StorageDtype,
};
use crate::fp8::Encoder;
use crate::{Generation, ScaleFactors};

/// Every level that this machine can run.
fn levels() -> Vec<Level> {
    Isa::available().into_iter().filter_map(Level::new).collect()
}

/// A small generator of repeatable numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.next() as f32 / (1u64 << 31) as f32).sum::<f32>() - 6.0
    }

    /// -2, -1, 0, 1 or 2.
    fn integer(&mut self) -> f32 {
        (self.next() % 5) as f32 - 2.0
    }
}

/// A decode to try.
#[derive(Debug, Clone)]
struct Case {
    generation: Generation,
    dtype: StorageDtype,
    block_size_tokens: usize,
    kv_heads: usize,
    group: usize,
    dim: usize,
    /// `None` for values in the prefix of the keys.
    value_dim: Option<usize>,
    prefix: usize,
    /// Query tokens and tokens in all of each sequence.
    sequences: Vec<(usize, usize)>,
    per_head: bool,
    dynamic: bool,
    integers: bool,
    window: Option<usize>,
    cap: Option<f32>,
    alibi: bool,
    sinks: bool,
    /// One element of each plane is NaN.
    nan: bool,
    seed: u64,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            generation: Generation::Gaudi2,
            dtype: StorageDtype::Fp8,
            block_size_tokens: 16,
            kv_heads: 2,
            group: 4,
            dim: 128,
            value_dim: Some(128),
            prefix: 0,
            sequences: vec![(1, 200), (1, 17)],
            per_head: false,
            dynamic: false,
            integers: false,
            window: None,
            cap: None,
            alibi: false,
            sinks: false,
            nan: false,
            seed: 1,
        }
    }
}

impl Case {
    fn mla() -> Self {
        Self { kv_heads: 1, group: 16, dim: 576, value_dim: None, prefix: 512, ..Self::default() }
    }

    /// Results of the exact device, then of every level.
    fn run(&self) -> (Vec<f32>, Vec<(Level, Vec<f32>)>) {
        let mut numbers = Numbers(self.seed);
        let integers = self.integers;
        let mut values = |len: usize| -> Vec<bf16> {
            (0..len)
                .map(|_| bf16::from_f32(if integers { numbers.integer() } else { numbers.normal() }))
                .collect()
        };
        let device = Emulated::new(self.generation, Mode::Exact);
        let size = self.block_size_tokens;
        let needed: usize = self.sequences.iter().map(|(_, len)| len.div_ceil(size)).sum();
        let num_blocks = needed + 3;
        let scales = |factor: f32| {
            if self.per_head {
                HeadScales::PerHead((0..self.kv_heads).map(|head| factor * (1 << head) as f32).collect())
            } else {
                HeadScales::One(factor)
            }
        };
        let inverse = |scales: &HeadScales| match scales {
            HeadScales::One(one) => HeadScales::One(1.0 / one),
            HeadScales::PerHead(all) => HeadScales::PerHead(all.iter().map(|x| 1.0 / x).collect()),
        };
        let plane = |dim: usize, quant: &HeadScales, values: &mut dyn FnMut(usize) -> Vec<bf16>| {
            let layout = PlaneLayout {
                num_blocks,
                has_pad_block: true,
                block_size_tokens: size,
                heads: self.kv_heads,
                dim,
                dtype: self.dtype,
            };
            let mut plane = device.allocate(&layout).unwrap();
            let slots: Vec<usize> = (0..layout.pad_slot()).collect();
            let mut rows = values(slots.len() * layout.row());
            if self.nan {
                let middle = rows.len() / 2;
                rows[middle] = bf16::NAN;
            }
            device.write(&mut plane, &rows, &slots, quant).unwrap();
            plane
        };
        let (key_quant, value_quant) = (scales(2.0), scales(0.5));
        let key = plane(self.dim, &key_quant, &mut values);
        let value = self.value_dim.map(|dim| plane(dim, &value_quant, &mut values));
        // Blocks in an order of no kind: a step of 7 or 5, coprime to their number.
        let step = if num_blocks.is_multiple_of(7) { 5 } else { 7 };
        let step = if num_blocks.is_multiple_of(step) { 1 } else { step };
        let blocks: Vec<usize> = (0..needed).map(|n| n * step % num_blocks).collect();
        let (mut first_token, mut first_block) = (0, 0);
        let sequences: Vec<SequenceSpan> = self
            .sequences
            .iter()
            .map(|(tokens, len)| {
                let sequence =
                    SequenceSpan { first_token, tokens: *tokens, len: *len, first_block, first_row: 0 };
                first_token += tokens;
                first_block += len.div_ceil(size);
                sequence
            })
            .collect();
        let num_heads = self.kv_heads * self.group;
        let q = values(first_token * num_heads * self.dim);
        let factors = |quant: HeadScales| ScaleFactors { dequant: inverse(&quant), quant };
        let (key_factors, value_factors) = (factors(key_quant), factors(value_quant));
        let value_factors = if value.is_some() { value_factors } else { key_factors.clone() };
        let query_scale = if self.dynamic {
            QueryScale::Dynamic
        } else {
            QueryScale::Static(ScaleFactors { quant: scales(4.0), dequant: inverse(&scales(4.0)) })
        };
        let slopes: Vec<f32> = (0..num_heads).map(|h| 0.5f32.powi(h as i32 % 8)).collect();
        let sinks: Vec<f32> = (0..num_heads).map(|h| h as f32 / 4.0 - 1.0).collect();
        let v_head_dim = self.value_dim.unwrap_or(self.prefix);
        let fp8 = Fp8Products { query_scale: &query_scale, prob: ScaleFactors::from_quant(8.0) };
        let pair = || PlanePair { key: &key, value: value.as_ref().unwrap_or(&key), blocks: &blocks };
        let problem = AttentionProblem {
            q: &q,
            shape: MhaShape { num_heads, num_kv_heads: self.kv_heads, head_dim: self.dim, v_head_dim },
            operands: KeysAndValues::Planes(pair()),
            key_factors: &key_factors,
            value_factors: &value_factors,
            fp8: (self.dtype == StorageDtype::Fp8).then_some(fp8),
            modifiers: Modifiers {
                softmax_scale: 0.125,
                logits_soft_cap: self.cap,
                alibi_slopes: self.alibi.then_some(&slopes),
                sliding_window: self.window,
                sinks: self.sinks.then_some(&sinks),
            },
            sequences: &sequences,
        };
        let mut expected = vec![f32::NAN; first_token * num_heads * v_head_dim];
        device.attend(&problem, &mut AttentionWorkspace::default(), &mut expected).unwrap();
        let pair = pair();
        let all = levels()
            .into_iter()
            .map(|level| {
                let mut out = vec![f32::NAN; expected.len()];
                Runner { level, threads: Threads::Pool }
                    .attend(self.generation, &problem, Operands::Planes(&pair), &mut out)
                    .unwrap();
                (level, out)
            })
            .collect();
        (expected, all)
    }

    /// The largest distance from the expected result, in units of the largest magnitude of the row.
    fn check(&self, bound: f32) {
        let dim = self.value_dim.unwrap_or(self.prefix);
        let (expected, all) = self.run();
        for (level, out) in &all {
            let equal = expected.iter().zip(out).filter(|(a, b)| a == b || a.is_nan()).count();
            // Where every score is exact, all codes are equal, and only the sum of the probabilities may differ.
            let needed = if bound == EXACT_SCORES { expected.len() * 99 / 100 } else { 0 };
            assert!(equal >= needed, "{level:?}: {equal} of {} are equal in {self:?}", expected.len());
            for (row, (expected, out)) in expected.chunks(dim).zip(out.chunks(dim)).enumerate() {
                let largest = expected.iter().fold(f32::MIN_POSITIVE, |max, x| max.max(x.abs()));
                for (column, (expected, found)) in expected.iter().zip(out).enumerate() {
                    if expected.is_nan() {
                        assert!(found.is_nan(), "{level:?}: row {row} column {column}: {found} in {self:?}");
                        continue;
                    }
                    let distance = (expected - found).abs() / largest;
                    assert!(
                        distance <= bound,
                        "{level:?}: row {row} column {column}: {found} for {expected} ({distance}) in {self:?}"
                    );
                }
            }
        }
    }
}

/// One step of bfloat16 at the row's largest magnitude: the sum of the probabilities is rounded differently.
const EXACT_SCORES: f32 = 1.0 / 128.0;
/// A few FP8 roundings of probabilities on the other side, each 1/16 of its probability.
const FLOAT_SCORES: f32 = 1.0 / 24.0;

#[test]
fn integers_agree_to_the_sum() {
    for generation in Generation::ALL {
        for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
            let case = Case { generation, dtype, integers: true, ..Case::default() };
            case.check(EXACT_SCORES);
            Case { dtype, generation, integers: true, ..Case::mla() }.check(EXACT_SCORES);
        }
    }
}

#[test]
fn normal_numbers_agree_to_a_few_roundings() {
    for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
        Case { dtype, dynamic: true, ..Case::default() }.check(FLOAT_SCORES);
        Case { dtype, group: 128, ..Case::mla() }.check(FLOAT_SCORES);
    }
}

#[test]
fn modifiers() {
    let case = Case { sequences: vec![(3, 300), (1, 1), (2, 65)], integers: true, ..Case::default() };
    Case { window: Some(70), ..case.clone() }.check(EXACT_SCORES);
    Case { window: Some(1), ..case.clone() }.check(EXACT_SCORES);
    Case { cap: Some(5.0), ..case.clone() }.check(EXACT_SCORES);
    Case { alibi: true, ..case.clone() }.check(EXACT_SCORES);
    Case { sinks: true, ..case.clone() }.check(EXACT_SCORES);
    Case { window: Some(200), cap: Some(5.0), alibi: true, sinks: true, ..case }.check(EXACT_SCORES);
}

#[test]
fn nan_goes_where_it_goes_in_products() {
    for dtype in [StorageDtype::Fp8, StorageDtype::Bf16] {
        let case = Case { nan: true, dtype, integers: true, ..Case::default() };
        assert!(case.run().0.iter().any(|x| x.is_nan()));
        case.check(EXACT_SCORES);
        Case { nan: true, dtype, integers: true, ..Case::mla() }.check(EXACT_SCORES);
    }
}

#[test]
fn many_query_tokens_are_cut_into_tasks() {
    let sequences = vec![(150, 200), (1, 40)];
    Case { sequences, group: 2, integers: true, ..Case::default() }.check(EXACT_SCORES);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_shape(
        (dtype, block) in (0..3usize, 4..9u32),
        (kv_heads, group, dim, value_dim) in (1..4usize, 1..8usize, 1..150usize, 1..150usize),
        lens in prop::collection::vec((1..5usize, 0..300usize), 1..4),
        is_latent: bool,
        (per_head, dynamic, sinks, alibi) in any::<(bool, bool, bool, bool)>(),
        window in prop::option::of(1..400usize),
        seed: u64,
    ) {
        let prefix = 1 + value_dim % dim;
        Case {
            dtype: [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32][dtype],
            block_size_tokens: 1 << block,
            kv_heads: if is_latent { 1 } else { kv_heads },
            group,
            dim,
            value_dim: (!is_latent).then_some(value_dim),
            prefix,
            sequences: lens.iter().map(|(tokens, context)| (*tokens, tokens + context)).collect(),
            per_head,
            // A quotient by an amax is no integer.
            dynamic: dynamic && dtype != 0,
            integers: true,
            window,
            alibi,
            sinks,
            seed,
            ..Case::default()
        }
        .check(EXACT_SCORES);
    }
}

/// An operation of the softmax on a level.
fn map(level: Level, numbers: &[f32], operation: Operation) -> Vec<f32> {
    let mut numbers = numbers.to_vec();
    level.run_with_bf16(Job::Map(&mut numbers, operation));
    numbers
}

#[test]
fn exponential_is_that_of_the_exact_path() {
    // Every 499th float32 of at most 0 down to -200, then what lies beyond, NaN included.
    let mut numbers: Vec<f32> = (0x8000_0000..0xC348_0000_u32).step_by(499).map(f32::from_bits).collect();
    numbers.extend([-1e9, f32::MIN, f32::NEG_INFINITY, f32::NAN, 0.0]);
    // Around the ends of the pieces that the argument falls into.
    for end in [0xB900_0000_u32, 0xBEB1_7218, 0xBF85_1592, 0xC2AE_AC50, 0xC2CF_F1B5, 0xC2D0_0000] {
        numbers.extend((end - 200..end + 200).map(f32::from_bits));
    }
    for level in levels() {
        let found = map(level, &numbers, Operation::Exp);
        for (x, y) in numbers.iter().zip(found) {
            let expected = libm::expf(*x);
            let same = expected.to_bits() == y.to_bits() || (expected.is_nan() && y.is_nan());
            assert!(same, "{level:?}: exp({x:e}) is {y:e}, not {expected:e}");
        }
    }
}

#[test]
fn probabilities_are_rounded_as_the_encoder_does() {
    for generation in Generation::ALL {
        let encoder = Encoder::kv_cache(generation);
        // Every 499th float32 from 0 to beyond 448, with all ties between codes.
        let mut numbers: Vec<f32> = (0..0x4400_0000_u32).step_by(499).map(f32::from_bits).collect();
        let values: Vec<f32> = (0..encoder.format.max_code())
            .map(|code| f32::from_bits(encoder.format.decode_bits(code)))
            .collect();
        numbers.extend(values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0));
        numbers.extend([448.0, 464.0, 464.1, 480.0, 248.0, 248.1, 1e9, f32::INFINITY]);
        for level in levels() {
            let found = map(level, &numbers, Operation::RoundE4m3(encoder.format.max_value()));
            for (x, y) in numbers.iter().zip(found) {
                let expected = f32::from_bits(encoder.format.decode_bits(encoder.encode(*x)));
                assert_eq!(y.to_bits(), expected.to_bits(), "{level:?}: {x:e}");
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let case = Case { sequences: vec![(1, 500), (2, 90)], kv_heads: 4, ..Case::default() };
    let latent = Case { group: 64, ..Case::mla() };
    for case in [case, latent] {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let bits = |row: &Vec<f32>| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            pool.install(|| case.run()).1.iter().map(|(_, out)| bits(out)).collect::<Vec<_>>()
        };
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(7));
    }
}
