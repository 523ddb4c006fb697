//! Every way to compute the same tokens agrees: one prefill, prefill and decode, chunks, cached context.
//!
//! The ways differ in what went through the cache. With `d` the scale, a value that did is off by at most
//! `e(x) = 0.076 |x| + 1.02 * 2^-10 d` while it is in range (`docs/numerics.md`: write and read back, and the denormal
//! codes). So a score is off by at most `D = softmax_scale * sum(|q| e(k) + |k| e(q) + e(q) e(k))`, of which the largest
//! over the keys counts, and an output by at most
//!
//! `exp_m1(2 D) * (W + E) + E`, with `W = sum(w |v|)`, `E = 0.076 W + 1.02 * 2^-10 d_v`
//!
//! on top of the arithmetic's own bound (`float64`). Two ways differ by at most the sum of their bounds.

use gaudi_kv::Generation;
use gaudi_kv::cache::BlockCache;
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::Mode;
use half::bf16;

use crate::cases::{Mha, Place, Scale, Table, references};
use crate::float64::{attend, relative_l2};
use crate::latents::Mla;
use crate::model::Head;
use crate::numbers::{Random, bits};

const MODES: [Mode; 2] = [Mode::Exact, Mode::Fast];

#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Prefill,
    Decode,
}
use How::{Decode, Prefill};

/// Ways through 45 tokens: how many at a time, and how.
fn ways() -> Vec<Vec<(usize, How)>> {
    vec![
        vec![(45, Prefill)],
        vec![(44, Prefill), (1, Decode)],
        [vec![(7, Prefill)], vec![(1, Decode); 38]].concat(),
        vec![(16, Prefill), (29, Prefill)],
        vec![(10, Prefill); 4].into_iter().chain([(5, Prefill)]).collect(),
        vec![(20, Prefill), (3, Decode), (12, Prefill), (10, Decode)],
        vec![(45, Decode)],
    ]
}

/// The part of a layer with one sequence that a step sees: `len` tokens, the last of which are its query.
fn step(case: &Mha, at: usize, tokens: usize) -> Mha {
    let mut part = case.clone();
    let sequence = &mut part.sequences[0];
    let q_row = case.heads.0 * case.dims.0;
    sequence.q = sequence.q[at * q_row..(at + tokens) * q_row].to_vec();
    sequence.k.truncate((at + tokens) * case.heads.1 * case.dims.0);
    sequence.v.truncate((at + tokens) * case.heads.1 * case.dims.1);
    sequence.place = Place { queries: tokens, len: at + tokens, ..sequence.place.clone() };
    part
}

/// Every token of the one sequence, on a way.
fn through(case: &Mha, mode: Mode, way: &[(usize, How)]) -> Vec<f32> {
    let (device, attention) = (case.device(mode), case.attention());
    let mut cache = case.empty_cache(&device);
    let (mut out, mut at) = (Vec::new(), 0);
    for (tokens, how) in way {
        let part = step(case, at, *tokens);
        let (sequence, table) = (&part.sequences[0], part.table());
        let write = |cache: &mut _| part.write(&device, cache, sequence, at..at + tokens);
        out.extend(match how {
            Prefill => {
                let (k, v) = part.tokens(sequence, at..at + tokens);
                let out =
                    attention.prefill(&device, Some(&cache), (&sequence.q, k, v), &table.batch()).unwrap();
                write(&mut cache);
                out
            }
            Decode => {
                write(&mut cache);
                attention.decode(&device, &cache, &sequence.q, &table.batch()).unwrap()
            }
        });
        at += tokens;
    }
    out
}

