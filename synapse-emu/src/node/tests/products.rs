//! Matrix products.

use gaudi_numerics::Generation;
use gaudi_numerics::Mode;
use safetensors::SafeTensors;

use super::{Failure, GAUDI2, GAUDI3, Tensor, machine, node, one, status, words};
use crate::node::machine::Machine;
use crate::node::spec::DataType::{self, Bf16, F32, Fp8_143, Fp8_152, I8};

/// 1 and other small powers of two and their sums are exact in every type.
fn codes(values: &[f32]) -> Vec<u8> {
    values.iter().map(|value| gaudi_numerics::fp8::Encoder::kv_cache(GAUDI2).encode(*value)).collect()
}

/// A matrix of a type.
fn matrix(dtype: DataType, sizes: &[usize], values: &[f32]) -> Tensor {
    match dtype {
        F32 => Tensor::f32(sizes, values),
        Bf16 => Tensor::bf16(sizes, values),
        _ => Tensor::hf8(sizes, &codes(values)),
    }
}

// A is two rows of three, B three rows of two: A * B = [[4, 5], [10, 11]].
const A: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
const A_TURNED: [f32; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
const B: [f32; 6] = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
const B_TURNED: [f32; 6] = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0];
const PRODUCT: [f32; 4] = [4.0, 5.0, 10.0, 11.0];

#[test]
fn each_operand_may_be_transposed() {
    for dtype in [Fp8_143, Bf16, F32] {
        for out in [F32, Bf16] {
            for (transpose_a, transpose_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let a = if transpose_a == 1 {
                    matrix(dtype, &[2, 3], &A_TURNED)
                } else {
                    matrix(dtype, &[3, 2], &A)
                };
                let b = if transpose_b == 1 {
                    matrix(dtype, &[3, 2], &B_TURNED)
                } else {
                    matrix(dtype, &[2, 3], &B)
                };
                let product = one("gemm", &[&a, &b], (out, &[2, 2]), &[transpose_a, transpose_b]);
                assert_eq!(product.floats(), PRODUCT, "{dtype:?} {out:?} {transpose_a} {transpose_b}");
            }
        }
    }
    let plain = one("gemm", &[&matrix(Bf16, &[3, 2], &A), &matrix(Bf16, &[2, 3], &B)], (F32, &[2, 2]), &[]);
    assert_eq!(plain.floats(), PRODUCT);
}

#[test]
fn batches_are_repeated() {
    for (dtype, turned) in [(Fp8_143, 0), (Bf16, 1), (F32, 0)] {
        let scaled = |values: &[f32], factors: &[f32]| -> Vec<f32> {
            factors.iter().flat_map(|factor| values.iter().map(move |value| value * factor)).collect()
        };
        let (a, rows, columns) = if turned == 1 { (A_TURNED, 2, 3) } else { (A, 3, 2) };
        let batch =
            |a_batch: &[usize], a_factors: &[f32], b_batch: &[usize], b_factors: &[f32], out: &[usize]| {
                let a = matrix(dtype, &[&[rows, columns], a_batch].concat(), &scaled(&a, a_factors));
                let b = matrix(dtype, &[&[2, 3], b_batch].concat(), &scaled(&B, b_factors));
                one("batch_gemm", &[&a, &b], (F32, &[&[2, 2], out].concat()), &[turned, 0]).floats()
            };
        let expected = |factors: &[f32]| scaled(&PRODUCT, factors);
        assert_eq!(batch(&[2], &[1.0, 2.0], &[2], &[1.0, 4.0], &[2]), expected(&[1.0, 8.0]));
        // One B for all: the rows of A are taken together.
        assert_eq!(batch(&[3], &[1.0, 2.0, 4.0], &[1], &[2.0], &[3]), expected(&[2.0, 4.0, 8.0]));
        assert_eq!(batch(&[3], &[1.0, 2.0, 4.0], &[], &[2.0], &[3]), expected(&[2.0, 4.0, 8.0]));
        assert_eq!(batch(&[1], &[2.0], &[2], &[1.0, 4.0], &[2]), expected(&[2.0, 8.0]));
        let crossed = batch(&[2, 1], &[1.0, 2.0], &[1, 2], &[1.0, 4.0], &[2, 2]);
        assert_eq!(crossed, expected(&[1.0, 2.0, 4.0, 8.0]));
    }
}

