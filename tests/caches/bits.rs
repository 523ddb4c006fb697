//! The exact mode gives the bits of the rules; the fast mode stays within the bound of the same operands.

use gaudi_kv::Generation;
use gaudi_kv::attention::MlaShape;
use gaudi_kv::device::emulated::Mode;

use crate::cases::{Mha, modelled, references};
use crate::latents::Mla;
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
