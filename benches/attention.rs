//! Decode rates, as ratios to what else runs on the same machine: torch's attention and vLLM's CPU MLA kernel (where
//! `GAUDI_KV_PYTHON` names a Python that has them), the exact matrix product, and memcpy.
//!
//! `cargo bench --bench attention` prints a table; `-- gqa mla exact write` picks parts, `--seconds N` is how long each
//! call is repeated. The fastest call counts, on both sides.

#![allow(clippy::unwrap_used, reason = "a benchmark ends where something is not as it should be")]

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use gaudi_kv::device::emulated::{Emulated, EmulatedPlane, Mode};
use gaudi_kv::device::{
    AttentionProblem, AttentionWorkspace, Device, Fp8Products, HeadScales, KeysAndValues, MhaShape,
    Modifiers, Plane, PlaneLayout, PlanePair, QueryScale, SequenceSpan, StorageDtype,
};
use gaudi_kv::fp8::{Encoder, Format};
use gaudi_kv::mme::{Elements, Gemm, Matrix, MatrixMut, Product, Right};
use gaudi_kv::{Generation, ScaleFactors};
use half::bf16;

const ONE: HeadScales = HeadScales::One(1.0);
const GENERATION: Generation = Generation::Gaudi2;

/// Repeatable normal numbers.
fn normal(seed: u64, len: usize) -> Vec<bf16> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let table: Vec<bf16> = (0..1 << 14)
        .map(|_| bf16::from_f32((0..12).map(|_| next() as f32 / (1u64 << 31) as f32).sum::<f32>() - 6.0))
        .collect();
    (0..len).map(|_| table[next() as usize % table.len()]).collect()
}

/// The fastest of as many calls as fit, at least five.
fn fastest(seconds: f64, mut call: impl FnMut()) -> f64 {
    call();
    let (end, mut best, mut calls) = (Instant::now() + Duration::from_secs_f64(seconds), f64::INFINITY, 0);
    while calls < 5 || Instant::now() < end {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_secs_f64());
        calls += 1;
    }
    best
}

/// A decode of one token for each of some sequences of equal length.
struct Shape {
    sequences: usize,
    tokens: usize,
    heads: usize,
    kv_heads: usize,
    dim: usize,
    /// Elements of a value that lies in the prefix of the key; `None` for values of their own.
    prefix: Option<usize>,
}

impl Shape {
    fn gqa() -> Self {
        Self { sequences: 8, tokens: 16384, heads: 32, kv_heads: 8, dim: 128, prefix: None }
    }

    fn mla(heads: usize) -> Self {
        Self { sequences: 8, tokens: 4096, heads, kv_heads: 1, dim: 576, prefix: Some(512) }
    }

    /// Multiply-adds.
    fn products(&self) -> f64 {
        let columns = self.dim + self.prefix.unwrap_or(self.dim);
        (self.sequences * self.tokens * self.heads * columns) as f64
    }

    /// Elements of the planes that are read.
    fn bytes(&self) -> f64 {
        let planes = if self.prefix.is_some() { 1 } else { 2 };
        (planes * self.sequences * self.tokens * self.kv_heads * self.dim) as f64
    }

    fn plane(&self, device: &Emulated, dtype: StorageDtype, seed: u64) -> EmulatedPlane {
        let layout = PlaneLayout {
            num_blocks: self.sequences * self.tokens / 128,
            has_pad_block: true,
            block_size_tokens: 128,
            heads: self.kv_heads,
            dim: self.dim,
            dtype,
        };
        let mut plane = device.allocate(&layout).unwrap();
        let rows = normal(seed, 4096 * layout.row());
        for first in (0..layout.pad_slot()).step_by(4096) {
            let slots: Vec<usize> = (first..(first + 4096).min(layout.pad_slot())).collect();
            device.write(&mut plane, &rows[..slots.len() * layout.row()], &slots, &ONE).unwrap();
        }
        plane
    }

