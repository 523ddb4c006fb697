//! Batches and layers of every shape: what belongs to one sequence depends on nothing else.

use gaudi_kv::Generation;
use gaudi_kv::attention::{AttentionOptions, MhaAttention, MlaShape};
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::Mode;
use half::bf16;

use crate::cases::{Mha, Place, Scale, Table, attention_scales, block_count, places, references, shape};
use crate::float64::{attend, relative_l2};
use crate::latents::Mla;
use crate::model::Head;
use crate::numbers::{Random, bits};

const MODES: [Mode; 2] = [Mode::Exact, Mode::Fast];

#[test]
fn groups_of_1_to_8_and_heads_of_32_to_128() {
    let random = &mut Random::new(1);
    for generation in Generation::ALL {
        for (group, kv_heads, dims) in [
            (1, 2, (32, 32)),
            (2, 2, (64, 64)),
            (3, 1, (96, 64)),
            (4, 2, (128, 128)),
            (5, 1, (80, 80)),
            (6, 1, (64, 128)),
            (7, 2, (33, 65)),
            (8, 1, (128, 96)),
        ] {
            for block_size in [16, 128] {
                let heads = (group * kv_heads, kv_heads);
                let mut case = Mha::plain(random, generation, heads, dims, &[(1, 150), (4, 37)]);
                case.block_size = block_size;
                let fresh = places(random, &[(1, 150), (4, 37)], block_size);
                case.sequences.iter_mut().zip(fresh).for_each(|(sequence, place)| sequence.place = place);
                let (decode, prefill) = (references(&case.decode_heads()), references(&case.prefill_heads()));
                for mode in MODES {
                    let what = format!("{generation} {mode} {heads:?} {dims:?} {block_size}");
                    decode.check(&case.decode(mode), &what);
                    prefill.check(&case.prefill(mode), &what);
                }
            }
        }
    }
}

/// Checks that outputs have equal bits in the exact mode, and are within the bound in the fast one, which may sum in another
/// order.
fn same(mode: Mode, out: &[f32], expected: &[f32], heads: &[Head]) {
    match mode {
        Mode::Exact => assert_eq!(bits(out), bits(expected)),
        Mode::Fast => references(heads).check(out, "fast"),
    }
}

/// Plain float64 attention over the bfloat16 inputs of a case.
fn float64(case: &Mha) -> Vec<f64> {
    let mut case = case.clone();
    case.dtype = StorageDtype::Bf16;
    references(&case.decode_heads()).out
}

#[test]
fn each_modifier_does_what_it_says() {
    for generation in Generation::ALL {
        let mut case = Mha::plain(&mut Random::new(2), generation, (4, 2), (32, 24), &[(5, 60), (1, 9)]);
        case.dtype = StorageDtype::Bf16;
        let plain = case.decode(Mode::Exact);
        let changes: [fn(&mut AttentionOptions); 5] = [
            |options| options.sliding_window = Some(7),
            |options| options.logits_soft_cap = Some(0.5),
            |options| options.alibi_slopes = Some(vec![0.5, 0.25, 0.125, 0.0625]),
            |options| options.sinks = Some(vec![3.0, -1.0, 0.0, 5.0]),
            |options| options.softmax_scale *= 3.0,
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut case = case.clone();
            change(&mut case.options);
            // By a formula of its own: weights over the scores of a query, one option at a time.
            let expected = float64(&case);
            for mode in MODES {
                for out in [case.decode(mode), case.prefill(mode)] {
                    assert!(relative_l2(&out, &expected) < 0.01, "{number}");
                    assert!(relative_l2(&plain, &expected) > 0.05, "{number} has no effect");
                }
            }
        }
    }
}