/// How far what went through the cache may lead away from `head`, whose operands are as they came.
fn cached_bound(head: &Head, case: &Mha, cached: usize, is_decode: bool, q_scale: Option<f32>) -> Vec<f64> {
    let wide =
        |rows: &[crate::model::Row]| rows.iter().map(|row| row.to_f64(head.generation)).collect::<Vec<_>>();
    let (query, keys, values) = (head.query.to_f64(head.generation), wide(&head.keys), wide(&head.values));
    let error = |x: f64, dequant: f32| 0.076 * x.abs() + 1.02 * 2f64.powi(-10) * f64::from(dequant);
    let amax = query.iter().fold(0.0, |amax: f64, q| amax.max(q.abs()));
    let dequant = q_scale.unwrap_or((amax / f64::from(head.generation.fp8_max())) as f32);
    let score = keys[..head.position + 1]
        .iter()
        .enumerate()
        .map(|(key, row)| {
            let off = query.iter().zip(row).map(|(q, k)| {
                let e_q = if is_decode { error(*q, dequant) } else { 0.0 };
                let e_k = if is_decode || key < cached { error(*k, case.k_scale.dequant[0]) } else { 0.0 };
                q.abs() * e_k + k.abs() * e_q + e_q * e_k
            });
            off.sum::<f64>() * f64::from(head.modifiers.softmax_scale)
        })
        .fold(0.0, f64::max);
    let weights = attend(&query, &keys, &values, &head.modifiers, head.position).weights;
    (0..values[0].len())
        .map(|d| {
            let weighted: f64 = weights.iter().zip(&values).map(|(w, v)| w * v[d].abs()).sum();
            let e = if is_decode || cached > 0 { error(weighted, case.v_scale.dequant[0]) } else { 0.0 };
            (2.0 * score).exp_m1() * (weighted + e) + e
        })
        .collect()
}

/// The bound of each output on a way, against float64 over what was given.
fn bounds(case: &Mha, way: &[(usize, How)]) -> Vec<f64> {
    let mut as_given = case.clone();
    as_given.dtype = StorageDtype::Bf16;
    let (mut bounds, mut at) = (Vec::new(), 0);
    for (tokens, how) in way {
        let given = step(&as_given, at, *tokens).decode_heads();
        let part = step(case, at, *tokens);
        let own = if *how == Decode { part.decode_heads() } else { part.prefill_heads() };
        for (given, own) in given.iter().zip(&own) {
            let q_scale = case.query.as_ref().map(|scale| scale.dequant[0]);
            let cached = cached_bound(given, case, at, *how == Decode, q_scale);
            let (expected, own) = (given.reference().out, own.reference());
            for ((cached, expected), (out, arithmetic)) in
                cached.iter().zip(&expected).zip(own.out.iter().zip(&own.bound))
            {
                // The derivation itself: float64 over the operands of the way.
                assert!((out - expected).abs() <= *cached + 1e-12, "{out} {expected} {cached}");
                bounds.push(cached + arithmetic);
            }
        }
        at += tokens;
    }
    bounds
}

/// A layer with one sequence of 45 tokens, every one of them with a query. The values are positive, so that an output
/// is as large as `W` and the bound is sharp.
fn sequence_of_45(seed: u64, generation: Generation, q_size: f64) -> Mha {
    let mut case = Mha::plain(&mut Random::new(seed), generation, (4, 2), (16, 12), &[(45, 45)]);
    (case.k_scale, case.v_scale) = (Scale::new(&[0.5 * 4.0 / 240.0]), Scale::new(&[2.0 * 4.0 / 240.0]));
    for value in &mut case.sequences[0].v {
        *value = bf16::from_f32(value.to_f32().abs() + 0.5);
    }
    for value in &mut case.sequences[0].k {
        *value = bf16::from_f32(value.to_f32() * 0.5);
    }
    for value in &mut case.sequences[0].q {
        *value = bf16::from_f32(value.to_f32() * q_size as f32);
    }
    case
}