    /// Seconds of a decode.
    fn time(&self, mode: Mode, dtype: StorageDtype, seconds: f64) -> f64 {
        let device = Emulated::new(GENERATION, mode);
        let key = self.plane(&device, dtype, 1);
        let value = self.prefix.is_none().then(|| self.plane(&device, dtype, 2));
        let blocks = self.tokens / 128;
        let tables: Vec<usize> =
            (0..self.sequences).flat_map(|s| (0..blocks).map(move |b| b * self.sequences + s)).collect();
        let sequences: Vec<SequenceSpan> = (0..self.sequences)
            .map(|s| SequenceSpan {
                first_token: s,
                tokens: 1,
                len: self.tokens,
                first_block: s * blocks,
                first_row: 0,
            })
            .collect();
        let q = normal(3, self.sequences * self.heads * self.dim);
        let v_head_dim = self.prefix.unwrap_or(self.dim);
        let problem = AttentionProblem {
            q: &q,
            shape: MhaShape {
                num_heads: self.heads,
                num_kv_heads: self.kv_heads,
                head_dim: self.dim,
                v_head_dim,
            },
            operands: KeysAndValues::Planes(PlanePair {
                key: &key,
                value: value.as_ref().unwrap_or(&key),
                blocks: &tables,
            }),
            key_factors: &ScaleFactors::ONE,
            value_factors: &ScaleFactors::ONE,
            fp8: (dtype == StorageDtype::Fp8).then_some(Fp8Products {
                query_scale: &QueryScale::Dynamic,
                prob: ScaleFactors::from_quant(1.0),
            }),
            modifiers: Modifiers {
                softmax_scale: (self.dim as f32).sqrt().recip(),
                logits_soft_cap: None,
                alibi_slopes: None,
                sliding_window: None,
                sinks: None,
            },
            sequences: &sequences,
        };
        let mut out = vec![0.0; self.sequences * self.heads * v_head_dim];
        let mut workspace = AttentionWorkspace::default();
        fastest(seconds, || device.attend(black_box(&problem), &mut workspace, &mut out).unwrap())
    }
}

/// The blocks of each sequence and head.
fn blocks<'a>(shape: &Shape, layout: &PlaneLayout, codes: &'a [u8], cols: usize) -> Vec<Vec<Matrix<'a>>> {
    let format = Format::kv_cache(GENERATION);
    let each = (0..shape.sequences).flat_map(|s| (0..shape.kv_heads).map(move |head| (s, head)));
    each.map(|(s, head)| {
        let starts = (0..shape.tokens / 128)
            .map(|b| (b * shape.sequences + s) * 128 * layout.row() + head * shape.dim);
        let block = |start| Matrix::strided(Elements::Fp8(&codes[start..], format), 128, cols, layout.row());
        starts.map(|start| block(start).unwrap()).collect()
    })
    .collect()
}

