//! Products of the shape of the MLA latent: 128 x 576 x 4096, and those of a decode. Rates are multiply-adds.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p gaudi-numerics --bench mme` measures one core. The float products of two crates are measured in the
//! same run: `float` has those, `fast` and `exact` ours.

#![allow(unsafe_code, reason = "the float products of other crates take pointers")]
#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Format, InfNan, Layout};
use gaudi_numerics::mme::{Elements, Gemm, Matrix, MatrixMut, Right};
use half::bf16;

/// A small generator of repeatable numbers, roughly normal.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.next() as f32 / (1u64 << 31) as f32).sum::<f32>() - 6.0
    }
}

/// The e4m3 code nearest to `x`, for any bench-sized `x`.
fn encode(format: Format, x: f32) -> u8 {
    let codes = 0..=0x77u8;
    let nearest = codes.min_by(|a, b| {
        let error = |code: u8| (f32::from_bits(format.decode_bits(code)) - x.abs()).abs();
        error(*a).total_cmp(&error(*b))
    });
    nearest.unwrap_or(0) | if x < 0.0 { 0x80 } else { 0 }
}

/// Normal numbers that fill the range of the format, as quantized activations do.
fn normal_codes(format: Format, seed: u64, len: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let table: Vec<u8> = (0..4096).map(|_| encode(format, numbers.normal() * 60.0)).collect();
    (0..len).map(|_| table[numbers.next() as usize % 4096]).collect()
}

/// Every finite code alike: the widest spread of exponents.
fn uniform_codes(seed: u64, len: usize) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    (0..len).map(|_| (numbers.next() % 0x78) as u8 | (numbers.next() as u8 & 0x80)).collect()
}

fn format(generation: Generation) -> Format {
    let inf_nan = if generation == Generation::Gaudi2 { InfNan::Full } else { InfNan::Minimal };
    Format { layout: Layout::E4M3, bias: 7, inf_nan }
}

/// A product with B stored one way or the other.
struct Run<'a> {
    gemm: &'a Gemm,
    exact: bool,
    shape: [usize; 3],
    by_column: bool,
}

impl Run<'_> {
    fn run(&self, a: Elements<'_>, b: Elements<'_>, out: &mut [f32]) {
        let [m, k, n] = self.shape;
        let a = Matrix::new(black_box(a), m, k).unwrap();
        let out = MatrixMut::new(out, m, n).unwrap();
        let stored = [if self.by_column { Matrix::new(b, n, k) } else { Matrix::new(b, k, n) }.unwrap()];
        let b = if self.by_column { Right::NByK(&stored) } else { Right::KByN(&stored) };
        if self.exact { self.gemm.exact(a, b, out) } else { self.gemm.fast(a, b, out) }.unwrap();
    }
}

const LAYOUTS: [(&str, bool); 2] = [("KxN", false), ("NxK", true)];

fn products(c: &mut Criterion) {
    let shapes =
        [[128, 576, 4096], [16, 576, 4096], [8, 128, 4096], [4, 128, 4096], [1, 128, 4096], [8, 4096, 128]];
    for shape in shapes {
        let [m, k, n] = shape;
        let mut out = vec![0.0; m * n];
        let mut numbers = Numbers(3);
        let mut values = |len| -> Vec<bf16> { (0..len).map(|_| bf16::from_f32(numbers.normal())).collect() };
        let (a_bf16, b_bf16) = (values(m * k), values(k * n));
        let mut bench = |name: &str, kinds: &[(&str, Gemm, bool)]| {
            let mut group = c.benchmark_group(format!("{name}/{m}x{k}x{n}"));
            group.throughput(Throughput::Elements((m * k * n) as u64)).sample_size(20);
            for (kind, gemm, exact) in kinds {
                let format = format(gemm.generation());
                for (draw, a, b) in [
                    ("normal", normal_codes(format, 1, m * k), normal_codes(format, 2, k * n)),
                    ("uniform", uniform_codes(1, m * k), uniform_codes(2, k * n)),
                ] {
                    for (layout, by_column) in LAYOUTS {
                        let run = Run { gemm, exact: *exact, shape, by_column };
                        group.bench_function(format!("{kind} fp8 {draw} {layout}"), |bencher| {
                            let (a, b) = (Elements::Fp8(&a, format), Elements::Fp8(&b, format));
                            bencher.iter(|| run.run(a, b, &mut out));
                        });
                    }
                }
                for (layout, by_column) in LAYOUTS {
                    let run = Run { gemm, exact: *exact, shape, by_column };
                    group.bench_function(format!("{kind} bf16 {layout}"), |bencher| {
                        bencher.iter(|| run.run(Elements::Bf16(&a_bf16), Elements::Bf16(&b_bf16), &mut out));
                    });
                }
            }
            group.finish();
        };
        let [gaudi2, gaudi3] = Generation::ALL.map(Gemm::new);
        bench("fast", &[("fast", gaudi3, false)]);
        bench("exact", &[("gaudi3", gaudi3, true), ("gaudi2", gaudi2, true)]);
    }
}

/// The float products that the others are measured against.
fn float(c: &mut Criterion) {
    for [m, k, n] in [[128, 576, 4096], [16, 576, 4096], [8, 128, 4096]] {
        let mut group = c.benchmark_group(format!("float/{m}x{k}x{n}"));
        group.throughput(Throughput::Elements((m * k * n) as u64)).sample_size(20);
        let mut numbers = Numbers(4);
        let a: Vec<f32> = (0..m * k).map(|_| numbers.normal()).collect();
        let b: Vec<f32> = (0..k * n).map(|_| numbers.normal()).collect();
        let mut out = vec![0.0f32; m * n];
        for (layout, row, column) in [("KxN", n, 1), ("NxK", 1, k)] {
            group.bench_function(BenchmarkId::new("gemm", layout), |bencher| {
                // SAFETY: the pointers and strides are those of m x k, k x n and m x n floats that live here, and the
                // destination overlaps neither operand.
                bencher.iter(|| unsafe {
                    gemm::gemm(
                        m,
                        n,
                        k,
                        out.as_mut_ptr(),
                        1,
                        n as isize,
                        false,
                        black_box(&a).as_ptr(),
                        1,
                        k as isize,
                        b.as_ptr(),
                        column as isize,
                        row as isize,
                        0.0,
                        1.0,
                        false,
                        false,
                        false,
                        gemm::Parallelism::Rayon(0),
                    );
                });
            });
            group.bench_function(BenchmarkId::new("matrixmultiply", layout), |bencher| {
                // SAFETY: `a`, `b` and `out` hold `m * k`, `k * n` and `m * n` floats, which the strides given here stay within,
                // and nothing else uses `out` meanwhile.
                bencher.iter(|| unsafe {
                    matrixmultiply::sgemm(
                        m,
                        k,
                        n,
                        1.0,
                        black_box(&a).as_ptr(),
                        k as isize,
                        1,
                        b.as_ptr(),
                        row as isize,
                        column as isize,
                        0.0,
                        out.as_mut_ptr(),
                        n as isize,
                        1,
                    );
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, float, products);
criterion_main!(benches);
