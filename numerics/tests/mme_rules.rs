//! The rules of the matrix engine, each worked out by hand, and what it refuses.
#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use gaudi_numerics::Generation;
use gaudi_numerics::Generation::{Gaudi2, Gaudi3};
use gaudi_numerics::fp8::{Encoder, Format, InfNan, Isa, Layout};
use gaudi_numerics::mme::{Elements, Gemm, Matrix, MatrixMut, MmeError, Right, dot, scaled_bf16, scaled_fp8};
use half::bf16;

const E4M3: Format = Format { layout: Layout::E4M3, bias: 7, inf_nan: InfNan::Full };
const E5M2: Format = Format { layout: Layout::E5M2, bias: 15, inf_nan: InfNan::Full };

/// A dot product of bfloat16 numbers by the reference and by every kernel, which must agree.
fn bf16_dot(generation: Generation, a: &[f32], b: &[f32]) -> u32 {
    let [a, b] = [a, b].map(|x| x.iter().map(|x| bf16::from_f32(*x)).collect::<Vec<_>>());
    let (a, b) = (Elements::Bf16(&a), Elements::Bf16(&b));
    let want = dot(generation, a, b).unwrap().to_bits();
    for isa in Isa::available() {
        let mut out = [0.0];
        let (row, column) = (Matrix::new(a, 1, a.len()).unwrap(), [Matrix::new(b, 1, b.len()).unwrap()]);
        let destination = MatrixMut::new(&mut out, 1, 1).unwrap();
        Gemm::with_isa(generation, isa).unwrap().exact(row, Right::NByK(&column), destination).unwrap();
        assert_eq!(out[0].to_bits(), want, "{isa}");
    }
    want
}

fn power(exponent: i32) -> f32 {
    2f64.powi(exponent) as f32
}

/// A first group that makes C one, then one more product.
fn one_and(generation: Generation, x: f32, y: f32) -> f32 {
    let mut a = [0.0; 9];
    let mut b = [0.0; 9];
    (a[0], b[0], a[8], b[8]) = (1.0, 1.0, x, y);
    f32::from_bits(bf16_dot(generation, &a, &b))
}

#[test]
fn what_is_left_of_small_products() {
    // 1.5 * 2^-24 beside C = 1: cut to 2^-24 and then off by truncation, or rounded up to 2^-23.
    assert_eq!(one_and(Gaudi3, 1.5, power(-24)), 1.0);
    assert_eq!(one_and(Gaudi2, 1.5, power(-24)), 1.0 + power(-23));
    // -2^-25 beside C = 1: nothing is left of it after alignment; nearest is one as well.
    assert_eq!(one_and(Gaudi3, -1.0, power(-25)), 1.0);
    assert_eq!(one_and(Gaudi2, -1.0, power(-25)), 1.0);
    // -2^-24 is kept: 1 - 2^-24 is a float32.
    assert_eq!(one_and(Gaudi3, -1.0, power(-24)), 1.0 - power(-24));
    assert_eq!(one_and(Gaudi2, -1.0, power(-24)), 1.0 - power(-24));
    // A product below the 24 or 46 bits of its group's largest is dropped; the largest then cancels.
    let within =
        |generation, small| f32::from_bits(bf16_dot(generation, &[1.0, small, -1.0], &[1.0, 1.0, 1.0]));
    assert_eq!(within(Gaudi3, power(-24)), power(-24));
    assert_eq!(within(Gaudi3, power(-25)), 0.0);
    assert_eq!(within(Gaudi2, power(-46)), power(-46));
    assert_eq!(within(Gaudi2, power(-47)), 0.0);
}

