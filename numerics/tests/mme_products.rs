//! Every kernel against the scalar reference, on random and hostile operands of any shape, stride and cut.
#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Encoder, Format, InfNan, Isa, Layout};
use gaudi_numerics::mme::{
    Elements, Gemm, Matrix, MatrixMut, MmeError, Product, Right, dot, reference, scaled_bf16, scaled_fp8,
};
use half::bf16;
use proptest::prelude::*;

/// How the elements of an operand are drawn.
#[derive(Debug, Clone, Copy)]
enum Draw {
    /// Any bits.
    Any,
    /// Any finite bits.
    Finite,
    /// Around one, with both signs: sums cancel.
    Narrow,
    /// The least exponents: denormals and zeros.
    Tiny,
    /// The largest finite magnitudes.
    Huge,
    /// Zeros of both signs, with a rare other number.
    Sparse,
    /// Finite, with a rare Inf or NaN.
    Rare,
    /// Far apart: tiny and huge together.
    Apart,
    /// Products near the least normal float32.
    Low,
    /// Exponents around a place that changes from row to row.
    Sliding,
}

const DRAWS: [Draw; 10] = [
    Draw::Any,
    Draw::Finite,
    Draw::Narrow,
    Draw::Tiny,
    Draw::Huge,
    Draw::Sparse,
    Draw::Rare,
    Draw::Apart,
    Draw::Low,
    Draw::Sliding,
];

/// A small generator of repeatable numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A number of a format with `exp` exponent bits and `man` mantissa bits; `one` is the exponent field of 1.0.
    fn draw(&mut self, draw: Draw, i: usize, exp: u32, man: u32, one: u32) -> u32 {
        let ones = (1 << exp) - 1;
        let field = match draw {
            Draw::Any => self.below(ones + 1),
            Draw::Finite => self.below(ones),
            Draw::Narrow => (one + self.below(3)).saturating_sub(1).min(ones - 1),
            Draw::Tiny => self.below(3),
            Draw::Huge => ones - 1 - self.below(2),
            Draw::Sparse if self.below(20) != 0 => return self.below(2) << (exp + man),
            Draw::Sparse => self.below(ones),
            Draw::Rare if self.below(200) == 0 => ones,
            Draw::Rare => (one + self.below(6)).saturating_sub(3).min(ones - 1),
            Draw::Apart if self.below(2) == 0 => self.below(4),
            Draw::Apart => ones - 1 - self.below(4),
            Draw::Low => (one / 2 + self.below(16)).saturating_sub(8).min(ones - 1),
            Draw::Sliding => (i as u32 / 13 * 7 + self.below(12)) % ones,
        };
        self.below(2) << (exp + man) | field << man | self.below(1 << man)
    }

    fn fp8(&mut self, format: Format, draw: Draw, len: usize) -> Vec<u8> {
        let man = format.layout.mantissa_bits();
        let one = u32::from(format.bias).min((1 << (7 - man)) - 2);
        let code = |i| self.draw(draw, i, 7 - man, man, one) as u8;
        (0..len).map(code).collect()
    }

    fn bf16(&mut self, draw: Draw, len: usize) -> Vec<bf16> {
        (0..len).map(|i| bf16::from_bits(self.draw(draw, i, 8, 7, 127) as u16)).collect()
    }
}

/// Formats for A and B that the device multiplies, `None` for bfloat16.
fn formats() -> impl Strategy<Value = (Generation, Option<(Format, Format)>)> {
    let layout = || prop_oneof![Just(Layout::E4M3), Just(Layout::E5M2)];
    let mode = || prop_oneof![Just(InfNan::Full), Just(InfNan::None), Just(InfNan::Minimal)];
    // Biases at the ends come up as often as those between.
    let bias = || prop_oneof![Just(7u8), Just(15), Just(0), Just(63), 0..=63u8];
    let gaudi3 =
        (layout(), mode(), bias()).prop_map(|(layout, inf_nan, bias)| Format { layout, bias, inf_nan });
    let e4m3 = proptest::sample::select(vec![3u8, 7, 11, 15]);
    let gaudi2 = prop_oneof![
        (e4m3.clone(), e4m3).prop_map(|(a, b)| (Layout::E4M3, a, b)),
        Just((Layout::E5M2, 15, 15)),
    ]
    .prop_map(|(layout, a, b)| {
        let format = |bias| Format { layout, bias, inf_nan: InfNan::Full };
        (format(a), format(b))
    });
    prop_oneof![
        (gaudi3.clone(), gaudi3).prop_map(|pair| (Generation::Gaudi3, Some(pair))),
        gaudi2.prop_map(|pair| (Generation::Gaudi2, Some(pair))),
        Just((Generation::Gaudi3, None)),
        Just((Generation::Gaudi2, None)),
    ]
}

