//! Sums, maxima, softmax and normalization.

use super::{GAUDI2, Tensor, machine, node, one, words};
use crate::node::spec::DataType::{Bf16, F32};

fn cube() -> Tensor {
    // Rows of two, three of them, twice: element = column + 10 * row + 100 * plane.
    Tensor::f32(&[2, 3, 2], &[0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 100.0, 101.0, 110.0, 111.0, 120.0, 121.0])
}

#[test]
fn sums_along_each_dimension() {
    let sum = |sizes: &[usize], params: &[u32]| {
        let guid = if params.len() == 1 { "reduce_sum_fwd_f32" } else { "reduce_sum_multi_dim_fwd_f32" };
        one(guid, &[&cube()], (F32, sizes), &words(params)).floats()
    };
    assert_eq!(sum(&[1, 3, 2], &[0]), [1.0, 21.0, 41.0, 201.0, 221.0, 241.0]);
    assert_eq!(sum(&[2, 1, 2], &[1]), [30.0, 33.0, 330.0, 333.0]);
    assert_eq!(sum(&[2, 3, 1], &[2]), [100.0, 102.0, 120.0, 122.0, 140.0, 142.0]);
    assert_eq!(sum(&[2, 1, 1], &[0b110, 1]), [360.0, 366.0]);
    assert_eq!(sum(&[2], &[0b110, 0]), [360.0, 366.0]);
    assert_eq!(sum(&[3], &[0b101, 0]), [202.0, 242.0, 282.0]);
    assert_eq!(sum(&[1], &[0b111, 0]), [726.0]);
}

#[test]
fn a_sum_is_taken_in_order() {
    // 2^24 + 1 is 2^24, so only a sum from the other end keeps the ones.
    let big = 16_777_216.0;
    let x = Tensor::f32(&[4, 2], &[big, 1.0, 1.0, -big, 1.0, 1.0, big, -big]);
    let sum = one("reduce_sum_fwd_f32", &[&x], (F32, &[1, 2]), &words(&[0]));
    assert_eq!(sum.floats(), [0.0, 2.0]);
    let x = Tensor::f32(&[1, 4], &[big, 1.0, 1.0, -big]);
    let sum = one("reduce_sum_fwd_f32", &[&x], (F32, &[1, 1]), &words(&[1]));
    assert_eq!(sum.floats(), [0.0]);
    // In bfloat16 the sum is still a float32 one: 256 + 1 + 1 = 258.
    let x = Tensor::bf16(&[3], &[256.0, 1.0, 1.0]);
    assert_eq!(one("reduce_sum_fwd_bf16", &[&x], (Bf16, &[1]), &words(&[0])).floats(), [258.0]);
    // From +0.
    let x = Tensor::f32(&[1], &[-0.0]);
    let sum = one("reduce_sum_fwd_f32", &[&x], (F32, &[1]), &words(&[0]));
    assert_eq!(sum.floats()[0].to_bits(), 0);
}

#[test]
fn maxima() {
    let max =
        |sizes: &[usize], axis| one("reduce_max_fwd_f32", &[&cube()], (F32, sizes), &words(&[axis])).floats();
    assert_eq!(max(&[2, 1, 2], 1), [20.0, 21.0, 120.0, 121.0]);
    let x = Tensor::bf16(&[2, 2], &[-3.0, -4.0, f32::NEG_INFINITY, f32::NEG_INFINITY]);
    let max = one("reduce_max_fwd_bf16", &[&x], (Bf16, &[1, 2]), &words(&[0]));
    assert_eq!(max.floats(), [-3.0, f32::NEG_INFINITY]);
}

#[test]
fn softmax_along_each_dimension() {
    // Equal scores give equal parts; a distance of ln 3 gives a quarter and three quarters.
    let ln3 = 3.0f32.ln();
    let x = Tensor::f32(&[2, 2], &[5.0, 5.0, 0.0, ln3]);
    let near = |values: &[f32], expected: &[f32]| {
        values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-6)
    };
    let rows = one("softmax_fwd_f32", &[&x], (F32, &[2, 2]), &words(&[0])).floats();
    assert!(near(&rows, &[0.5, 0.5, 0.25, 0.75]), "{rows:?}");
    let x = Tensor::f32(&[2, 2], &[5.0, 0.0, 5.0, ln3]);
    let columns = one("softmax_fwd_f32", &[&x], (F32, &[2, 2]), &words(&[1, 0, 0, 0, 0, 0])).floats();
    assert!(near(&columns, &[0.5, 0.25, 0.5, 0.75]), "{columns:?}");
    let x = Tensor::bf16(&[3], &[1000.0, 1000.0, -1000.0]);
    assert_eq!(one("softmax_fwd_bf16", &[&x], (Bf16, &[3]), &words(&[0])).floats(), [0.5, 0.5, 0.0]);
}

#[test]
fn rms_norm_divides_by_the_root_of_the_mean_square() {
    // Mean squares 25 and 4; epsilon from the parameters where it is valid.
    let x = Tensor::f32(&[2, 2], &[1.0, 7.0, 2.0, -2.0]);
    let gamma = Tensor::f32(&[2], &[10.0, 1.0]);
    let norm = |is_valid: u32, eps: f32| {
        let outputs = vec![Some(Tensor::zeros(F32, &[2, 2])), Some(Tensor::zeros(F32, &[1, 2]))];
        let params = words(&[is_valid, eps.to_bits(), 1, 1, 1, 0]);
        let inputs = [Some(&x), Some(&gamma)];
        let outputs = node(&machine(GAUDI2), "rms_norm_fwd_f32", &inputs, outputs, &params).unwrap();
        outputs.into_iter().map(|out| out.unwrap().floats()).collect::<Vec<_>>()
    };
    let exact = norm(1, 0.0);
    assert_eq!(exact[0], [2.0, 1.4, 10.0, -1.0]);
    assert_eq!(exact[1], [0.2, 0.5]);
    // 25 + 11 = 36 and 4 + 11 = 15.
    let added = norm(1, 11.0);
    assert!((added[1][0] - 1.0 / 6.0).abs() < 1e-7 && (added[1][1] - 15f32.sqrt().recip()).abs() < 1e-7);
    let default = norm(0, 11.0);
    assert!((default[1][1] - (4.0 + 1e-5f32).sqrt().recip()).abs() < 1e-7 && default[1][1] < 0.5);
    let x = Tensor::bf16(&[2], &[1.0, 7.0]);
    let y = one("rms_norm_fwd_bf16", &[&x, &gamma], (Bf16, &[2]), &words(&[1, 0, 1, 1, 1, 0]));
    assert_eq!(y.floats(), [2.0, 1.398_437_5]);
}