#[test]
fn denormal_numbers_are_kept_or_flushed() {
    // Denormal operands: kept or flushed. Denormal results the same.
    assert_eq!(f32::from_bits(bf16_dot(Gaudi3, &[power(-130)], &[power(100)])), power(-30));
    assert_eq!(bf16_dot(Gaudi2, &[power(-130)], &[power(100)]), 0);
    // The largest products of a denormal that the kernels take.
    for (x, y) in [(1.75 * power(-127), 1.75 * power(25)), (1.75 * power(24), 1.75 * power(-127))] {
        assert_eq!(f32::from_bits(bf16_dot(Gaudi3, &[x], &[y])), x * y);
        assert_eq!(bf16_dot(Gaudi2, &[x], &[y]), 0);
    }
    assert_eq!(f32::from_bits(bf16_dot(Gaudi3, &[power(-70)], &[power(-70)])), power(-140));
    assert_eq!(bf16_dot(Gaudi2, &[power(-70)], &[power(-70)]), 0);
    assert_eq!(bf16_dot(Gaudi2, &[power(-70)], &[-power(-70)]), 0x8000_0000);
    // Large products cancel and leave a denormal: flushed to a zero of its sign, or below what Gaudi3 keeps.
    let left = |generation, x: f32, y: f32| {
        let large = power(-50);
        bf16_dot(generation, &[large, x, -large], &[large, y, large])
    };
    assert_eq!(left(Gaudi2, power(-65), power(-65)), 0);
    assert_eq!(left(Gaudi2, power(-65), -power(-65)), 0x8000_0000);
    assert_eq!(f32::from_bits(left(Gaudi2, power(-60), -power(-65))), -power(-125));
    assert_eq!(f32::from_bits(left(Gaudi3, power(-60), -power(-64))), -power(-124));
    assert_eq!(left(Gaudi3, power(-60), -power(-65)), 0);
}

#[test]
fn gaudi2_rounds_a_sum_once() {
    // 2^-60 decides a tie, though a double cannot hold it beside one: Gaudi2 rounds once.
    let tie = |c: f32, small: f32| {
        let (mut a, mut b) = ([0.0; 10], [0.0; 10]);
        (a[0], b[0], a[1], b[1]) = (1.0, 1.0, 1.0, c);
        (a[8], b[8], a[9], b[9]) = (1.0, power(-24), 1.0, small);
        f32::from_bits(bf16_dot(Gaudi2, &a, &b))
    };
    assert_eq!(tie(0.0, 0.0), 1.0);
    assert_eq!(tie(0.0, power(-60)), 1.0 + power(-23));
    assert_eq!(tie(0.0, -power(-60)), 1.0);
    assert_eq!(tie(power(-23), 0.0), 1.0 + power(-22));
    assert_eq!(tie(power(-23), power(-60)), 1.0 + power(-22));
    assert_eq!(tie(power(-23), -power(-60)), 1.0 + power(-23));
}

#[test]
fn infinities_nans_and_zeros() {
    for generation in Generation::ALL {
        let of = |a: &[f32], b: &[f32]| bf16_dot(generation, a, b);
        assert_eq!(of(&[f32::INFINITY], &[0.0]), 0x7FFF_FFFF);
        assert_eq!(of(&[f32::INFINITY, 1.0], &[-2.0, f32::MAX / 2.0]), 0xFF80_0000);
        assert_eq!(of(&[f32::INFINITY, f32::INFINITY], &[1.0, -1.0]), 0x7FFF_FFFF);
        assert_eq!(of(&[-f32::NAN], &[1.0]), 0x7FFF_FFFF);
        assert_eq!(of(&[power(127)], &[2.0]), 0x7F80_0000);
        assert_eq!(of(&[1.0, -1.0], &[1.0, 1.0]), 0);
        assert_eq!(of(&[-1.0], &[0.0]), 0);
        assert_eq!(of(&[], &[]), 0);
    }
}

