//! A layer with each modifier alone, and with all of them, so that none depends on chance.

use gaudi_kv::Generation;
use gaudi_kv::device::StorageDtype;

use crate::cases::{Mha, Scale};
use crate::numbers::Random;

/// The layers, with what is special about each.
pub fn variants(generation: Generation) -> Vec<(&'static str, Mha)> {
    let lengths = [(1, 37), (3, 20), (2, 2)];
    let plain = Mha::plain(&mut Random::new(1), generation, (4, 2), (16, 12), &lengths);
    let mut cases = vec![("plain", plain.clone())];
    let mut with = |what, change: &dyn Fn(&mut Mha)| {
        let mut case = plain.clone();
        change(&mut case);
        cases.push((what, case));
    };
    let cap = |case: &mut Mha| case.options.logits_soft_cap = Some(1.5);
    let window = |case: &mut Mha| case.options.sliding_window = Some(9);
    let slopes = |case: &mut Mha| case.options.alibi_slopes = Some(vec![0.5, 0.25, 0.125, 0.0625]);
    let sinks = |case: &mut Mha| case.options.sinks = Some(vec![0.5, -1.0, 3.0, 0.0]);
    with("soft cap", &cap);
    with("window", &window);
    with("slopes", &slopes);
    with("sinks", &sinks);
    with("query scale by head", &|case| case.query = Some(Scale::new(&[0.02, 0.05])));
    with("probability scale", &|case| case.prob = (200.0, 1.0 / 200.0));
    with("FP8 prefill", &|case| case.options.fp8_prefill = true);
    for dtype in [StorageDtype::Fp8, StorageDtype::Bf16, StorageDtype::F32] {
        with("all", &|case| {
            cap(case);
            window(case);
            slopes(case);
            sinks(case);
            case.dtype = dtype;
        });
    }
    cases
}