/// Seconds of the exact products of a decode alone, over the same cache: all of the first kind in one batch, then all of
/// the second, with probabilities of scores of standard deviation 1.
fn exact_products(shape: &Shape, seconds: f64) -> f64 {
    let device = Emulated::new(GENERATION, Mode::Exact);
    let (m, k, n) = (shape.heads / shape.kv_heads, shape.dim, shape.tokens);
    let columns = shape.prefix.unwrap_or(k);
    let encoder = Encoder::kv_cache(GENERATION);
    let codes = |values: Vec<bf16>| {
        let mut codes = vec![0; values.len()];
        encoder.encode_bf16(&values, &mut codes).unwrap();
        codes
    };
    let format = encoder.format;
    let stored = |seed| {
        let plane = shape.plane(&device, StorageDtype::Fp8, seed);
        let layout = *plane.layout();
        let blocks = 0..layout.blocks();
        let codes = blocks.flat_map(|block| device.export_block(&plane, block).unwrap()).collect();
        (layout, codes)
    };
    let (layout, key): (PlaneLayout, Vec<u8>) = stored(1);
    let value = shape.prefix.is_none().then(|| stored(2).1);
    let value = value.as_ref().unwrap_or(&key);
    let q = codes(normal(1, m * k));
    let prob = codes(normal(3, m * n).iter().map(|x| bf16::from_f32((x.to_f32() - 4.0).exp())).collect());
    let (keys, values) = (blocks(shape, &layout, &key, k), blocks(shape, &layout, value, columns));
    let gemm = Gemm::new(GENERATION);
    let matrix = |codes, rows, cols| Matrix::new(Elements::Fp8(codes, format), rows, cols).unwrap();
    let run = |a: Matrix<'_>, b: &[Vec<Matrix<'_>>], by_k: bool, out: &mut [f32], cols: usize| {
        let mut products: Vec<Product<'_>> = b
            .iter()
            .zip(out.chunks_exact_mut(m * cols))
            .map(|(blocks, out)| Product {
                a,
                b: if by_k { Right::NByK(blocks) } else { Right::KByN(blocks) },
                out: MatrixMut::new(out, m, cols).unwrap(),
            })
            .collect();
        gemm.exact_batch(&mut products).unwrap();
    };
    let mut out = vec![0.0; keys.len() * m * n.max(columns)];
    let first = fastest(seconds, || run(matrix(black_box(&q), m, k), &keys, true, &mut out, n));
    let second = fastest(seconds, || run(matrix(black_box(&prob), m, n), &values, false, &mut out, columns));
    first + second
}

/// What the Python side measured, by path of keys.
fn python(seconds: f64) -> Option<serde_json::Value> {
    let program = std::env::var_os("GAUDI_KV_PYTHON")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/bench_attention.py");
    let threads = rayon::current_num_threads().to_string();
    let mut command = Command::new(program);
    command.args([script, "--threads", &threads, "--seconds", &seconds.to_string()]);
    let output = command.env("OMP_NUM_THREADS", &threads).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last()?).ok()
}

fn row(what: &str, ours: &str, theirs: &str, ratio: Option<(f64, Option<f64>)>) {
    let goal = |goal: Option<f64>| goal.map_or(String::new(), |goal| format!(" (goal {goal})"));
    let ratio = ratio.map_or("-".to_owned(), |(ratio, of)| format!("{ratio:.2}{}", goal(of)));
    println!("{what:<35} {ours:<40} {theirs:<40} {ratio}");
}

/// What else does the same, and in how many seconds.
type Theirs = Option<(String, f64)>;

fn decode_row(
    what: &str,
    shape: &Shape,
    dtype: StorageDtype,
    seconds: f64,
    theirs: &Theirs,
    goal: Option<f64>,
) {
    let time = shape.time(Mode::Fast, dtype, seconds);
    let ours = format!(
        "{:.1} ms, {:.0} GFLOP/s, {:.1} GB/s",
        1e3 * time,
        2.0 * shape.products() / time / 1e9,
        shape.bytes() * dtype.bytes() as f64 / time / 1e9
    );
    let text = theirs.as_ref().map_or("-".to_owned(), |(name, t)| format!("{name}: {:.1} ms", 1e3 * t));
    row(what, &ours, &text, theirs.as_ref().map(|(_, theirs)| (theirs / time, goal)));
}