#[test]
fn groups_of_fp8_products() {
    // 16 products on Gaudi2 are one group, on Gaudi3 two. 240 * 240 and its negative hide 2^-18 where they
    // share its group.
    let mut a = [0u8; 16];
    let mut b = [0u8; 16];
    (a[0], b[0], a[1], b[1], a[15], b[15]) = (0x77, 0x77, 0x77, 0xF7, 0x01, 0x01);
    let of = |generation| dot(generation, Elements::Fp8(&a, E4M3), Elements::Fp8(&b, E4M3)).unwrap();
    assert_eq!(of(Gaudi2), 0.0);
    assert_eq!(of(Gaudi3), power(-18));
}

#[test]
fn output_conversion() {
    // Each multiplication rounds to float32 on its own: (1/3 * 3) is one, so the result is seven exactly, code 0x4E.
    let one: &[f32] = &[1.0];
    let mut codes = [0u8; 2];
    let rows = (&[3.0, 0.5], &[7.0]);
    let encoder = Encoder::kv_cache(Gaudi3);
    scaled_fp8(&[1.0 / 3.0, 2.0], [2, 1], rows.0, rows.1, encoder, &mut codes).unwrap();
    assert_eq!(codes, [0x4E; 2]);
    // Overflow saturates on the device's own range, and NaN has one code.
    for (generation, max) in [(Gaudi2, 0x77), (Gaudi3, 0x7E)] {
        let encoder = Encoder::kv_cache(generation);
        scaled_fp8(&[-1e9, f32::NAN], [1, 2], one, one, encoder, &mut codes).unwrap();
        assert_eq!(codes, [max | 0x80, 0x7F], "{generation}");
    }
    let mut out = [bf16::ZERO; 2];
    scaled_bf16(&[1.0, 3.0], [1, 2], &[2.0], &[0.5, 0.25], &mut out).unwrap();
    assert_eq!(out.map(f32::from), [1.0, 1.5]);
    // An intermediate that overflows stays Inf.
    scaled_bf16(&[1e30, 1.0], [1, 2], &[1e30], &[1e-30; 2], &mut out).unwrap();
    assert_eq!(out.map(f32::from), [f32::INFINITY, 1.0]);
    scaled_bf16(&[1e30, 1.0], [1, 2], &[1e30], &[1e-30], &mut out).unwrap();
    assert_eq!(out.map(f32::from), [f32::INFINITY, 1.0]);
}

#[test]
fn matrices_must_lie_in_their_slices() {
    let codes = [0u8; 12];
    let fp8 = Elements::Fp8(&codes, E4M3);
    assert_eq!(
        Matrix::new(fp8, 3, 5).unwrap_err(),
        MmeError::Length { rows: 3, cols: 5, stride: 5, len: 12 }
    );
    assert_eq!(Matrix::strided(fp8, 2, 5, 4).unwrap_err(), MmeError::Stride { cols: 5, stride: 4 });
    assert_eq!(Matrix::strided(fp8, usize::MAX, 2, usize::MAX).unwrap_err(), MmeError::Overflow);
    assert!(Matrix::strided(fp8, 2, 5, 7).is_ok());
    assert!(Matrix::strided(fp8, 2, 5, 8).is_err());
    assert!(MatrixMut::strided(&mut [0.0; 4], 2, 2, 3).is_err());
}

/// The error of a product, which leaves its destination as it was.
fn refused(generation: Generation, a: Matrix<'_>, b: Right<'_>, shape: [usize; 2]) -> MmeError {
    let mut data = [7.0; 64];
    let out = MatrixMut::new(&mut data, shape[0], shape[1]).unwrap();
    let error = Gemm::new(generation).exact(a, b, out).unwrap_err();
    assert_eq!(data, [7.0; 64]);
    error
}