#[test]
fn vectors_are_matrices_of_one_row() {
    let a = Tensor::bf16(&[3], &[1.0, 2.0, 3.0]);
    let b = Tensor::bf16(&[2, 3], &B);
    assert_eq!(one("gemm", &[&a, &b], (F32, &[2, 1]), &[]).floats(), [4.0, 5.0]);
    assert_eq!(one("gemm", &[&a, &b], (F32, &[2]), &[]).floats(), [4.0, 5.0]);
}

#[test]
fn a_bias_is_added_before_the_rounding() {
    let (a, b) = (matrix(Bf16, &[3, 2], &A), matrix(Bf16, &[2, 3], &B));
    let bias = Tensor::f32(&[2], &[100.0, 0.25]);
    let sum = one("gemm", &[&a, &b, &bias], (F32, &[2, 2]), &[]);
    assert_eq!(sum.floats(), [104.0, 5.25, 110.0, 11.25]);
    // 4 + 252 = 256 and 5 + 252 = 257, a tie that goes to 256.
    let bias = Tensor::bf16(&[1], &[252.0]);
    let sum = one("gemm", &[&a, &b, &bias], (Bf16, &[2, 2]), &[]);
    assert_eq!(sum.floats(), [256.0, 256.0, 262.0, 264.0]);
}

/// A scaled product: inputs beside A and B.
fn scaled(machine: &Machine, guid: &str, dtype: DataType, rest: [Option<&Tensor>; 5]) -> Tensor {
    let (a, b) = (matrix(Fp8_143, &[3, 2], &A), matrix(Fp8_143, &[2, 3], &B));
    let inputs = [&[Some(&a), Some(&b)], &rest[..]].concat();
    let outputs = vec![Some(Tensor::zeros(dtype, &[2, 2]))];
    node(machine, guid, &inputs, outputs, &[0, 0]).unwrap().remove(0).unwrap()
}

#[test]
fn scales_of_rows_and_columns() {
    let machine = machine(GAUDI2);
    let number = |value: f32| Tensor::f32(&[1], &[value]);
    let run = |a: &Tensor, b: &Tensor| {
        let out = scaled(&machine, "fp8_gemm_f32", F32, [Some(a), Some(b), None, None, None]);
        let bf16 = scaled(&machine, "fp8_gemm_bf16", Bf16, [Some(a), Some(b), None, None, None]);
        assert_eq!(out.floats(), bf16.floats());
        out.floats()
    };
    assert_eq!(run(&number(2.0), &number(0.5)), PRODUCT);
    assert_eq!(run(&number(2.0), &number(4.0)), [32.0, 40.0, 80.0, 88.0]);
    assert_eq!(run(&Tensor::f32(&[1, 2], &[2.0, 4.0]), &number(1.0)), [8.0, 10.0, 40.0, 44.0]);
    assert_eq!(run(&number(1.0), &Tensor::f32(&[2], &[2.0, 4.0])), [8.0, 20.0, 20.0, 44.0]);
    assert_eq!(
        run(&Tensor::f32(&[2], &[2.0, 4.0]), &Tensor::bf16(&[2, 1], &[2.0, 4.0])),
        [16.0, 40.0, 80.0, 176.0]
    );
    let only_b = scaled(&machine, "fp8_gemm_f32", F32, [None, Some(&number(2.0)), None, None, None]);
    assert_eq!(only_b.floats(), [8.0, 10.0, 20.0, 22.0]);
}

