//! Every kernel against the scalar reference, on random and hostile operands of any shape, stride and cut.
#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Format, InfNan, Isa, Layout};
use gaudi_numerics::mme::{Elements, Gemm, Matrix, MatrixMut, Product, Right, reference};
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