#[test]
fn modifiers_by_hand() {
    // Scores of keys 0, 1, 2 for the query at 2: 1, 2, 3 times the scale. Values tell the weights.
    let mut case = Mha::plain(&mut Random::new(3), Generation::Gaudi3, (1, 1), (1, 3), &[(1, 3)]);
    case.dtype = StorageDtype::Bf16;
    case.options.softmax_scale = 0.5;
    case.sequences[0].q = vec![bf16::ONE];
    case.sequences[0].k = [1.0, 2.0, 3.0].map(bf16::from_f32).to_vec();
    case.sequences[0].v = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].map(bf16::from_f32).to_vec();
    let check = |options: AttentionOptions, scores: [f64; 3], sink: Option<f64>| {
        let mut case = case.clone();
        case.options = options;
        let sum: f64 = scores.iter().map(|s| s.exp()).sum::<f64>() + sink.map_or(0.0, f64::exp);
        for (out, score) in case.decode(Mode::Exact).iter().zip(scores) {
            assert!((f64::from(*out) - score.exp() / sum).abs() < 0.005, "{out} {}", score.exp() / sum);
        }
    };
    let plain = case.options.clone();
    let none = f64::NEG_INFINITY;
    check(plain.clone(), [0.5, 1.0, 1.5], None);
    check(AttentionOptions { sliding_window: Some(2), ..plain.clone() }, [none, 1.0, 1.5], None);
    check(AttentionOptions { sliding_window: Some(1), ..plain.clone() }, [none, none, 1.5], None);
    check(AttentionOptions { sliding_window: Some(99), ..plain.clone() }, [0.5, 1.0, 1.5], None);
    check(AttentionOptions { alibi_slopes: Some(vec![0.25]), ..plain.clone() }, [0.0, 0.75, 1.5], None);
    let cap = |x: f64| 2.0 * (x / 2.0).tanh();
    check(
        AttentionOptions { logits_soft_cap: Some(2.0), ..plain.clone() },
        [cap(0.5), cap(1.0), cap(1.5)],
        None,
    );
    check(AttentionOptions { sinks: Some(vec![2.0]), ..plain.clone() }, [0.5, 1.0, 1.5], Some(2.0));
    // The cap comes before ALiBi.
    let both = AttentionOptions { logits_soft_cap: Some(2.0), alibi_slopes: Some(vec![1.0]), ..plain };
    check(both, [cap(0.5) - 2.0, cap(1.0) - 1.0, cap(1.5)], None);
}

#[test]
fn where_blocks_are_makes_no_difference() {
    for generation in Generation::ALL {
        for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
            for mode in MODES {
                let mut case =
                    Mha::plain(&mut Random::new(4), generation, (4, 2), (24, 16), &[(2, 70), (3, 33)]);
                case.dtype = dtype;
                let (expected, prefilled) = (case.decode(mode), case.prefill(mode));
                for (seed, block_size) in [(1, 16), (2, 16), (3, 32), (4, 64), (5, 256)] {
                    case.block_size = block_size;
                    let fresh = places(&mut Random::new(seed), &[(2, 70), (3, 33)], block_size);
                    case.sequences.iter_mut().zip(fresh).for_each(|(sequence, place)| sequence.place = place);
                    same(mode, &case.decode(mode), &expected, &case.decode_heads());
                    same(mode, &case.prefill(mode), &prefilled, &case.prefill_heads());
                }
            }
        }
    }
}

#[test]
fn a_sequence_in_a_batch_is_as_it_is_alone() {
    let lengths = [(1, 40), (0, 12), (4, 17), (2, 2), (0, 0), (1, 1), (3, 90)];
    for generation in Generation::ALL {
        for mode in MODES {
            let case = Mha::plain(&mut Random::new(5), generation, (6, 2), (20, 12), &lengths);
            let (decode, prefill) = (case.decode(mode), case.prefill(mode));
            let mut at = 0;
            for sequence in &case.sequences {
                let mut alone = case.clone();
                alone.sequences = vec![sequence.clone()];
                let len = sequence.place.queries * 6 * 12;
                assert_eq!(bits(&alone.decode(mode)), bits(&decode[at..at + len]));
                assert_eq!(bits(&alone.prefill(mode)), bits(&prefill[at..at + len]));
                at += len;
            }
            assert_eq!(at, decode.len());

            let shape = MlaShape {
                num_heads: 3,
                kv_lora_rank: 20,
                qk_nope_head_dim: 8,
                qk_rope_head_dim: 6,
                v_head_dim: 10,
            };
            let case = Mla::plain(&mut Random::new(6), generation, shape, &lengths);
            let (decode, prefill) = (case.decode(mode), case.prefill(mode));
            let mut at = 0;
            for sequence in &case.sequences {
                let mut alone = case.clone();
                alone.sequences = vec![sequence.clone()];
                let len = sequence.place.queries * 3 * 10;
                assert_eq!(bits(&alone.decode(mode)), bits(&decode[at..at + len]));
                assert_eq!(bits(&alone.prefill(mode)), bits(&prefill[at..at + len]));
                at += len;
            }
        }
    }
}