#[test]
fn scales_are_rounded_one_after_the_other() {
    // (4 * a) * b differs from 4 * (a * b) here: a = 1 + 2^-23, b = 1 + 2^-22; 11 * a and 11 * b are not exact.
    let (a, b) = (f32::from_bits(0x3F80_0001), f32::from_bits(0x3F80_0003));
    let number = |value: f32| Tensor::f32(&[1], &[value]);
    let out =
        scaled(&machine(GAUDI2), "fp8_gemm_f32", F32, [Some(&number(a)), Some(&number(b)), None, None, None]);
    let expected = PRODUCT.map(|acc| (acc * a) * b);
    assert_eq!(out.floats(), expected);
    assert!(PRODUCT.iter().zip(expected).any(|(acc, expected)| acc * (a * b) != expected));
}

#[test]
fn bias_and_addend_follow_the_scales() {
    let number = |value: f32| Tensor::f32(&[1], &[value]);
    let bias = Tensor::f32(&[2], &[0.5, 0.25]);
    let addend = Tensor::f32(&[2, 2], &[100.0, 200.0, 300.0, 400.0]);
    let rest = [Some(&number(2.0)), None, Some(&bias), Some(&addend), None];
    let out = scaled(&machine(GAUDI2), "fp8_gemm_f32", F32, rest);
    assert_eq!(out.floats(), [108.5, 210.25, 320.5, 422.25]);
}

#[test]
fn fp8_results_saturate_where_clipping_is_on() {
    // 100 * (4, 5, 10, 11) is (400, 500, 1000, 1100).
    let hundred = Tensor::f32(&[1], &[100.0]);
    let codes = |generation, is_inference, is_quantized, inverse: Option<&Tensor>| {
        let machine = Machine { is_inference, is_quantized, ..machine(generation) };
        let rest = [Some(&hundred), None, None, None, inverse];
        scaled(&machine, "fp8_gemm_hf8", Fp8_143, rest).bytes().to_vec()
    };
    assert_eq!(codes(GAUDI2, true, false, None), [0x77; 4]);
    assert_eq!(codes(GAUDI2, false, true, None), [0x78; 4]);
    assert_eq!(codes(GAUDI3, true, true, None), [0x7C, 0x7E, 0x7E, 0x7E]);
    assert_eq!(codes(GAUDI3, true, false, None), [0x7C, 0x7F, 0x7F, 0x7F]);
    assert_eq!(codes(GAUDI3, false, true, None), [0x7C, 0x7F, 0x7F, 0x7F]);
    // An inverse scale brings them back: 4, 5, 10, 11.
    let inverse = Tensor::f32(&[1], &[0.01]);
    assert_eq!(codes(GAUDI2, true, false, Some(&inverse)), [0x48, 0x4A, 0x52, 0x53]);
    // The plain product writes FP8 too.
    let (a, b) = (matrix(Fp8_143, &[3, 2], &A), matrix(Fp8_143, &[2, 3], &B));
    assert_eq!(one("batch_gemm", &[&a, &b], (Fp8_143, &[2, 2]), &[]).bytes(), [0x48, 0x4A, 0x52, 0x53]);
}

#[test]
fn an_exponent_bias_scales_its_operand() {
    // Bias 3 is a factor of 16.
    let mut a = matrix(Fp8_143, &[3, 2], &A);
    a.spec.exp_bias = 3;
    let b = matrix(Fp8_143, &[2, 3], &B);
    assert_eq!(one("gemm", &[&a, &b], (F32, &[2, 2]), &[]).floats(), PRODUCT.map(|acc| acc * 16.0));
    let mut out = Tensor::zeros(Fp8_143, &[2, 2]);
    out.spec.exp_bias = 3;
    let out = node(&machine(GAUDI2), "gemm", &[Some(&a), Some(&b)], vec![Some(out)], &[]).unwrap();
    assert_eq!(out[0].as_ref().unwrap().bytes(), [0x48, 0x4A, 0x52, 0x53]);
}

