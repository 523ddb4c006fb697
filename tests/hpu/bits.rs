//! Attention through graphs gives the bits of the exact mode.

use gaudi_kv::Generation;
use gaudi_kv::attention::MlaShape;
use gaudi_kv::cache::BlockCache;
use gaudi_kv::device::emulated::Mode;
use gaudi_kv::device::{Device, StorageDtype};
use half::bf16;

use crate::cases::{Mha, Scale, block_count};
use crate::latents::Mla;
use crate::numbers::{Random, bits};
use crate::process::{MACHINES, each, open};
use crate::variants::variants;

const SEEDS: u64 = 24;

fn check_mha(device: &impl Device, case: &Mha, what: &str) {
    assert_eq!(bits(&case.decode_on(device)), bits(&case.decode(Mode::Exact)), "decode, {what}: {case:?}");
    assert_eq!(bits(&case.prefill_on(device)), bits(&case.prefill(Mode::Exact)), "prefill, {what}: {case:?}");
    let emulated = case.device(Mode::Exact);
    let (ours, theirs) = (case.cache(device, true), case.cache(&emulated, true));
    for block in case.places().iter().flat_map(|place| place.blocks.clone()) {
        let (ours, theirs) =
            (ours.export_block(device, block).unwrap(), theirs.export_block(&emulated, block).unwrap());
        assert_eq!(ours, theirs, "block {block}, {what}");
    }
}

fn check_mla(device: &impl Device, case: &Mla, what: &str) {
    assert_eq!(bits(&case.decode_on(device)), bits(&case.decode(Mode::Exact)), "decode, {what}: {case:?}");
    assert_eq!(bits(&case.prefill_on(device)), bits(&case.prefill(Mode::Exact)), "prefill, {what}: {case:?}");
}

/// Ragged batches, groups, several query tokens, scales by head, static and dynamic queries, probability scales, caps,
/// slopes, windows, sinks, FP8 prefill, all three cache types.
#[test]
fn random_layers_of_mha() {
    each("bits::random_layers_of_mha", &MACHINES, || {
        let device = open();
        for seed in 5000..5000 + SEEDS {
            check_mha(&device, &Mha::random(seed, device.generation()), &format!("seed {seed}"));
        }
    });
}

#[test]
fn random_layers_of_mla() {
    each("bits::random_layers_of_mla", &MACHINES, || {
        let device = open();
        for seed in 6000..6000 + SEEDS {
            check_mla(&device, &Mla::random(seed, device.generation()), &format!("seed {seed}"));
        }
    });
}

/// Every modifier alone and all together, so that none depends on chance.
#[test]
fn every_modifier() {
    each("bits::every_modifier", &MACHINES[..2], || {
        let device = open();
        for (what, case) in variants(device.generation()) {
            check_mha(&device, &case, what);
        }
    });
}

/// More query tokens than one tile has, and more keys than the smallest bucket.
#[test]
fn several_tiles_and_buckets() {
    each("bits::several_tiles_and_buckets", &MACHINES[..2], || {
        let device = open();
        let lengths = [(70, 150), (1, 129), (1, 128), (1, 1), (64, 64)];
        let case = Mha::plain(&mut Random::new(2), device.generation(), (2, 1), (8, 8), &lengths);
        check_mha(&device, &case, "tiles");
        let shape = MlaShape {
            num_heads: 2,
            kv_lora_rank: 16,
            qk_nope_head_dim: 8,
            qk_rope_head_dim: 4,
            v_head_dim: 8,
        };
        let case = Mla::plain(&mut Random::new(3), device.generation(), shape, &lengths);
        check_mla(&device, &case, "tiles");
    });
}

/// What is not finite stays where it was: what fills a bucket up adds neither an Inf nor a NaN, and hides none.
#[test]
fn values_that_are_not_finite() {
    each("bits::values_that_are_not_finite", &MACHINES[..2], || {
        let device = open();
        for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
            for (number, bad) in [bf16::INFINITY, bf16::NEG_INFINITY, bf16::NAN].into_iter().enumerate() {
                for place in 0..3 {
                    let random = &mut Random::new(number as u64);
                    let lengths = [(2, 30), (1, 5)];
                    let mut case = Mha::plain(random, device.generation(), (2, 1), (8, 8), &lengths);
                    case.dtype = dtype;
                    let sequence = &mut case.sequences[0];
                    match place {
                        0 => sequence.q[3] = bad,
                        1 => sequence.k[11] = bad,
                        _ => sequence.v[11] = bad,
                    }
                    check_mha(&device, &case, &format!("{bad} at {place}"));
                }
            }
        }
    });
}

