//! Attention: within the bound on its roundings, and how far from the emulated bits.

use gaudi_kv::attention::MlaShape;
use gaudi_kv::device::emulated::Mode;
use gaudi_kv::device::{Device, StorageDtype};

use crate::card::with_card;
use crate::cases::{Mha, references};
use crate::float64::Reference;
use crate::latents::Mla;
use crate::numbers::Random;
use crate::variants::variants;

/// Says how many bits differ from the emulated ones, and asserts the bound.
fn within(what: &str, ours: &[f32], theirs: &[f32], reference: &Reference) {
    let different = ours.iter().zip(theirs).filter(|(ours, theirs)| ours.to_bits() != theirs.to_bits());
    let farthest = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("{what}: {} of {} differ, by {farthest} at most", different.count(), theirs.len());
    assert_eq!(ours.len(), theirs.len(), "{what}");
    reference.check(ours, what);
}

fn mha(device: &impl Device, case: &Mha, what: &str) {
    let (decoded, heads) = (case.decode_on(device), case.decode_heads());
    within(&format!("decode, {what}"), &decoded, &case.decode(Mode::Exact), &references(&heads));
    let (filled, heads) = (case.prefill_on(device), case.prefill_heads());
    within(&format!("prefill, {what}"), &filled, &case.prefill(Mode::Exact), &references(&heads));
}

fn mla(device: &impl Device, case: &Mla, what: &str) {
    let decoded = case.decode_on(device);
    within(&format!("decode, {what}"), &decoded, &case.decode(Mode::Exact), &case.decode_reference());
    let filled = case.prefill_on(device);
    let reference = references(&case.prefill_heads());
    within(&format!("prefill, {what}"), &filled, &case.prefill(Mode::Exact), &reference);
}

#[test]
#[ignore = "needs a Gaudi"]
fn every_modifier() {
    with_card("attention::every_modifier", |device| {
        for (what, case) in variants(device.generation()) {
            mha(device, &case, what);
        }
    });
}

#[test]
#[ignore = "needs a Gaudi"]
fn heads_as_models_have_them() {
    with_card("attention::heads_as_models_have_them", |device| {
        let lengths = [(70, 150), (1, 129), (1, 1)];
        let mut case = Mha::plain(&mut Random::new(2), device.generation(), (8, 2), (128, 128), &lengths);
        mha(device, &case, "8 heads over 2 of 128");
        case.dtype = StorageDtype::Bf16;
        mha(device, &case, "8 heads over 2 of 128, bfloat16");
    });
}

#[test]
#[ignore = "needs a Gaudi"]
fn latents() {
    with_card("attention::latents", |device| {
        let shape = MlaShape {
            num_heads: 4,
            kv_lora_rank: 128,
            qk_nope_head_dim: 64,
            qk_rope_head_dim: 64,
            v_head_dim: 64,
        };
        let lengths = [(3, 140), (1, 20)];
        let case = Mla::plain(&mut Random::new(3), device.generation(), shape, &lengths);
        mla(device, &case, "latents of 128 + 64");
        for seed in 6000..6004 {
            mla(device, &Mla::random(seed, device.generation()), &format!("random latents {seed}"));
        }
    });
}
