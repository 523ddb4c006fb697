//! Faults that other engines had with KV scales. Each test has scales that differ from 1 and from each other.

use gaudi_kv::attention::{AttentionScales, MlaAttention, MlaShape};
use gaudi_kv::cache::{BlockCache, CacheGeometry, MhaCache, MlaCache};
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::scales::{CacheDtype, LayerReport, LayerScale, LayerSizes, Origin};
use gaudi_kv::{Generation, HeadScales, ScaleFactors};
use half::bf16;

use crate::cases::{Mha, Scale, block_count, references};
use crate::float64::relative_l2;
use crate::latents::Mla;
use crate::numbers::{Random, bits};

const MODES: [Mode; 2] = [Mode::Exact, Mode::Fast];
const SHAPE: MlaShape =
    MlaShape { num_heads: 3, kv_lora_rank: 24, qk_nope_head_dim: 8, qk_rope_head_dim: 6, v_head_dim: 10 };

fn layer_scale(factor: f32) -> LayerScale {
    let scale = Scale::new(&[factor]);
    LayerScale {
        checkpoint: Some(HeadScales::One(factor)),
        factors: Some(scale.plane()),
        origin: Origin::Loaded,
        tensor: None,
    }
}

/// A cache of an MLA layer by what an inspection says of the layer, with whatever it says of `v`.
fn mla_cache_of(device: &Emulated, case: &Mla, report: &LayerReport) -> MlaCache<EmulatedPlane> {
    let geometry = CacheGeometry::new(block_count(&case.places()), case.block_size, case.dtype).unwrap();
    let k = report.k.as_ref().unwrap().factors.clone().unwrap();
    // One parameter: there is no place for a value's scale.
    MlaCache::new(device, geometry, case.shape.kv_lora_rank, case.shape.qk_rope_head_dim, &k).unwrap()
}

#[test]
fn the_value_scale_of_an_mla_layer_changes_no_bit() {
    for generation in Generation::ALL {
        for mode in MODES {
            let case = Mla::plain(&mut Random::new(1), generation, SHAPE, &[(3, 30), (1, 17)]);
            let run = |v: Option<LayerScale>| {
                let report = LayerReport {
                    layer: 0,
                    attention: gaudi_kv::checkpoint::Attention::Mla,
                    draft: false,
                    kv_cache_dtype: CacheDtype::Fp8,
                    cache_owner: None,
                    sizes: LayerSizes::default(),
                    k: Some(layer_scale(0.0547)),
                    v,
                    q: Some(layer_scale(0.1)),
                    prob: Some(layer_scale(1.0)),
                };
                let device = case.device(mode);
                let mut cache = mla_cache_of(&device, &case, &report);
                for sequence in &case.sequences {
                    case.write(&device, &mut cache, sequence, 0..sequence.place.len);
                }
                let scales = AttentionScales::from_layer(&report).unwrap();
                let options = case.options.clone();
                let attention = MlaAttention::new(SHAPE, &case.kv_b_proj, scales, options).unwrap();
                let (q_nope, q_pe) = case.q();
                let table = case.table();
                let decode = attention.decode(&device, &cache, (&q_nope, &q_pe), &table.batch()).unwrap();
                let (mut kv_c, mut k_pe) = (Vec::new(), Vec::new());
                for sequence in &case.sequences {
                    let new = case.tokens(sequence, sequence.place.context()..sequence.place.len);
                    kv_c.extend_from_slice(new.0);
                    k_pe.extend_from_slice(new.1);
                }
                let operands = ((&q_nope[..], &q_pe[..]), (&kv_c[..], &k_pe[..]));
                let prefill =
                    attention.prefill(&device, Some(&cache), operands.0, operands.1, &table.batch()).unwrap();
                [bits(&decode), bits(&prefill)]
            };
            let without = run(None);
            for factor in [f32::NAN, 0.0, 0.5, 1e30] {
                assert_eq!(without, run(Some(layer_scale(factor))), "{factor}");
            }
        }
    }
}

