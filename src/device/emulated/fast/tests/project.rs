//! Projections on every instruction set, against sums in double precision.

use half::bf16;
use proptest::prelude::*;

use super::{Numbers, Runner, levels};
use crate::device::ProjectKernel;
use crate::device::emulated::common::threads::Threads;
use crate::fp8::bf16_from_f32;

/// Projects on every level and compares. With integers every sum is exact, whatever its order.
fn check(rows: usize, heads: usize, k: usize, n: usize, integers: bool, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut values = |len: usize| -> Vec<bf16> {
        let number = |numbers: &mut Numbers| if integers { numbers.integer() } else { numbers.normal() };
        (0..len).map(|_| bf16::from_f32(number(&mut numbers))).collect()
    };
    let (left, weights) = (values(rows * heads * k), values(heads * n * k));
    let kernel = ProjectKernel { rows: &left, weights: &weights, heads, k };
    for (level, threads) in levels().into_iter().flat_map(|b| [(b, Threads::Pool), (b, Threads::Calling)]) {
        let mut out = vec![bf16::NAN; rows * heads * n];
        Runner { level, threads }.project(&kernel, &mut out).unwrap();
        for (at, found) in out.iter().enumerate() {
            let (row, head, column) = (at / n / heads, at / n % heads, at % n);
            let a = &left[(row * heads + head) * k..][..k];
            let b = &weights[(head * n + column) * k..][..k];
            let products = a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64());
            let (sum, magnitude) = products.fold((0.0, 0.0), |(sum, all), p| (sum + p, all + p.abs()));
            let what = format!("{level:?} {threads:?}: row {row}, head {head}, column {column}");
            if integers {
                assert_eq!(*found, bf16_from_f32(sum as f32), "{what}");
            } else {
                // Half a step of bfloat16, and the sum's own error.
                let bound = sum.abs() / 256.0 + magnitude * k as f64 * 2f64.powi(-24);
                assert!((found.to_f64() - sum).abs() <= bound, "{what}: {found} for {sum}");
            }
        }
    }
}

#[test]
fn absorbed_and_expanded() {
    for integers in [true, false] {
        check(16, 4, 32, 512, integers, 1);
        check(16, 4, 512, 32, integers, 2);
        check(300, 1, 512, 128, integers, 3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_shape(
        (rows, heads, k, n) in (1..300usize, 1..5usize, 1..80usize, 1..140usize),
        seed: u64,
    ) {
        check(rows, heads, k, n, true, seed);
    }
}