#[test]
fn batches_without_queries_are_empty() {
    let case = Mha::plain(&mut Random::new(7), Generation::Gaudi2, (2, 1), (8, 8), &[(0, 5), (0, 0)]);
    assert!(case.decode(Mode::Exact).is_empty() && case.prefill(Mode::Fast).is_empty());
    let mut none = case.clone();
    none.sequences.clear();
    assert!(none.decode(Mode::Exact).is_empty() && none.prefill(Mode::Fast).is_empty());
}

#[test]
fn several_query_tokens_are_as_one_at_a_time() {
    for generation in Generation::ALL {
        for mode in MODES {
            let case = Mha::plain(&mut Random::new(8), generation, (4, 2), (16, 16), &[(6, 50)]);
            let device = case.device(mode);
            let cache = case.cache(&device, true);
            let (together, heads) = (case.decode(mode), case.decode_heads());
            for token in 0..6 {
                let place = Place { queries: 1, len: 45 + token, ..case.sequences[0].place.clone() };
                let table = Table::new(&[place]);
                let q = &case.sequences[0].q[token * 64..(token + 1) * 64];
                let one = case.attention().decode(&device, &cache, q, &table.batch()).unwrap();
                same(mode, &one, &together[token * 64..(token + 1) * 64], &heads[token * 4..(token + 1) * 4]);
            }
        }
    }
}

#[test]
fn sequences_may_share_blocks() {
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mha::plain(&mut Random::new(9), generation, (4, 2), (16, 16), &[(2, 40), (1, 45)]);
            // The first two blocks hold the same 32 tokens.
            let (first, second) = case.sequences.split_at_mut(1);
            let row = 2 * 16;
            second[0].k[..32 * row].copy_from_slice(&first[0].k[..32 * row]);
            second[0].v[..32 * row].copy_from_slice(&first[0].v[..32 * row]);
            let expected = (bits(&case.decode(mode)), bits(&case.prefill(mode)));
            let shared = case.sequences[0].place.blocks[..2].to_vec();
            case.sequences[1].place.blocks[..2].copy_from_slice(&shared);
            assert_eq!((bits(&case.decode(mode)), bits(&case.prefill(mode))), expected);
        }
    }
}

#[test]
fn what_lies_behind_a_sequence_in_its_last_block_is_not_read() {
    for generation in Generation::ALL {
        for mode in MODES {
            let case = Mha::plain(&mut Random::new(10), generation, (2, 1), (16, 16), &[(2, 20)]);
            let device = case.device(mode);
            let mut cache = case.cache(&device, true);
            let rubbish = vec![bf16::NAN; 12 * 16];
            let slots: Vec<i64> = (20..32).map(|token| case.sequences[0].place.slot(token, 16)).collect();
            cache.write(&device, &rubbish, &rubbish, &slots).unwrap();
            let table = case.table();
            let out = case.attention().decode(&device, &cache, &case.q(), &table.batch()).unwrap();
            assert_eq!(bits(&out), bits(&case.decode(mode)));
        }
    }
}