#[test]
fn a_cache_that_is_not_fp8_ignores_every_scale() {
    let far = Scale::new(&[0.003]);
    for generation in Generation::ALL {
        for mode in MODES {
            for dtype in [StorageDtype::Bf16, StorageDtype::F32] {
                for fp8_prefill in [false, true] {
                    let mut one =
                        Mha::plain(&mut Random::new(2), generation, (4, 2), (12, 9), &[(3, 20), (2, 2)]);
                    one.dtype = dtype;
                    one.options.fp8_prefill = fp8_prefill;
                    one.k_scale = Scale::new(&[1.0]);
                    one.v_scale = Scale::new(&[1.0]);
                    one.query = Some(Scale::new(&[1.0]));
                    let mut other = one.clone();
                    other.k_scale = far.clone();
                    other.v_scale = Scale::new(&[900.0, 1e-3]);
                    other.query = Some(Scale::new(&[70.0, 0.001]));
                    other.prob = (55.0, 0.25);
                    assert_eq!(bits(&one.decode(mode)), bits(&other.decode(mode)));
                    assert_eq!(bits(&one.prefill(mode)), bits(&other.prefill(mode)));
                    // Not even scales that an FP8 cache refuses are looked at.
                    let nan = Scale { quant: vec![f32::NAN], dequant: vec![f32::NAN] };
                    (other.k_scale, other.v_scale) = (nan.clone(), nan.clone());
                    (other.query, other.prob) = (Some(nan.clone()), (f32::NAN, 0.0));
                    assert_eq!(bits(&one.decode(mode)), bits(&other.decode(mode)));
                    assert_eq!(bits(&one.prefill(mode)), bits(&other.prefill(mode)));

                    let mut one = Mla::plain(&mut Random::new(3), generation, SHAPE, &[(3, 20), (2, 2)]);
                    one.dtype = dtype;
                    one.options.fp8_prefill = fp8_prefill;
                    one.k_scale = Scale::new(&[1.0]);
                    one.query = Some(Scale::new(&[1.0]));
                    for scale in [far.clone(), nan] {
                        let mut other = one.clone();
                        other.k_scale = scale.clone();
                        other.prob = (scale.quant[0], scale.dequant[0]);
                        other.query = Some(scale);
                        assert_eq!(bits(&one.decode(mode)), bits(&other.decode(mode)));
                        assert_eq!(bits(&one.prefill(mode)), bits(&other.prefill(mode)));
                    }
                }
            }
        }
    }
}

/// Float64 attention over keys and values as they come, not quantized.
fn unquantized(case: &Mha) -> Vec<f64> {
    let mut case = case.clone();
    case.dtype = StorageDtype::Bf16;
    references(&case.decode_heads()).out
}

/// A decode over a cache whose writer used other scales than its reader.
fn decode_with_reader(case: &Mha, mode: Mode, k_scale: &Scale, v_scale: &Scale) -> Vec<f32> {
    let device = case.device(mode);
    let writer = case.cache(&device, true);
    let mut reading = case.clone();
    (reading.k_scale, reading.v_scale) = (k_scale.clone(), v_scale.clone());
    let mut reader = reading.empty_cache(&device);
    for block in 0..block_count(&case.places()) as i32 {
        let mut image = writer.export_block(&device, block).unwrap();
        // A cache takes no block of other scales; only a forged fingerprint gets it in.
        image.fingerprint = reader.fingerprint();
        reader.import_block(&device, block, &image).unwrap();
    }
    reading.attention().decode(&device, &reader, &case.q(), &case.table().batch()).unwrap()
}

#[test]
fn k_and_v_scales_swapped_or_one_used_for_both_shows() {
    let (half, two) = (Scale::new(&[0.5]), Scale::new(&[2.0]));
    for generation in Generation::ALL {
        for mode in MODES {
            let random = &mut Random::new(4);
            let mut case = Mha::plain(random, generation, (4, 2), (32, 32), &[(1, 40), (2, 25)]);
            // Keys and values that suit their scales: the largest reach the end of the range.
            let range = generation.fp8_max();
            for sequence in &mut case.sequences {
                let sized = |values: &mut Vec<bf16>, size: f32| {
                    for value in values {
                        *value = bf16::from_f32(value.to_f32() * size / 4.0);
                    }
                };
                sized(&mut sequence.k, 0.5 * range);
                sized(&mut sequence.v, 2.0 * range);
                sized(&mut sequence.q, 0.05);
            }
            (case.k_scale, case.v_scale) = (half.clone(), two.clone());
            let expected = unquantized(&case);
            let right = relative_l2(&case.decode(mode), &expected);
            assert!(right < 0.06, "{generation} {mode}: {right}");
            assert!(relative_l2(&case.prefill(mode), &expected) < 0.06);
            assert_eq!(bits(&case.decode(mode)), bits(&decode_with_reader(&case, mode, &half, &two)));
            for (k, v) in [(&two, &half), (&half, &half), (&two, &two)] {
                let wrong = relative_l2(&decode_with_reader(&case, mode, k, v), &expected);
                assert!(wrong > 0.3, "{generation} {mode} k {k:?} v {v:?}: {wrong}");
            }
            // Where writer and reader agree on the scale of the key for both, the values are clipped.
            let mut wrong = case.clone();
            wrong.v_scale = half.clone();
            let wrong = relative_l2(&wrong.decode(mode), &expected);
            assert!(wrong > 0.3, "{generation} {mode}: {wrong}");
        }
    }
}