#[derive(Debug, Clone)]
struct Case {
    generation: Generation,
    formats: Option<(Format, Format)>,
    shape: [usize; 3],
    /// What is added to the width of each matrix to give its stride.
    gaps: [usize; 3],
    /// Elements before the first, which move its alignment.
    before: usize,
    /// Rows in a block of B.
    block: usize,
    by_column: bool,
    draws: [Draw; 2],
    /// Whether most products have a neighbour that cancels them.
    cancel: bool,
    seed: u64,
}

/// A stored operand: where it starts, its rows, columns and stride, and whether the common dimension runs along rows.
struct Stored {
    from: usize,
    rows: usize,
    cols: usize,
    stride: usize,
    along: bool,
}

impl Stored {
    /// Makes most elements with an odd place in the common dimension what `change` makes of the one before.
    fn pair_up<T: Copy>(&self, data: &mut [T], numbers: &mut Numbers, change: impl Fn(T) -> T) {
        for row in 0..self.rows {
            for col in 0..self.cols {
                let (place, back) = if self.along { (col, 1) } else { (row, self.stride) };
                if place % 2 == 1 && numbers.below(12) != 0 {
                    let at = self.from + row * self.stride + col;
                    data[at] = change(data[at - back]);
                }
            }
        }
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let draw = || proptest::sample::select(DRAWS.to_vec());
    let shape = (
        // Rarely more rows than one task takes.
        prop_oneof![40 => 1..12usize, 1 => 127..140usize],
        prop_oneof![Just(0usize), 1..20usize, 60..140usize],
        prop_oneof![1..10usize, 60..70usize, 60..200usize],
    );
    let layout = ([0..4usize, 0..4usize, 0..4usize], 0..5usize, 1..40usize, any::<bool>());
    (formats(), shape, layout, ([draw(), draw()], any::<bool>()), any::<u64>()).prop_map(
        |((generation, formats), (m, k, n), (gaps, before, block, by_column), (draws, cancel), seed)| Case {
            generation,
            formats,
            shape: [m, k, n],
            gaps,
            before,
            block,
            by_column,
            draws,
            cancel,
            seed,
        },
    )
}

/// Owned operands of a case.
enum Data {
    Fp8([Vec<u8>; 2]),
    Bf16([Vec<bf16>; 2]),
}

impl Case {
    fn data(&self) -> Data {
        let mut numbers = Numbers(self.seed);
        let [m, k, _] = self.shape;
        let (b_rows, b_cols) = self.stored();
        let sizes = [m * (k + self.gaps[0]) + self.before, b_rows * (b_cols + self.gaps[1]) + self.before];
        let mut data = match self.formats {
            Some((a, b)) => {
                Data::Fp8([numbers.fp8(a, self.draws[0], sizes[0]), numbers.fp8(b, self.draws[1], sizes[1])])
            }
            None => Data::Bf16([0, 1].map(|side| numbers.bf16(self.draws[side], sizes[side]))),
        };
        if self.cancel {
            let from = self.before;
            let a = Stored { from, rows: m, cols: k, stride: k + self.gaps[0], along: true };
            let stride = b_cols + self.gaps[1];
            let b = Stored { from, rows: b_rows, cols: b_cols, stride, along: self.by_column };
            match &mut data {
                Data::Fp8(data) => {
                    a.pair_up(&mut data[0], &mut numbers, |code| code);
                    b.pair_up(&mut data[1], &mut numbers, |code| code ^ 0x80);
                }
                Data::Bf16(data) => {
                    a.pair_up(&mut data[0], &mut numbers, |x| x);
                    b.pair_up(&mut data[1], &mut numbers, |x| -x);
                }
            }
        }
        data
    }

