//! The exact mode gives the bits of the rules; the fast mode stays within the bound of the same operands.

use gaudi_kv::Generation;
use gaudi_kv::attention::MlaShape;
use gaudi_kv::device::emulated::Mode;
use half::bf16;

use crate::cases::{Mha, Scale, modelled, references};
use crate::latents::Mla;
use crate::model::Head;
use crate::numbers::{Random, bits};

const SEEDS: u64 = 150;

#[test]
fn mha_decode() {
    for seed in 0..SEEDS {
        for generation in Generation::ALL {
            let case = Mha::random(seed, generation);
            let heads = case.decode_heads();
            assert_eq!(
                bits(&case.decode(Mode::Exact)),
                bits(&modelled(&heads)),
                "seed {seed}, {generation}: {case:?}"
            );
            references(&heads).check(&case.decode(Mode::Exact), &format!("exact, seed {seed}, {generation}"));
            references(&heads).check(&case.decode(Mode::Fast), &format!("fast, seed {seed}, {generation}"));
        }
    }
}

#[test]
fn mha_prefill() {
    for seed in 1000..1000 + SEEDS {
        for generation in Generation::ALL {
            let case = Mha::random(seed, generation);
            let heads = case.prefill_heads();
            assert_eq!(
                bits(&case.prefill(Mode::Exact)),
                bits(&modelled(&heads)),
                "seed {seed}, {generation}: {case:?}"
            );
            references(&heads)
                .check(&case.prefill(Mode::Exact), &format!("exact, seed {seed}, {generation}"));
            references(&heads).check(&case.prefill(Mode::Fast), &format!("fast, seed {seed}, {generation}"));
        }
    }
}

#[test]
fn mla_decode() {
    for seed in 2000..2000 + SEEDS {
        for generation in Generation::ALL {
            let case = Mla::random(seed, generation);
            assert_eq!(
                bits(&case.decode(Mode::Exact)),
                bits(&case.modelled_decode()),
                "seed {seed}, {generation}: {case:?}"
            );
            case.decode_reference()
                .check(&case.decode(Mode::Exact), &format!("exact, seed {seed}, {generation}"));
            case.decode_reference()
                .check(&case.decode(Mode::Fast), &format!("fast, seed {seed}, {generation}"));
        }
    }
}

#[test]
fn mla_prefill() {
    for seed in 3000..3000 + SEEDS {
        for generation in Generation::ALL {
            let case = Mla::random(seed, generation);
            let heads = case.prefill_heads();
            assert_eq!(
                bits(&case.prefill(Mode::Exact)),
                bits(&modelled(&heads)),
                "seed {seed}, {generation}: {case:?}"
            );
            references(&heads)
                .check(&case.prefill(Mode::Exact), &format!("exact, seed {seed}, {generation}"));
            references(&heads).check(&case.prefill(Mode::Fast), &format!("fast, seed {seed}, {generation}"));
        }
    }
}

/// Query tokens beyond one tile, contexts over many blocks, dimensions of real layers.
#[test]
fn larger_shapes() {
    for generation in Generation::ALL {
        let random = &mut Random::new(5000);
        let mut case = Mha::plain(random, generation, (4, 2), (64, 48), &[(70, 150), (1, 200)]);
        case.options.sliding_window = Some(100);
        for fp8_prefill in [false, true] {
            case.options.fp8_prefill = fp8_prefill;
            assert_eq!(
                bits(&case.prefill(Mode::Exact)),
                bits(&modelled(&case.prefill_heads())),
                "{generation}"
            );
        }
        assert_eq!(bits(&case.decode(Mode::Exact)), bits(&modelled(&case.decode_heads())), "{generation}");
        let shape = MlaShape {
            num_heads: 2,
            kv_lora_rank: 96,
            qk_nope_head_dim: 32,
            qk_rope_head_dim: 16,
            v_head_dim: 32,
        };
        let case = Mla::plain(random, generation, shape, &[(66, 130), (1, 90)]);
        assert_eq!(bits(&case.prefill(Mode::Exact)), bits(&modelled(&case.prefill_heads())), "{generation}");
        assert_eq!(bits(&case.decode(Mode::Exact)), bits(&case.modelled_decode()), "{generation}");
    }
}

/// Multipliers for which `(x * a) * b` and `x * (a * b)` differ in bfloat16, about one in 2^15.
fn order_matters(random: &mut Random, x: f32) -> (f32, f32) {
    loop {
        let (a, b) = ((0.5 + random.unit() / 2.0) as f32, (0.5 + random.unit() / 2.0) as f32);
        if bf16::from_f32((x * a) * b) != bf16::from_f32(x * (a * b)) {
            return (a, b);
        }
    }
}

#[test]
fn the_scales_of_a_product_are_applied_one_after_the_other() {
    let random = &mut Random::new(6000);
    let scale = |dequant| Scale { quant: vec![1.0], dequant: vec![dequant] };
    for generation in Generation::ALL {
        // Scores: 200 keys of -7 and one of 0 for a query of 1. A score that is off by its last bit changes the sum.
        let mut case = Mha::plain(random, generation, (1, 1), (1, 1), &[(1, 201)]);
        case.options.softmax_scale = 1.0;
        case.sequences[0].q.fill(bf16::ONE);
        case.sequences[0].k.fill(bf16::from_f32(-7.0));
        case.sequences[0].k[200] = bf16::ZERO;
        case.sequences[0].v.fill(bf16::ONE);
        let (d_q, d_k) = order_matters(random, -7.0);
        (case.query, case.k_scale, case.v_scale) = (Some(scale(d_q)), scale(d_k), scale(1.0));
        let heads = case.decode_heads();
        assert_eq!(bits(&case.decode(Mode::Exact)), bits(&modelled(&heads)));
        let together = Head { query_dequant: d_q * d_k, key_dequant: 1.0, ..heads[0].clone() };
        assert_ne!(bits(&modelled(&heads)), bits(&together.attend()));

        // Outputs: one key, so a probability of 1 and a sum of 1.
        let mut case = Mha::plain(random, generation, (1, 1), (1, 1), &[(1, 1)]);
        case.sequences[0].v.fill(bf16::from_f32(7.0));
        let (d_prob, d_v) = order_matters(random, 7.0);
        (case.prob, case.v_scale) = ((1.0, d_prob), scale(d_v));
        let heads = case.decode_heads();
        assert_eq!(bits(&case.decode(Mode::Exact)), bits(&modelled(&heads)));
        let together = Head { prob: Some((1.0, d_prob * d_v)), value_dequant: 1.0, ..heads[0].clone() };
        assert_ne!(bits(&modelled(&heads)), bits(&together.attend()));
    }
}