#[test]
fn both_scales_reach_the_products_of_the_decode() {
    // q = 0.5, k = 0.25, v = 2.0 and numbers that FP8 holds exactly: the logits are (Q K) * 0.5 * 0.25, no more.
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mha::plain(&mut Random::new(5), generation, (1, 1), (4, 2), &[(1, 2)]);
            (case.k_scale, case.v_scale) = (Scale::new(&[0.25]), Scale::new(&[2.0]));
            case.query = Some(Scale::new(&[0.5]));
            case.options.softmax_scale = 0.125;
            let numbers = |values: &[f32]| values.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>();
            case.sequences[0].q = numbers(&[1.0, 2.0, 0.5, -1.0]);
            case.sequences[0].k = numbers(&[0.5, 1.0, 2.0, 4.0, 4.0, 2.0, 1.0, -4.0]);
            case.sequences[0].v = numbers(&[4.0, 8.0, -16.0, 2.0]);
            // Products -0.5 and 12.5.
            let p = (-13.0f64 / 8.0).exp();
            let expected = [(4.0 * p - 16.0) / (1.0 + p), (8.0 * p + 2.0) / (1.0 + p)];
            for (out, expected) in case.decode(mode).iter().zip(expected) {
                // The smaller probability is rounded to FP8.
                assert!((f64::from(*out) - expected).abs() < 0.15 * expected.abs(), "{out} {expected}");
            }
            references(&case.decode_heads()).check(&case.decode(mode), "by hand");
        }
    }
}

#[test]
fn one_scale_serves_both_products_of_an_mla_decode() {
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mla::plain(&mut Random::new(6), generation, SHAPE, &[(1, 30)]);
            for factor in [0.02, 0.5] {
                case.k_scale = Scale::new(&[factor]);
                let error = relative_l2(&case.decode(mode), &case.expanded_reference());
                assert!(error < 0.12, "{generation} {mode} {factor}: {error}");
            }
        }
    }
}

#[test]
fn a_rope_part_beyond_the_range_of_the_latent_scale_saturates() {
    // The scale was calibrated on the other part alone: 0.05 / 448.
    let device = Emulated::new(Generation::Gaudi3, Mode::Exact);
    let geometry = CacheGeometry::new(1, 16, StorageDtype::Fp8).unwrap();
    let scale = Scale::new(&[0.05 / 448.0]).plane();
    let mut cache = MlaCache::new(&device, geometry, 2, 2, &scale).unwrap();
    cache
        .write(&device, &[0.05, -0.025].map(bf16::from_f32), &[1.0, -1.0].map(bf16::from_f32), &[0])
        .unwrap();
    let read: Vec<f32> = cache.read(&device, &[0]).unwrap().iter().map(|x| x.to_f32()).collect();
    for (found, expected) in read.iter().zip([0.05, -0.025, 0.05, -0.05]) {
        assert!((found - expected).abs() < 0.01 * expected.abs(), "{read:?}");
    }
}

#[test]
fn a_value_at_the_end_of_the_checkpoint_range_is_adjusted_once() {
    // k = 0.0546875 of a checkpoint quantized to 448, on a Gaudi2: quant 240 / (k 448), dequant 1 / quant.
    let quant = 240.0 / (0.054_687_5 * 448.0f32);
    let device = Emulated::new(Generation::Gaudi2, Mode::Exact);
    let geometry = CacheGeometry::new(1, 16, StorageDtype::Fp8).unwrap();
    let read = |scale: ScaleFactors| {
        let mut cache = MhaCache::new(&device, geometry, 1, (1, 1), (&scale, &ScaleFactors::ONE)).unwrap();
        cache.write(&device, &[bf16::from_f32(24.5)], &[bf16::ONE], &[0]).unwrap();
        cache.read(&device, &[0]).unwrap().0[0].to_f32()
    };
    assert_eq!(read(ScaleFactors::new(quant, 1.0 / quant)), 24.5);
    assert_eq!(read(Scale::new(&[0.054_687_5]).plane()), 13.125);
}