    /// Rows and columns of B as it is stored.
    fn stored(&self) -> (usize, usize) {
        let [_, k, n] = self.shape;
        if self.by_column { (n, k) } else { (k, n) }
    }

    fn matrix<'a>(&self, data: &'a Data, side: usize, skip: usize, rows: usize) -> Matrix<'a> {
        let cols = if side == 0 { self.shape[1] } else { self.stored().1 };
        let stride = cols + self.gaps[side];
        let from = self.before + skip * stride;
        let elements = match (data, self.formats) {
            (Data::Fp8(data), Some((a, b))) => {
                Elements::Fp8(&data[side][from..], if side == 0 { a } else { b })
            }
            (Data::Bf16(data), _) => Elements::Bf16(&data[side][from..]),
            _ => unreachable!(),
        };
        Matrix::strided(elements, rows, cols, stride).unwrap()
    }

    fn blocks<'a>(&self, data: &'a Data) -> Vec<Matrix<'a>> {
        let rows = self.stored().0;
        if rows == 0 {
            return vec![self.matrix(data, 1, 0, 0)];
        }
        let starts = (0..rows).step_by(self.block);
        starts.map(|start| self.matrix(data, 1, start, self.block.min(rows - start))).collect()
    }

    fn right<'a>(&self, blocks: &'a [Matrix<'a>]) -> Right<'a> {
        if self.by_column { Right::NByK(blocks) } else { Right::KByN(blocks) }
    }

    /// The destination after `run`, which leaves what is between its rows alone.
    fn result(&self, run: impl FnOnce(MatrixMut<'_>)) -> Vec<u32> {
        let [m, _, n] = self.shape;
        let stride = n + self.gaps[2];
        let mut out = vec![-123.0f32; m * stride];
        run(MatrixMut::strided(&mut out, m, n, stride).unwrap());
        for row in out.chunks(stride) {
            assert!(row[n..].iter().all(|gap| *gap == -123.0));
        }
        out.chunks(stride).flat_map(|row| row[..n].iter().map(|x| x.to_bits())).collect()
    }
}

/// 1500 cases, or as many as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        default
    } else {
        ProptestConfig { cases: 1500, ..default }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn kernels_equal_reference(case in cases()) {
        let data = case.data();
        let (a, blocks) = (case.matrix(&data, 0, 0, case.shape[0]), case.blocks(&data));
        let want: Vec<u32> =
            reference(case.generation, &a, &case.right(&blocks)).unwrap().iter().map(|x| x.to_bits()).collect();
        for isa in Isa::available() {
            let gemm = Gemm::with_isa(case.generation, isa).unwrap();
            let got = case.result(|out| gemm.exact(a, case.right(&blocks), out).unwrap());
            let wrong = (0..want.len()).find(|i| got[*i] != want[*i]);
            prop_assert!(
                wrong.is_none(),
                "{isa}: element {}: {:08x}, not {:08x}",
                wrong.unwrap(), got[wrong.unwrap()], want[wrong.unwrap()]
            );
        }
    }

    #[test]
    fn batches_and_threads_do_not_matter(cases in prop::collection::vec(cases(), 1..5), threads in 1..5usize) {
        let generation = cases[0].generation;
        let cases: Vec<_> = cases.into_iter().filter(|case| case.generation == generation).collect();
        let data: Vec<_> = cases.iter().map(Case::data).collect();
        let gemm = Gemm::new(generation);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let blocks: Vec<_> = cases.iter().zip(&data).map(|(case, data)| case.blocks(data)).collect();
        for exact in [true, false] {
            let mut outs: Vec<_> = cases.iter().map(|case| vec![0.0; case.shape[0] * case.shape[2]]).collect();
            let mut products: Vec<_> = (0..cases.len()).zip(&mut outs).map(|(i, out)| Product {
                a: cases[i].matrix(&data[i], 0, 0, cases[i].shape[0]),
                b: cases[i].right(&blocks[i]),
                out: MatrixMut::new(out, cases[i].shape[0], cases[i].shape[2]).unwrap(),
            }).collect();
            pool.install(|| if exact { gemm.exact_batch(&mut products) } else { gemm.fast_batch(&mut products) })
                .unwrap();
            for (i, case) in cases.iter().enumerate() {
                let (a, b) = (case.matrix(&data[i], 0, 0, case.shape[0]), case.right(&blocks[i]));
                let alone = case.result(|out| if exact { gemm.exact(a, b, out) } else { gemm.fast(a, b, out) }.unwrap());
                let bits: Vec<_> = outs[i].iter().map(|x| x.to_bits()).collect();
                prop_assert_eq!(&bits, &alone);
            }
        }
    }

    /// The error bound of the documentation, on finite operands whose sums stay in range.
    #[test]
    fn fast_is_close(case in cases()) {
        let case = Case { draws: [Draw::Narrow, Draw::Narrow], ..case };
        let data = case.data();
        let (a, blocks) = (case.matrix(&data, 0, 0, case.shape[0]), case.blocks(&data));
        for isa in Isa::available() {
            let gemm = Gemm::with_isa(case.generation, isa).unwrap();
            let got = case.result(|out| gemm.fast(a, case.right(&blocks), out).unwrap());
            for (i, got) in got.iter().enumerate() {
                let (exact, magnitude) = sum(&case, &data, i);
                let error = (f64::from(f32::from_bits(*got)) - exact).abs();
                let bound = case.shape[1] as f64 * 2f64.powi(-24) * magnitude * 1.01;
                prop_assert!(error <= bound + f64::from(f32::from_bits(1)), "{isa}: {error} > {bound}");
            }
        }
    }
}