#[test]
fn the_fast_mode_is_close() {
    let machine = Machine { mode: Mode::Fast, ..machine(GAUDI3) };
    let outputs = vec![Some(Tensor::zeros(F32, &[2, 2]))];
    let (a, b) = (matrix(Bf16, &[3, 2], &A), matrix(Bf16, &[2, 3], &B));
    let out = node(&machine, "gemm", &[Some(&a), Some(&b)], outputs, &[]).unwrap();
    assert_eq!(out[0].as_ref().unwrap().floats(), PRODUCT);
}

#[test]
fn float32_products_are_fused() {
    // (1 + 2^-12)^2 - 1 keeps its 2^-24 only if the product is not rounded.
    let x = 1.0 + 2f32.powi(-12);
    let a = Tensor::f32(&[2, 1], &[-1.0, x]);
    let b = Tensor::f32(&[2, 1], &[1.0, x]);
    let out = one("gemm", &[&a, &b], (F32, &[1, 1]), &[0, 1]);
    assert_eq!(out.floats(), [2f32.powi(-11) + 2f32.powi(-24)]);
}

#[test]
fn products_are_those_of_the_golden_vectors() {
    let mut count = 0;
    for (generation, name) in [(GAUDI2, "gaudi2"), (GAUDI3, "gaudi3")] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/golden");
        let data = std::fs::read(format!("{folder}/{name}.safetensors")).unwrap();
        let file = SafeTensors::deserialize(&data).unwrap();
        for name in file.names() {
            let Some(group) = name.strip_prefix("dot.").and_then(|name| name.strip_suffix(".off")) else {
                continue;
            };
            let parts: Vec<&str> = group.split('.').collect();
            let (dtype, exp_bias) = match (generation, &parts[..]) {
                (_, ["bf16"]) => (Bf16, 0),
                (Generation::Gaudi2, ["e4m3", "mode0", bias])
                | (Generation::Gaudi3, ["e4m3", "mode2", bias]) => {
                    (Fp8_143, bias.strip_prefix("bias").unwrap().parse().unwrap())
                }
                (_, ["e5m2", "mode0", bias]) => {
                    (Fp8_152, bias.strip_prefix("bias").unwrap().parse().unwrap())
                }
                _ => continue,
            };
            let words = |field: &str| -> Vec<usize> {
                let view = file.tensor(&format!("dot.{group}.{field}")).unwrap();
                view.data().as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize).collect()
            };
            let (starts, lens, expected) = (words("off"), words("len"), words("out"));
            let operand = |field: &str, at: usize, len: usize| {
                let view = file.tensor(&format!("dot.{group}.{field}")).unwrap();
                let size = dtype.bytes();
                let bytes = &view.data()[at * size..(at + len) * size];
                let mut tensor = match dtype {
                    Bf16 => {
                        let values: Vec<u16> =
                            bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect();
                        Tensor::new(Bf16, &[len, 1], &values)
                    }
                    _ => Tensor::new(dtype, &[len, 1], bytes),
                };
                tensor.spec.exp_bias = exp_bias;
                tensor
            };
            for ((at, len), expected) in starts.iter().zip(&lens).zip(expected) {
                if *len == 0 {
                    continue;
                }
                let (a, b) = (operand("a", *at, *len), operand("b", *at, *len));
                let outputs = vec![Some(Tensor::zeros(F32, &[1, 1]))];
                let out =
                    node(&machine(generation), "gemm", &[Some(&a), Some(&b)], outputs, &[0, 1]).unwrap();
                assert_eq!(out[0].as_ref().unwrap().elements::<u32>(), [expected as u32], "{group} at {at}");
                count += 1;
            }
        }
    }
    assert!(count > 5000, "{count}");
}