#[test]
fn queries_beyond_the_range_saturate_where_their_scale_is_static_and_do_not_where_it_is_dynamic() {
    // A query of 300 in every element, keys of opposite signs.
    let mut case = Mha::plain(&mut Random::new(7), Generation::Gaudi2, (1, 1), (4, 1), &[(1, 2)]);
    (case.k_scale, case.v_scale) = (Scale::new(&[0.01]), Scale::new(&[0.01]));
    case.sequences[0].q = vec![bf16::from_f32(300.0); 4];
    let k = [0.01, 0.01, 0.01, 0.01, -0.01, -0.01, -0.01, -0.01];
    case.sequences[0].k = k.map(bf16::from_f32).to_vec();
    case.sequences[0].v = [1.0, -1.0].map(bf16::from_f32).to_vec();
    case.options.softmax_scale = 0.05;
    let expected = |query: f64| (4.0 * query * 0.01 * 0.05f64).tanh();
    let out = |case: &Mha| f64::from(case.decode(Mode::Exact)[0]);
    // Dynamic: 300 is read as 300. Static with a scale of 1: as 240.
    assert!(expected(300.0) - expected(240.0) > 0.09);
    assert!((out(&case) - expected(300.0)).abs() < 0.04, "{}", out(&case));
    case.query = Some(Scale::new(&[1.0]));
    assert!((out(&case) - expected(240.0)).abs() < 0.04, "{}", out(&case));
}

#[test]
fn nothing_finite_becomes_inf_or_nan() {
    let random = &mut Random::new(8);
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mha::plain(random, generation, (4, 2), (16, 16), &[(3, 33)]);
            (case.k_scale, case.v_scale) = (Scale::new(&[1.0]), Scale::new(&[1.0]));
            for query in [None, Some(Scale::new(&[1.0]))] {
                case.query = query;
                let sequence = &mut case.sequences[0];
                for values in [&mut sequence.q, &mut sequence.k, &mut sequence.v] {
                    for value in values.iter_mut() {
                        *value = bf16::from_f32((random.normal() * 1e4) as f32);
                    }
                }
                assert!(case.decode(mode).iter().all(|x| x.is_finite()));
                case.options.fp8_prefill = true;
                assert!(case.prefill(mode).iter().all(|x| x.is_finite()));
            }
            // Rows of zeros, and rows too small for any multiplier, have dynamic scales too.
            case.query = None;
            for size in [0.0, 1e-39, 3e38] {
                case.sequences[0].q.fill(bf16::from_f32(size));
                case.sequences[0].k.fill(bf16::from_f32(1e-3));
                assert!(case.decode(mode).iter().all(|x| x.is_finite()), "{size}");
            }
        }
    }
}

#[test]
fn a_dynamic_query_scale_belongs_to_one_token_and_head() {
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mha::plain(&mut Random::new(9), generation, (4, 2), (16, 8), &[(3, 33), (2, 20)]);
            let before = case.decode(mode);
            // Head 1 of token 2 grows a million times: by a shared scale, all others would become zeros.
            let row = 2 * 4 + 1;
            for value in &mut case.sequences[0].q[row * 16..(row + 1) * 16] {
                *value = bf16::from_f32(value.to_f32() * 1e6);
            }
            let after = case.decode(mode);
            for (number, (before, after)) in before.chunks_exact(8).zip(after.chunks_exact(8)).enumerate() {
                assert_eq!(bits(before) == bits(after), number != row, "row {number}");
            }
        }
    }
}

#[test]
fn probabilities_keep_a_long_context_alive() {
    // 3,000 keys alike: a normalized probability of 1/3000 is zero in FP8, an unnormalized one is 1.
    for generation in Generation::ALL {
        let mut case = Mha::plain(&mut Random::new(10), generation, (1, 1), (2, 1), &[(1, 3000)]);
        case.v_scale = Scale::new(&[0.5]);
        case.sequences[0].k.fill(bf16::ONE);
        case.sequences[0].v.fill(bf16::from_f32(1.5));
        let out = case.decode(Mode::Exact)[0];
        assert!((out - 1.5).abs() < 0.02, "{out}");
        references(&case.decode_heads()).check(&[out], "long context");
    }
}

#[test]
fn a_prob_scale_is_taken_out_again() {
    for generation in Generation::ALL {
        for mode in MODES {
            let mut case = Mha::plain(&mut Random::new(11), generation, (4, 2), (16, 8), &[(3, 33)]);
            let expected = unquantized(&case);
            for quant in [0.5, 1.0, 8.0, 240.0] {
                case.prob = (quant, 1.0 / quant);
                let error = relative_l2(&case.decode(mode), &expected);
                assert!(error < 0.08, "{quant}: {error}");
            }
        }
    }
}