#[test]
fn blocks_behind_a_window_may_be_somebody_elses() {
    // An engine frees the blocks that no query sees any more and leaves any id in the table.
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case =
                Mha::plain(&mut Random::new(20), generation, (4, 2), (16, 16), &[(2, 90), (1, 40)]);
            case.options.sliding_window = Some(20);
            let (device, mut table) = (case.device(mode), case.table());
            let cache = case.cache(&device, true);
            let decode = |table: &Table| {
                bits(&case.attention().decode(&device, &cache, &case.q(), &table.batch()).unwrap())
            };
            let expected = decode(&table);
            // The queries at 88 and 89 see the keys from 69 on: block 4.
            let other = table.block_table[6];
            table.block_table[..4].fill(other);
            assert_eq!(decode(&table), expected);
            table.block_table[4] = other;
            assert_ne!(decode(&table), expected);
        }
    }
}

#[test]
fn new_tokens_may_be_in_the_cache_already_at_a_prefill() {
    for mode in MODES {
        let mut case = Mha::plain(&mut Random::new(11), Generation::Gaudi2, (4, 2), (16, 8), &[(7, 40)]);
        for fp8_prefill in [false, true] {
            case.options.fp8_prefill = fp8_prefill;
            let device = case.device(mode);
            let full = case.cache(&device, true);
            let sequence = &case.sequences[0];
            let (k, v) = case.tokens(sequence, 33..40);
            let table = case.table();
            let out = case.attention().prefill(&device, Some(&full), (&sequence.q, k, v), &table.batch());
            assert_eq!(bits(&out.unwrap()), bits(&case.prefill(mode)));
        }
    }
}

#[test]
fn a_prefill_without_context_needs_neither_cache_nor_blocks() {
    let case = Mha::plain(&mut Random::new(12), Generation::Gaudi3, (4, 2), (16, 8), &[(30, 30), (5, 5)]);
    let device = case.device(Mode::Exact);
    let mut table = case.table();
    table.block_table.clear();
    let concat = |of: fn(&crate::cases::Sequence) -> &[bf16]| -> Vec<bf16> {
        case.sequences.iter().flat_map(|sequence| of(sequence).to_vec()).collect()
    };
    let (k, v) = (concat(|sequence| &sequence.k), concat(|sequence| &sequence.v));
    let out = case.attention().prefill(&device, None, (&case.q(), &k, &v), &table.batch()).unwrap();
    assert_eq!(bits(&out), bits(&case.prefill(Mode::Exact)));
}

#[test]
fn absorbed_and_expanded_latents_agree() {
    // Nothing is quantized here. What differs is where bfloat16 rounds: once behind each projection.
    let shape = MlaShape {
        num_heads: 4,
        kv_lora_rank: 64,
        qk_nope_head_dim: 32,
        qk_rope_head_dim: 16,
        v_head_dim: 32,
    };
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mla::plain(&mut Random::new(15), generation, shape, &[(5, 60), (1, 100)]);
            for dtype in [StorageDtype::Bf16, StorageDtype::F32] {
                case.dtype = dtype;
                let expected = case.expanded_reference();
                let (absorbed, expanded) = (case.decode(mode), case.prefill(mode));
                assert!(relative_l2(&absorbed, &expected) < 0.008, "{}", relative_l2(&absorbed, &expected));
                assert!(relative_l2(&expanded, &expected) < 0.008, "{}", relative_l2(&expanded, &expected));
            }
        }
    }
}

#[test]
fn an_mla_layer_without_a_rope_part() {
    let shape =
        MlaShape { num_heads: 2, kv_lora_rank: 16, qk_nope_head_dim: 8, qk_rope_head_dim: 0, v_head_dim: 4 };
    for generation in Generation::ALL {
        let case = Mla::plain(&mut Random::new(16), generation, shape, &[(2, 20)]);
        assert!(relative_l2(&case.decode(Mode::Exact), &case.expanded_reference()) < 0.1);
        assert!(relative_l2(&case.prefill(Mode::Exact), &case.expanded_reference()) < 0.05);
    }
}