/// The exact dot product of element `i` of the result, and the sum of the magnitudes.
fn sum(case: &Case, data: &Data, i: usize) -> (f64, f64) {
    let [_, k, n] = case.shape;
    let value = |side: usize, row: usize, col: usize| {
        let cols = if side == 0 { k } else { case.stored().1 };
        let at = case.before + row * (cols + case.gaps[side]) + col;
        f64::from(match (data, case.formats) {
            (Data::Fp8(data), Some((a, b))) => {
                f32::from_bits(if side == 0 { a } else { b }.decode_bits(data[side][at]))
            }
            (Data::Bf16(data), _) => f32::from(data[side][at]),
            _ => unreachable!(),
        })
    };
    let (m, n) = (i / n, i % n);
    let products =
        (0..k).map(|k| value(0, m, k) * if case.by_column { value(1, n, k) } else { value(1, k, n) });
    products.fold((0.0, 0.0), |(sum, magnitude), product| (sum + product, magnitude + product.abs()))
}

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

/// Worked out by hand from the rules.
#[test]
fn rules_by_hand() {
    use Generation::{Gaudi2, Gaudi3};
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
    // Specials.
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
    // FP8 groups: 16 products on Gaudi2 are one group, on Gaudi3 two. 240 * 240 and its negative hide 2^-18 where they
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
    let encoder = Encoder::kv_cache(Generation::Gaudi3);
    scaled_fp8(&[1.0 / 3.0, 2.0], [2, 1], rows.0, rows.1, encoder, &mut codes).unwrap();
    assert_eq!(codes, [0x4E; 2]);
    // Overflow saturates on the device's own range, and NaN has one code.
    for (generation, max) in [(Generation::Gaudi2, 0x77), (Generation::Gaudi3, 0x7E)] {
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
fn errors() {
    let codes = [0u8; 12];
    let fp8 = Elements::Fp8(&codes, E4M3);
    let numbers = [bf16::ZERO; 12];
    assert_eq!(
        Matrix::new(fp8, 3, 5).unwrap_err(),
        MmeError::Length { rows: 3, cols: 5, stride: 5, len: 12 }
    );
    assert_eq!(Matrix::strided(fp8, 2, 5, 4).unwrap_err(), MmeError::Stride { cols: 5, stride: 4 });
    assert_eq!(Matrix::strided(fp8, usize::MAX, 2, usize::MAX).unwrap_err(), MmeError::Overflow);
    assert!(Matrix::strided(fp8, 2, 5, 7).is_ok());
    assert!(Matrix::strided(fp8, 2, 5, 8).is_err());
    assert!(MatrixMut::strided(&mut [0.0; 4], 2, 2, 3).is_err());

    let a = Matrix::new(fp8, 2, 6).unwrap();
    let run = |generation, a: Matrix<'_>, b: Right<'_>, shape: [usize; 2]| {
        let mut data = [7.0; 64];
        let out = MatrixMut::new(&mut data, shape[0], shape[1]).unwrap();
        let result = Gemm::new(generation).exact(a, b, out);
        if result.is_err() {
            assert_eq!(data, [7.0; 64]);
        }
        result.unwrap_err()
    };
    let gaudi2 = Generation::Gaudi2;
    let square = [Matrix::new(fp8, 3, 4).unwrap()];
    assert_eq!(run(gaudi2, a, Right::KByN(&square), [2, 4]), MmeError::CommonDimension { a: 6, b: 3 });
    assert_eq!(run(gaudi2, a, Right::NByK(&square), [2, 3]), MmeError::CommonDimension { a: 6, b: 4 });
    assert_eq!(run(gaudi2, a, Right::KByN(&[]), [2, 0]), MmeError::CommonDimension { a: 6, b: 0 });
    let b = [Matrix::new(fp8, 6, 2).unwrap()];
    assert_eq!(
        run(gaudi2, a, Right::KByN(&b), [2, 3]),
        MmeError::Destination { rows: 2, cols: 2, out_rows: 2, out_cols: 3 }
    );
    let widths = [b[0], Matrix::new(fp8, 1, 3).unwrap()];
    assert_eq!(
        run(gaudi2, a, Right::KByN(&widths), [2, 2]),
        MmeError::BlockWidth { block: 1, cols: 3, expected: 2 }
    );
    let other = |format| Matrix::new(Elements::Fp8(&codes, format), 3, 2).unwrap();
    let half = other(E4M3);
    assert_eq!(run(gaudi2, a, Right::KByN(&[half, other(E5M2)]), [2, 2]), MmeError::BlockType { block: 1 });
    let words = [Matrix::new(Elements::Bf16(&numbers), 6, 2).unwrap()];
    assert_eq!(run(gaudi2, a, Right::KByN(&words), [2, 2]), MmeError::MixedTypes);
    let flavour = [Matrix::new(Elements::Fp8(&codes, E5M2), 6, 2).unwrap()];
    assert_eq!(
        run(gaudi2, a, Right::KByN(&flavour), [2, 2]),
        MmeError::MixedFlavours { generation: gaudi2, a: E4M3, b: E5M2 }
    );
    let mut out = [0.0; 4];
    let result = MatrixMut::new(&mut out, 2, 2).unwrap();
    Gemm::new(Generation::Gaudi3).exact(a, Right::KByN(&flavour), result).unwrap();
    for (generation, format) in [
        (gaudi2, Format { inf_nan: InfNan::Minimal, ..E4M3 }),
        (gaudi2, Format { bias: 8, ..E4M3 }),
        (gaudi2, Format { bias: 14, ..E5M2 }),
        (gaudi2, Format { bias: 16, ..E5M2 }),
        (Generation::Gaudi3, Format { bias: 64, ..E4M3 }),
        (Generation::Gaudi3, Format { bias: 255, ..E4M3 }),
    ] {
        let b = [Matrix::new(Elements::Fp8(&codes, format), 6, 2).unwrap()];
        assert_eq!(run(generation, a, Right::KByN(&b), [2, 2]), MmeError::Format { generation, format });
    }
    let lengths = (Elements::Fp8(&codes[..3], E4M3), Elements::Fp8(&codes[..2], E4M3));
    assert_eq!(dot(gaudi2, lengths.0, lengths.1).unwrap_err(), MmeError::CommonDimension { a: 3, b: 2 });
    let mut narrow = [bf16::ZERO; 4];
    let scales = scaled_bf16(&[0.0; 4], [2, 2], &[1.0; 3], &[1.0], &mut narrow);
    assert_eq!(scales.unwrap_err(), MmeError::Scales { dimension: "rows", scales: 3, expected: 2 });
    let short = scaled_bf16(&[0.0; 3], [2, 2], &[1.0], &[1.0], &mut narrow);
    assert_eq!(short.unwrap_err(), MmeError::Length { rows: 2, cols: 2, stride: 2, len: 3 });
}
