//! What the library costs over the product itself: 128 x 576 x 4096, launched and awaited, against a direct call.
//!
//! `cargo bench -p synapse-emu --bench gemm`. Both are measured in turn, so that a busy machine slows both alike; the
//! medians and their ratio are printed.

#![allow(unsafe_code, reason = "calls of C functions")]
#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]
#![allow(dead_code, reason = "the tests use all of their helpers, this one a part")]

#[path = "../tests/api/fixture.rs"]
mod fixture;
#[path = "../tests/api/syn.rs"]
mod syn;

use std::hint::black_box;
use std::time::{Duration, Instant};

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Format, InfNan, Layout};
use gaudi_numerics::mme::{Elements, Gemm, Matrix, MatrixMut, Right};
use habana_sys::synDataType;
use half::bf16;

use fixture::{BF16, Card, F32, Graph};

const M: usize = 128;
const K: usize = 576;
const N: usize = 4096;
const ROUNDS: usize = 31;
/// What the library may cost, as a multiple of the direct call.
const LIMIT: f64 = 1.2;

const FORMAT: Format = Format { layout: Layout::E4M3, bias: 7, inf_nan: InfNan::Full };

/// An operand as both ways take it.
enum Operand {
    /// Codes of all finite values.
    Fp8(Vec<u8>),
    /// Numbers from -1 to 1.
    Bf16(Vec<bf16>),
}

impl Operand {
    fn new(dtype: synDataType, seed: u64, len: usize) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        if dtype == BF16 {
            Self::Bf16((0..len).map(|_| bf16::from_f32(next() as f32 / (1 << 30) as f32 - 1.0)).collect())
        } else {
            Self::Fp8((0..len).map(|_| (next() % 0x78) as u8 | (next() as u8 & 0x80)).collect())
        }
    }

    fn elements(&self) -> Elements<'_> {
        match self {
            Self::Fp8(codes) => Elements::Fp8(codes, FORMAT),
            Self::Bf16(numbers) => Elements::Bf16(numbers),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Fp8(codes) => codes,
            Self::Bf16(numbers) => bytemuck::cast_slice(numbers),
        }
    }
}

fn direct(gemm: &Gemm, a: &Operand, b: &Operand, out: &mut [f32]) {
    let stored = [Matrix::new(b.elements(), K, N).unwrap()];
    let (a, out) = (Matrix::new(a.elements(), M, K).unwrap(), MatrixMut::new(out, M, N).unwrap());
    gemm.exact(a, Right::KByN(&stored), out).unwrap();
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn measure(card: &Card<'_>, name: &str, dtype: synDataType) -> f64 {
    let (m, k, n) = (M as u64, K as u64, N as u64);
    let graph = Graph::new(card.table);
    let (a, b) = (graph.persistent("a", dtype, &[k, m]), graph.persistent("b", dtype, &[n, k]));
    let out = graph.persistent("out", F32, &[n, m]);
    graph.node("gemm", &[a, b], &[out], &[0; 2]);
    let recipe = graph.compile();
    let (a, b) = (Operand::new(dtype, 1, M * K), Operand::new(dtype, 2, K * N));
    let (at_a, at_b, at_out) = (card.upload(a.bytes()), card.upload(b.bytes()), card.malloc(m * n * 4));
    let tensors: [(&str, u64, &[u64]); 3] =
        [("a", at_a, &[k, m]), ("b", at_b, &[n, k]), ("out", at_out, &[n, m])];
    let gemm = Gemm::new(Generation::Gaudi2);
    let mut product = vec![0.0; M * N];
    let (mut own, mut library) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        direct(&gemm, black_box(&a), black_box(&b), black_box(&mut product));
        own.push(start.elapsed());
        let start = Instant::now();
        card.launch(recipe, &tensors);
        library.push(start.elapsed());
    }
    assert_eq!(card.download(at_out, m * n * 4), fixture::bytes_of(&product), "the same bits");
    let (own, library) = (median(own), median(library));
    let ratio = library.as_secs_f64() / own.as_secs_f64();
    println!("{name} {M} x {K} x {N}: direct {own:.2?}, library {library:.2?}, ratio {ratio:.3}");
    ratio
}

fn main() {
    let library = syn::load();
    ok!(library, synInitialize());
    let card = Card::new(&library);
    let ratios = [measure(&card, "fp8", synDataType::syn_type_fp8_143), measure(&card, "bf16", BF16)];
    ok!(library, synDestroy());
    assert!(ratios.iter().all(|&ratio| ratio <= LIMIT), "more than {LIMIT} times the direct call");
}