/// Slots that no sequence has are not looked at: with Inf in all of them, the one that stands in for missing keys is none.
#[test]
fn slots_of_nobody() {
    each("bits::slots_of_nobody", &MACHINES[..2], || {
        let device = open();
        let lengths = [(2, 30), (1, 5)];
        let case = Mha::plain(&mut Random::new(8), device.generation(), (4, 2), (8, 4), &lengths);
        for dtype in [StorageDtype::Bf16, StorageDtype::F32] {
            let case = Mha { dtype, ..case.clone() };
            let out = amid_infinities(&device, &case);
            assert_eq!(bits(&out), bits(&amid_infinities(&case.device(Mode::Exact), &case)));
            assert_eq!(bits(&out), bits(&case.decode(Mode::Exact)));
        }
    });
}

fn amid_infinities<D: Device>(device: &D, case: &Mha) -> Vec<f32> {
    let mut cache = case.empty_cache(device);
    let slots: Vec<i64> =
        (0..(block_count(&case.places()) + 1) * case.block_size).map(|slot| slot as i64).collect();
    let row = |dim: usize| vec![bf16::INFINITY; slots.len() * case.heads.1 * dim];
    cache.write(device, &row(case.dims.0), &row(case.dims.1), &slots).unwrap();
    for sequence in &case.sequences {
        case.write(device, &mut cache, sequence, 0..sequence.place.len);
    }
    case.attention().decode(device, &cache, &case.q(), &case.table().batch()).unwrap()
}

/// The form that FP8 codes are moved in is said, and changes nothing (`MACHINES` has both).
#[test]
fn the_kernels_taken_are_said() {
    let expected = |native: bool| {
        let suffix = if native { "hf8" } else { "i8" };
        [format!("gather_fwd_{suffix}"), format!("index_copy_fwd_{suffix}")]
    };
    each("bits::the_kernels_taken_are_said", &MACHINES, || {
        let is_native = std::env::var_os("SYNAPSE_EMU_HF8_KERNELS").is_some();
        let choices = open().kernel_choices().unwrap();
        let guids: Vec<_> = choices.iter().map(|choice| choice.guid.clone()).collect();
        assert_eq!(guids, expected(is_native));
        for choice in choices {
            let reason = choice.refused.as_deref().unwrap_or_default();
            assert_eq!(reason.is_empty(), is_native, "{choice}");
            let text = choice.to_string();
            assert_eq!(
                text.contains("not the FP8 form: the compiler refuses it (synNode"),
                !is_native,
                "{text}"
            );
        }
    });
}

/// A compiler that takes the FP8 form and converts codes on the way is found out.
#[test]
fn kernels_that_change_codes_are_not_taken() {
    let machine: &[(&str, &str)] = &[("SYNAPSE_EMU_HF8_KERNELS", "lossy")];
    each("bits::kernels_that_change_codes_are_not_taken", &[machine], || {
        let choices = open().kernel_choices().unwrap();
        let guids: Vec<_> = choices.iter().map(|choice| choice.guid.as_str()).collect();
        assert_eq!(guids, ["gather_fwd_i8", "index_copy_fwd_i8"]);
        // Half of all codes are odd.
        let moved = [128 * 128 / 2, 128 * 128 / 2];
        for (choice, changed) in choices.iter().zip(moved) {
            let reason = format!("it changes codes ({changed} bytes of a trial with all of them)");
            assert_eq!(choice.refused.as_deref(), Some(reason.as_str()));
        }
    });
}

/// One layer's shape, many layers: scales are operands.
#[test]
fn layers_of_one_shape_share_their_recipes() {
    each("bits::layers_of_one_shape_share_their_recipes", &MACHINES[..1], || {
        let device = open();
        let mut counts = Vec::new();
        for layer in 0..6 {
            let lengths = [(1, 20), (1, 9)];
            // The cache has the same blocks in every layer, and other values.
            let random = &mut Random::new(0);
            let mut case = Mha::plain(random, Generation::Gaudi2, (4, 2), (16, 16), &lengths);
            for sequence in &mut case.sequences {
                sequence.k = Random::new(layer).bf16s(sequence.k.len(), 1.0);
            }
            case.k_scale = Scale::new(&[0.01 + 0.01 * layer as f32]);
            case.v_scale = Scale::new(&[0.5 / (1.0 + layer as f32)]);
            case.query = (layer % 2 == 1).then(|| Scale::new(&[0.1 + layer as f32]));
            case.prob = (1.0 + layer as f32, 1.0 / (1.0 + layer as f32));
            case.options = gaudi_kv::attention::AttentionOptions::new(0.25 + layer as f32);
            assert_eq!(bits(&case.decode_on(&device)), bits(&case.decode(Mode::Exact)), "layer {layer}");
            counts.push(device.recipe_statistics().compiled);
        }
        // The mark, the write of 16 and of 32 rows, and the attention: 20 and 9 tokens are 32 and 16 rows.
        assert_eq!(counts, [4; 6]);
    });
}