#[test]
fn scales_per_head_are_those_of_their_head() {
    for generation in Generation::ALL {
        let mut case = Mha::plain(&mut Random::new(17), generation, (6, 3), (16, 16), &[(2, 30)]);
        // Head h holds numbers 10^h larger, and its scales say so; any other head's would clip or flush them.
        let sizes = [0.01, 1.0, 100.0];
        for (number, value) in case.sequences[0].k.iter_mut().enumerate() {
            *value = bf16::from_f32(value.to_f32() * sizes[number / 16 % 3]);
        }
        for (number, value) in case.sequences[0].v.iter_mut().enumerate() {
            *value = bf16::from_f32(value.to_f32() * sizes[2 - number / 16 % 3]);
        }
        for (number, value) in case.sequences[0].q.iter_mut().enumerate() {
            *value = bf16::from_f32(value.to_f32() / sizes[number / 16 % 6 / 2]);
        }
        let scaled = |sizes: [f32; 3]| Scale::new(&sizes.map(|size| size * 4.0 / generation.fp8_max()));
        case.k_scale = scaled([0.01, 1.0, 100.0]);
        case.v_scale = scaled([100.0, 1.0, 0.01]);
        case.query = Some(scaled([100.0, 1.0, 0.01]));
        let expected = float64(&case);
        for fp8_prefill in [false, true] {
            case.options.fp8_prefill = fp8_prefill;
            for mode in MODES {
                for out in [case.decode(mode), case.prefill(mode)] {
                    for head in 0..6 {
                        let of_head = |index: &usize| index / 16 % 6 == head;
                        let part: Vec<f32> = (0..out.len()).filter(of_head).map(|i| out[i]).collect();
                        let expected: Vec<f64> =
                            (0..out.len()).filter(of_head).map(|i| expected[i]).collect();
                        let error = relative_l2(&part, &expected);
                        assert!(error < 0.1, "head {head}: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_layer_that_shares_a_cache_has_its_own_queries_and_the_owner_scales() {
    // Two layers over one cache: keys and values are read through the cache's scales, the query through the layer's.
    for generation in Generation::ALL {
        for mode in MODES {
            let mut owner = Mha::plain(&mut Random::new(18), generation, (4, 2), (16, 16), &[(2, 40)]);
            (owner.k_scale, owner.v_scale) = (Scale::new(&[0.29]), Scale::new(&[2.1]));
            let device = owner.device(mode);
            let cache = owner.cache(&device, true);
            let mut sharing = owner.clone();
            sharing.sequences[0].q = Random::new(19).bf16s(2 * 4 * 16, 0.5);
            sharing.query = Some(Scale::new(&[0.02]));
            let scales = attention_scales(sharing.query.as_ref(), (1.0, 1.0));
            let layer = MhaAttention::new(shape((4, 2), (16, 16)), scales, sharing.options.clone()).unwrap();
            let table = sharing.table();
            let out = layer.decode(&device, &cache, &sharing.q(), &table.batch()).unwrap();
            references(&sharing.decode_heads()).check(&out, "sharing decode");
            // And a prefill of the sharing layer over cached context.
            let sequence = &sharing.sequences[0];
            let (k, v) = sharing.tokens(sequence, 38..40);
            let out = layer.prefill(&device, Some(&cache), (&sequence.q, k, v), &table.batch()).unwrap();
            references(&sharing.prefill_heads()).check(&out, "sharing prefill");
            assert!(relative_l2(&out, &float64(&sharing)) < 0.06);
        }
    }
}

#[test]
fn the_oracle_gives_what_a_textbook_does() {
    let modifiers = crate::cases::modifiers(&AttentionOptions::new(1.0), 0);
    let keys = vec![vec![0.0, 1.0], vec![1.0, 0.0], vec![5.0, 5.0]];
    let values = vec![vec![1.0], vec![2.0], vec![100.0]];
    let attended = attend(&[2f64.ln(), 0.0], &keys, &values, &modifiers, 1);
    assert!((attended.out[0] - (1.0 + 2.0 * 2.0) / 3.0).abs() < 1e-12);
    assert!((attended.sum - 1.5).abs() < 1e-12 && attended.scores[2].is_none());
    let place = Place { queries: 1, len: 1, blocks: vec![4] };
    assert_eq!((block_count(std::slice::from_ref(&place)), place.slot(0, 16)), (6, 64));
}