#[test]
fn operands_must_fit_each_other() {
    let codes = [0u8; 12];
    let fp8 = Elements::Fp8(&codes, E4M3);
    let a = Matrix::new(fp8, 2, 6).unwrap();
    let gaudi2 = Gaudi2;
    let square = [Matrix::new(fp8, 3, 4).unwrap()];
    assert_eq!(refused(gaudi2, a, Right::KByN(&square), [2, 4]), MmeError::CommonDimension { a: 6, b: 3 });
    assert_eq!(refused(gaudi2, a, Right::NByK(&square), [2, 3]), MmeError::CommonDimension { a: 6, b: 4 });
    assert_eq!(refused(gaudi2, a, Right::KByN(&[]), [2, 0]), MmeError::CommonDimension { a: 6, b: 0 });
    let b = [Matrix::new(fp8, 6, 2).unwrap()];
    assert_eq!(
        refused(gaudi2, a, Right::KByN(&b), [2, 3]),
        MmeError::Destination { rows: 2, cols: 2, out_rows: 2, out_cols: 3 }
    );
    let widths = [b[0], Matrix::new(fp8, 1, 3).unwrap()];
    assert_eq!(
        refused(gaudi2, a, Right::KByN(&widths), [2, 2]),
        MmeError::BlockWidth { block: 1, cols: 3, expected: 2 }
    );
}

#[test]
fn types_and_formats_must_be_those_of_the_device() {
    let (codes, numbers) = ([0u8; 12], [bf16::ZERO; 12]);
    let a = Matrix::new(Elements::Fp8(&codes, E4M3), 2, 6).unwrap();
    let gaudi2 = Gaudi2;
    let other = |format| Matrix::new(Elements::Fp8(&codes, format), 3, 2).unwrap();
    let half = other(E4M3);
    assert_eq!(
        refused(gaudi2, a, Right::KByN(&[half, other(E5M2)]), [2, 2]),
        MmeError::BlockType { block: 1 }
    );
    let words = [Matrix::new(Elements::Bf16(&numbers), 6, 2).unwrap()];
    assert_eq!(refused(gaudi2, a, Right::KByN(&words), [2, 2]), MmeError::MixedTypes);
    let flavour = [Matrix::new(Elements::Fp8(&codes, E5M2), 6, 2).unwrap()];
    assert_eq!(
        refused(gaudi2, a, Right::KByN(&flavour), [2, 2]),
        MmeError::MixedFlavours { generation: gaudi2, a: E4M3, b: E5M2 }
    );
    let mut out = [0.0; 4];
    let result = MatrixMut::new(&mut out, 2, 2).unwrap();
    Gemm::new(Gaudi3).exact(a, Right::KByN(&flavour), result).unwrap();
    for (generation, format) in [
        (gaudi2, Format { inf_nan: InfNan::Minimal, ..E4M3 }),
        (gaudi2, Format { bias: 8, ..E4M3 }),
        (gaudi2, Format { bias: 14, ..E5M2 }),
        (gaudi2, Format { bias: 16, ..E5M2 }),
        (Gaudi3, Format { bias: 64, ..E4M3 }),
        (Gaudi3, Format { bias: 255, ..E4M3 }),
    ] {
        let b = [Matrix::new(Elements::Fp8(&codes, format), 6, 2).unwrap()];
        assert_eq!(refused(generation, a, Right::KByN(&b), [2, 2]), MmeError::Format { generation, format });
    }
}

#[test]
fn scales_and_lengths_must_fit() {
    let (codes, gaudi2) = ([0u8; 12], Gaudi2);
    let lengths = (Elements::Fp8(&codes[..3], E4M3), Elements::Fp8(&codes[..2], E4M3));
    assert_eq!(dot(gaudi2, lengths.0, lengths.1).unwrap_err(), MmeError::CommonDimension { a: 3, b: 2 });
    let mut narrow = [bf16::ZERO; 4];
    let scales = scaled_bf16(&[0.0; 4], [2, 2], &[1.0; 3], &[1.0], &mut narrow);
    assert_eq!(scales.unwrap_err(), MmeError::Scales { dimension: "rows", scales: 3, expected: 2 });
    let short = scaled_bf16(&[0.0; 3], [2, 2], &[1.0], &[1.0], &mut narrow);
    assert_eq!(short.unwrap_err(), MmeError::Length { rows: 2, cols: 2, stride: 2, len: 3 });
}