#[test]
fn operands_that_the_engine_does_not_multiply() {
    let (a, b) = (matrix(Fp8_143, &[3, 2], &A), matrix(Bf16, &[2, 3], &B));
    assert_eq!(status("gemm", &[&a, &b], (F32, &[2, 2]), &[]), Ok(26));
    assert_eq!(status("gemm", &[&b, &a], (F32, &[2, 2]), &[]), Ok(26));
    assert_eq!(status("fp8_gemm_bf16", &[&b, &b], (Bf16, &[2, 2]), &[0, 1]), Ok(26));
    let bytes = Tensor::i8(&[3, 2], &[0; 6]);
    assert_eq!(status("gemm", &[&bytes, &bytes], (F32, &[2, 2]), &[0, 1]), Ok(26));
    assert_eq!(status("gemm", &[&a, &a], (I8, &[2, 2]), &[0, 1]), Ok(26));
    // Two FP8 types: on Gaudi3 only. 1.0 is 0x38 and 0x3C.
    let e5m2 = Tensor::new(Fp8_152, &[1, 1], &[0x3Cu8]);
    let e4m3 = Tensor::hf8(&[1, 1], &[0x38]);
    assert_eq!(status("gemm", &[&e4m3, &e5m2], (F32, &[1, 1]), &[]), Ok(26));
    let outputs = vec![Some(Tensor::zeros(F32, &[1, 1]))];
    let out = node(&machine(GAUDI3), "gemm", &[Some(&e4m3), Some(&e5m2)], outputs, &[]).unwrap();
    assert_eq!(out[0].as_ref().unwrap().floats(), [1.0]);
    // Gaudi2 reads e5m2 at bias 15 only.
    let mut e5m2 = e5m2;
    e5m2.spec.exp_bias = 14;
    assert_eq!(status("gemm", &[&e5m2, &e5m2], (F32, &[1, 1]), &[]), Ok(26));
}

#[test]
fn shapes_that_do_not_fit() {
    let (a, b) = (matrix(Bf16, &[3, 2], &A), matrix(Bf16, &[2, 3], &B));
    assert_eq!(status("gemm", &[&a, &b], (F32, &[2, 2]), &[1, 0]), Ok(26));
    assert_eq!(status("gemm", &[&a, &b], (F32, &[2, 3]), &[0, 0]), Ok(26));
    assert_eq!(status("gemm", &[&a, &b], (F32, &[2, 2]), &[0]), Ok(26));
    let bias = Tensor::f32(&[3], &[0.0; 3]);
    assert_eq!(status("gemm", &[&a, &b, &bias], (F32, &[2, 2]), &[]), Ok(26));
    assert_eq!(status("gemm", &[&a, &b, &bias, &bias], (F32, &[2, 2]), &[]), Ok(26));
    let (a, b) = (Tensor::zeros(Bf16, &[3, 2, 2]), Tensor::zeros(Bf16, &[2, 3, 3]));
    assert_eq!(status("batch_gemm", &[&a, &b], (F32, &[2, 2, 3]), &[]), Ok(26));
    let (a, b) = (Tensor::zeros(Fp8_143, &[3, 2]), Tensor::zeros(Fp8_143, &[2, 3]));
    let scale = Tensor::f32(&[3], &[1.0; 3]);
    assert_eq!(status("fp8_gemm_bf16", &[&a, &b, &scale], (Bf16, &[2, 2]), &[0, 0]), Ok(26));
    // An output scale is for FP8 outputs.
    let number = Tensor::f32(&[1], &[1.0]);
    let inputs = [Some(&a), Some(&b), None, None, None, None, Some(&number)];
    let outputs = vec![Some(Tensor::zeros(Bf16, &[2, 2]))];
    let refused = node(&machine(GAUDI2), "fp8_gemm_bf16", &inputs, outputs, &[0, 0]);
    assert!(matches!(refused, Err(Failure::Refused(26, _))));
    assert_eq!(status("fp8_gemm_i8", &[&a, &b], (I8, &[2, 2]), &[]), Ok(26));
    let wrong = status("gemm", &[&a], (F32, &[2, 2]), &words(&[0]));
    assert_eq!(wrong, Ok(26));
}