#[test]
fn every_way_stays_within_its_bound_and_near_every_other() {
    for (seed, generation) in (0..3).zip([Generation::Gaudi2, Generation::Gaudi3, Generation::Gaudi2]) {
        for mode in MODES {
            for query in [None, Some(Scale::new(&[0.01]))] {
                let mut case = sequence_of_45(seed, generation, 0.15);
                case.query = query;
                let mut as_given = case.clone();
                as_given.dtype = StorageDtype::Bf16;
                let expected = references(&as_given.decode_heads()).out;
                let results: Vec<_> =
                    ways().iter().map(|way| (through(&case, mode, way), bounds(&case, way))).collect();
                for (way, (out, bound)) in results.iter().enumerate() {
                    assert_eq!(out.len(), expected.len());
                    for (index, ((out, expected), bound)) in out.iter().zip(&expected).zip(bound).enumerate()
                    {
                        let error = (f64::from(*out) - expected).abs();
                        assert!(error <= *bound, "way {way}, element {index}: {out} {expected} {bound}");
                        // Sharp enough to notice a scale that is off by two.
                        assert!(*bound < 0.5 * expected.abs(), "way {way}: {bound} of {expected}");
                    }
                    for (other, other_bound) in &results[..way] {
                        for (index, (a, b)) in out.iter().zip(other).enumerate() {
                            assert!(f64::from((a - b).abs()) <= bound[index] + other_bound[index]);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn keys_that_matter_are_read_with_the_same_scale_on_every_way() {
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = sequence_of_45(7, generation, 3.0);
            // Every other token's values are negative: the output depends on the weights.
            for row in case.sequences[0].v.chunks_exact_mut(2 * 12).step_by(2) {
                row.iter_mut().for_each(|value| *value = -*value);
            }
            let mut as_given = case.clone();
            as_given.dtype = StorageDtype::Bf16;
            let expected = references(&as_given.decode_heads()).out;
            for way in ways() {
                let error = relative_l2(&through(&case, mode, &way), &expected);
                assert!(error < 0.06, "{way:?}: {error}");
            }
            // Any way that took another scale for the keys would show.
            let given = case.sequences[0].k.clone();
            for factor in [0.5, 2.0] {
                case.dtype = StorageDtype::Bf16;
                case.sequences[0].k = given.iter().map(|k| bf16::from_f32(k.to_f32() * factor)).collect();
                assert!(relative_l2(&case.decode(mode), &expected) > 0.12);
            }
        }
    }
}

#[test]
fn without_fp8_every_way_gives_the_same_bits() {
    for generation in Generation::ALL {
        for dtype in [StorageDtype::Bf16, StorageDtype::F32] {
            let mut case = sequence_of_45(8, generation, 1.0);
            case.dtype = dtype;
            let expected = through(&case, Mode::Exact, &ways()[0]);
            let reference = references(&case.decode_heads());
            for way in ways() {
                assert_eq!(bits(&through(&case, Mode::Exact, &way)), bits(&expected), "{way:?}");
                reference.check(&through(&case, Mode::Fast, &way), "fast");
            }
        }
    }
}

#[test]
fn with_an_fp8_prefill_every_way_gives_the_bits_of_the_decode() {
    // A value read from the cache to bfloat16 is off by less than 4/257, so quantizing it again restores its code.
    for generation in Generation::ALL {
        for query in [None, Some(Scale::new(&[0.013]))] {
            let mut case = sequence_of_45(9, generation, 1.0);
            case.options.fp8_prefill = true;
            case.query = query;
            let expected = case.decode(Mode::Exact);
            let reference = references(&case.decode_heads());
            for way in ways() {
                assert_eq!(bits(&through(&case, Mode::Exact, &way)), bits(&expected), "{way:?}");
                reference.check(&through(&case, Mode::Fast, &way), "fast");
            }
        }
    }
}

#[test]
fn a_prefix_from_another_cache_is_as_good_as_an_own_one() {
    for generation in Generation::ALL {
        for mode in MODES {
            let case = sequence_of_45(10, generation, 1.0);
            let device = case.device(mode);
            // The producer's cache has the first two blocks; the consumer takes them.
            let (mut producer, mut consumer) = (case.empty_cache(&device), case.empty_cache(&device));
            case.write(&device, &mut producer, &case.sequences[0], 0..32);
            for block in &case.sequences[0].place.blocks[..2] {
                let image = producer.export_block(&device, *block).unwrap();
                consumer.import_block(&device, *block, &image).unwrap();
            }
            let part = step(&case, 32, 13);
            let (k, v) = part.tokens(&part.sequences[0], 32..45);
            let table = part.table();
            let operands = (&part.sequences[0].q[..], k, v);
            let run =
                |cache: &_| part.attention().prefill(&device, Some(cache), operands, &table.batch()).unwrap();
            let out = run(&consumer);
            assert_eq!(bits(&out), bits(&run(&producer)));
            let whole = through(&case, mode, &[(32, Prefill), (13, Prefill)]);
            assert_eq!(bits(&out), bits(&whole[whole.len() - out.len()..]));
        }
    }
}

/// An MLA layer's one sequence, on a way.
fn latents_through(case: &Mla, mode: Mode, way: &[(usize, How)]) -> Vec<f32> {
    let (device, attention) = (case.device(mode), case.attention());
    let mut cache = case.empty_cache(&device);
    let (mut out, mut at) = (Vec::new(), 0);
    let sequence = &case.sequences[0];
    for (tokens, how) in way {
        let end = at + tokens;
        let place = Place { queries: *tokens, len: end, ..sequence.place.clone() };
        let table = Table::new(&[place]);
        let (nope, rope) = (
            case.shape.num_heads * case.shape.qk_nope_head_dim,
            case.shape.num_heads * case.shape.qk_rope_head_dim,
        );
        let q = (&sequence.q_nope[at * nope..end * nope], &sequence.q_pe[at * rope..end * rope]);
        let new = case.tokens(sequence, at..end);
        if *how == Prefill {
            out.extend(attention.prefill(&device, Some(&cache), q, new, &table.batch()).unwrap());
        }
        case.write(&device, &mut cache, sequence, at..end);
        if *how == Decode {
            out.extend(attention.decode(&device, &cache, q, &table.batch()).unwrap());
        }
        at = end;
    }
    out
}

#[test]
fn latents_on_every_way() {
    let shape = gaudi_kv::attention::MlaShape {
        num_heads: 3,
        kv_lora_rank: 32,
        qk_nope_head_dim: 16,
        qk_rope_head_dim: 8,
        v_head_dim: 12,
    };
    for generation in Generation::ALL {
        for mode in MODES {
            for (fp8_prefill, limit) in [(false, 0.08), (true, 0.1)] {
                let mut case = Mla::plain(&mut Random::new(11), generation, shape, &[(45, 45)]);
                case.k_scale = Scale::new(&[4.0 / 240.0]);
                case.options.fp8_prefill = fp8_prefill;
                let expected = case.expanded_reference();
                for way in ways() {
                    let error = relative_l2(&latents_through(&case, mode, &way), &expected);
                    assert!(error < limit, "{generation} {mode} {way:?}: {error}");
                }
                // A scale that is off by two on the way out would show.
                let halved: Vec<f64> = expected.iter().map(|x| x / 2.0).collect();
                assert!(relative_l2(&case.decode(mode), &halved) > 0.5);
            }
            // Without FP8 all prefills give the same bits; the decode is computed otherwise.
            let mut case = Mla::plain(&mut Random::new(12), generation, shape, &[(45, 45)]);
            case.dtype = StorageDtype::Bf16;
            let expected = case.expanded_reference();
            let whole = latents_through(&case, mode, &ways()[0]);
            for way in ways() {
                let out = latents_through(&case, mode, &way);
                assert!(relative_l2(&out, &expected) < 0.01);
                if mode == Mode::Exact && way.iter().all(|(_, how)| *how == Prefill) {
                    assert_eq!(bits(&out), bits(&whole));
                }
            }
        }
    }
}

#[test]
fn both_modes_leave_the_same_codes_in_the_cache() {
    for generation in Generation::ALL {
        let case = sequence_of_45(13, generation, 1.0);
        let images = |mode| {
            let device = case.device(mode);
            let cache = case.cache(&device, true);
            (0..4).map(|block| cache.export_block(&device, block).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(images(Mode::Exact), images(Mode::Fast));
    }
}
