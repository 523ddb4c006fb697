//! Arithmetic, comparisons and choices.

use super::{Tensor, one};
use crate::node::spec::DataType::{Bf16, F32, I8, I32};

#[test]
fn pairs_of_equal_sizes() {
    let a = Tensor::f32(&[2, 2], &[1.0, -2.0, 3.5, 0.0]);
    let b = Tensor::f32(&[2, 2], &[4.0, 8.0, -0.5, 2.0]);
    for (guid, expected) in [
        ("add_fwd_f32", [5.0, 6.0, 3.0, 2.0]),
        ("sub_fwd_f32", [-3.0, -10.0, 4.0, -2.0]),
        ("mult_fwd_f32", [4.0, -16.0, -1.75, 0.0]),
        ("div_fwd_f32", [0.25, -0.25, -7.0, 0.0]),
        ("max_fwd_f32", [4.0, 8.0, 3.5, 2.0]),
        ("min_fwd_f32", [1.0, -2.0, -0.5, 0.0]),
    ] {
        assert_eq!(one(guid, &[&a, &b], (F32, &[2, 2]), &[]).floats(), expected, "{guid}");
    }
}

#[test]
fn bfloat16_is_rounded_once() {
    // 257 is a tie between 256 and 258, 259 one between 258 and 260: both go to the even significand.
    let a = Tensor::bf16(&[3], &[256.0, 258.0, 256.0]);
    let b = Tensor::bf16(&[3], &[1.0, 1.0, 1.5]);
    assert_eq!(one("add_fwd_bf16", &[&a, &b], (Bf16, &[3]), &[]).floats(), [256.0, 260.0, 258.0]);
    // 2^-7 + 1 squared is 1 + 2^-6 + 2^-14.
    let x = Tensor::bf16(&[1], &[1.007_812_5]);
    assert_eq!(one("mult_fwd_bf16", &[&x, &x], (Bf16, &[1]), &[]).floats(), [1.015_625]);
}

#[test]
fn integers_wrap() {
    let a = Tensor::i32(&[2], &[i32::MAX, -5]);
    let b = Tensor::i32(&[2], &[1, 3]);
    assert_eq!(one("add_fwd_i32", &[&a, &b], (I32, &[2]), &[]).elements::<i32>(), [i32::MIN, -2]);
    assert_eq!(one("min_fwd_i32", &[&a, &b], (I32, &[2]), &[]).elements::<i32>(), [1, -5]);
}

#[test]
fn sizes_of_one_are_repeated() {
    // Rows of three, two of them.
    let a = Tensor::f32(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let row = Tensor::f32(&[3, 1], &[10.0, 20.0, 30.0]);
    let column = Tensor::f32(&[1, 2], &[100.0, 200.0]);
    let sum = |a: &Tensor, b: &Tensor| one("add_fwd_f32", &[a, b], (F32, &[3, 2]), &[]).floats();
    assert_eq!(sum(&a, &row), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    assert_eq!(sum(&a, &row.clone().shaped(&[3])), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    assert_eq!(sum(&a, &column), [101.0, 102.0, 103.0, 204.0, 205.0, 206.0]);
    assert_eq!(sum(&row, &column), [110.0, 120.0, 130.0, 210.0, 220.0, 230.0]);
    let one_number = Tensor::f32(&[1], &[1000.0]);
    assert_eq!(sum(&one_number, &a), [1001.0, 1002.0, 1003.0, 1004.0, 1005.0, 1006.0]);
    let difference = one("sub_fwd_f32", &[&column, &a], (F32, &[3, 2]), &[]);
    assert_eq!(difference.floats(), [99.0, 98.0, 97.0, 196.0, 195.0, 194.0]);
}

#[test]
fn functions_of_one_number() {
    let x = Tensor::f32(&[3], &[-1.0, 0.0, 2.0]);
    let f = |guid: &str| one(guid, &[&x], (F32, &[3]), &[]).floats();
    assert_eq!(f("neg_fwd_f32"), [1.0, -0.0, -2.0]);
    assert_eq!(f("abs_fwd_f32"), [1.0, 0.0, 2.0]);
    // e^-1 and e^2, tanh(1) and tanh(2), to within a unit in the last place.
    let near = |value: f32, expected: f64| (f64::from(value) / expected - 1.0).abs() < 1.2e-7;
    let exp = f("exp_fwd_f32");
    assert!(near(exp[0], 0.367_879_441_171_442_3) && exp[1] == 1.0 && near(exp[2], 7.389_056_098_930_65));
    let tanh = f("tanh_fwd_f32");
    assert!(near(tanh[0], -0.761_594_155_955_765) && tanh[1] == 0.0 && near(tanh[2], 0.964_027_580_075_817));
    let y = Tensor::bf16(&[1], &[1.0]);
    // e = 2.71828 lies between 2.703125 and 2.71875.
    assert_eq!(one("exp_fwd_bf16", &[&y], (Bf16, &[1]), &[]).floats(), [2.718_75]);
}

#[test]
fn relations() {
    let a = Tensor::f32(&[4], &[1.0, 2.0, 3.0, f32::NAN]);
    let b = Tensor::f32(&[1], &[2.0]);
    for (guid, expected) in [
        ("less_fwd_f32", [1, 0, 0, 0]),
        ("less_equal_fwd_f32", [1, 1, 0, 0]),
        ("greater_fwd_f32", [0, 0, 1, 0]),
        ("greater_equal_fwd_f32", [0, 1, 1, 0]),
        ("equal_fwd_f32", [0, 1, 0, 0]),
    ] {
        assert_eq!(one(guid, &[&a, &b], (I8, &[4]), &[]).elements::<i8>(), expected, "{guid}");
    }
    let a = Tensor::i32(&[1, 3], &[-1, 0, 5]);
    let b = Tensor::i32(&[2, 1], &[0, 5]);
    let less = one("less_fwd_i32", &[&a, &b], (I8, &[2, 3]), &[]);
    assert_eq!(less.elements::<i8>(), [1, 1, 0, 1, 0, 0]);
}

#[test]
fn choices() {
    let condition = Tensor::i8(&[3, 1], &[0, 1, -1]);
    let yes = Tensor::f32(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let no = Tensor::f32(&[1, 2], &[-7.0, -8.0]);
    let chosen = one("where_fwd_f32", &[&condition, &yes, &no], (F32, &[3, 2]), &[]);
    assert_eq!(chosen.floats(), [-7.0, 2.0, 3.0, -8.0, 5.0, 6.0]);
    let yes = Tensor::bf16(&[1], &[0.5]);
    let no = Tensor::bf16(&[1], &[0.25]);
    let chosen = one("where_fwd_bf16", &[&condition, &yes, &no], (Bf16, &[3, 1]), &[]);
    assert_eq!(chosen.floats(), [0.25, 0.5, 0.5]);
}