fn write_rows(seconds: f64) {
    let device = Emulated::new(GENERATION, Mode::Fast);
    let tokens = 8192;
    let layout = PlaneLayout {
        num_blocks: tokens / 128,
        has_pad_block: true,
        block_size_tokens: 128,
        heads: 8,
        dim: 128,
        dtype: StorageDtype::Fp8,
    };
    let mut plane = device.allocate(&layout).unwrap();
    let rows = normal(1, tokens * layout.row());
    let mut copy = rows.clone();
    let slots: Vec<usize> = (0..tokens).collect();
    // Tokens here and there, as a decode of many sequences writes.
    let scattered: Vec<usize> = (0..tokens).map(|i| i * 1021 % tokens).collect();
    let per_head = HeadScales::PerHead(vec![2.0; 8]);
    let memcpy = fastest(seconds, || copy.copy_from_slice(black_box(&rows)));
    let row_by_row = fastest(seconds, || {
        for (row, slot) in black_box(&rows).chunks_exact(layout.row()).zip(&scattered) {
            copy[slot * layout.row()..][..layout.row()].copy_from_slice(row);
        }
    });
    let gb = |time: f64| size_of_val(&*rows) as f64 / time / 1e9;
    for (what, slots, scale, memcpy) in [
        ("cache write", &slots, &ONE, memcpy),
        ("cache write, scale by head", &slots, &per_head, memcpy),
        ("cache write, scattered", &scattered, &ONE, row_by_row),
    ] {
        let time = fastest(seconds, || device.write(&mut plane, black_box(&rows), slots, scale).unwrap());
        row(
            what,
            &format!("{:.1} GB/s of bfloat16", gb(time)),
            &format!("memcpy: {:.1} GB/s", gb(memcpy)),
            Some((memcpy / time, Some(0.5))),
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.iter().position(|a| a == "--seconds").and_then(|i| args.get(i + 1)?.parse().ok());
    let seconds: f64 = seconds.unwrap_or(2.0);
    let parts: Vec<&str> =
        args.iter().map(String::as_str).filter(|a| ["gqa", "mla", "exact", "write"].contains(a)).collect();
    let runs = |part: &str| parts.is_empty() || parts.contains(&part);
    let theirs = if runs("gqa") || runs("mla") { python(seconds) } else { None };
    println!("{} threads", rayon::current_num_threads());
    row("", "gaudi-kv", "compared with", None);
    if runs("gqa") {
        let sdpa = theirs.as_ref().and_then(|t| t["gqa"].as_object());
        let sdpa = sdpa.and_then(|all| {
            let times = all.iter().filter_map(|(name, t)| Some((name.clone(), t.as_f64()?)));
            times.min_by(|a, b| a.1.total_cmp(&b.1))
        });
        let what = "GQA 8 x 16384, 32/8 heads of 128";
        decode_row(what, &Shape::gqa(), StorageDtype::Fp8, seconds, &sdpa, Some(2.0));
        decode_row("  bf16 cache", &Shape::gqa(), StorageDtype::Bf16, seconds, &sdpa, None);
        let one = Shape { sequences: 1, ..Shape::gqa() };
        decode_row("  1 sequence", &one, StorageDtype::Fp8, seconds, &None, None);
    }
    if runs("mla") {
        for heads in [16, 128] {
            let kernel = theirs.as_ref().and_then(|t| t["mla"][heads.to_string()].as_f64());
            let kernel = kernel.map(|time| ("vLLM CPU MLA".to_owned(), time));
            let (shape, what) = (Shape::mla(heads), format!("MLA 8 x 4096, {heads} heads"));
            decode_row(&what, &shape, StorageDtype::Fp8, seconds, &kernel, Some(3.0));
            decode_row("  bf16 cache", &shape, StorageDtype::Bf16, seconds, &kernel, None);
            let one = Shape { sequences: 1, ..Shape::mla(heads) };
            decode_row("  1 sequence", &one, StorageDtype::Fp8, seconds, &None, None);
        }
    }
    if runs("exact") {
        for (what, shape) in [
            ("exact GQA 2 x 4096", Shape { sequences: 2, tokens: 4096, ..Shape::gqa() }),
            ("exact MLA 2 x 4096, 16 heads", Shape { sequences: 2, ..Shape::mla(16) }),
            ("exact MLA 2 x 4096, 128 heads", Shape { sequences: 2, ..Shape::mla(128) }),
        ] {
            let time = shape.time(Mode::Exact, StorageDtype::Fp8, seconds);
            let products = exact_products(&shape, seconds);
            let rate = |time: f64| format!("{:.1} ms, {:.1} G/s", 1e3 * time, shape.products() / time / 1e9);
            let theirs = format!("its exact products: {}", rate(products));
            row(what, &rate(time), &theirs, Some((products / time, Some(0.7))));
        }
    }
    if runs("write") {
        write_rows(seconds);
    }
}
