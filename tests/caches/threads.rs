//! The number of threads changes no bit.

use gaudi_kv::Generation;
use gaudi_kv::attention::MlaShape;
use gaudi_kv::device::emulated::Mode;

use crate::cases::Mha;
use crate::latents::Mla;
use crate::numbers::{Random, bits};

#[test]
fn threads_change_no_bit() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, two, three) = (pool(1), pool(2), pool(3));
    for generation in Generation::ALL {
        for mode in [Mode::Exact, Mode::Fast] {
            let mut mha = Mha::plain(
                &mut Random::new(13),
                generation,
                (8, 2),
                (64, 64),
                &[(1, 300), (3, 77), (70, 140)],
            );
            let shape = MlaShape {
                num_heads: 5,
                kv_lora_rank: 64,
                qk_nope_head_dim: 16,
                qk_rope_head_dim: 8,
                v_head_dim: 16,
            };
            let mla = Mla::plain(&mut Random::new(14), generation, shape, &[(1, 200), (2, 60)]);
            for fp8_prefill in [false, true] {
                mha.options.fp8_prefill = fp8_prefill;
                let run = || {
                    [mha.decode(mode), mha.prefill(mode), mla.decode(mode), mla.prefill(mode)]
                        .map(|out| bits(&out))
                };
                let expected = one.install(run);
                assert_eq!(two.install(run), expected);
                assert_eq!(three.install(run), expected);
            }
        }
    }
}
