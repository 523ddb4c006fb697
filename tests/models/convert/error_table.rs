//! What the factors cost, for the table in `docs/convert.md`.

use std::fmt::Write;

use gaudi_kv::Generation;
use gaudi_kv::fp8::{Format, Rerange};

use crate::convert::oracle::value;

const WEIGHTS: usize = 1 << 20;

/// Standard normal numbers from a fixed seed, by Box and Muller.
fn normal(count: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    (0..count).map(|_| (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()).collect()
}

/// The nearest e4m3 code up to 448.
fn quantize(x: f64) -> u8 {
    let (mut low, mut high) = (0u8, 0x7E);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if value(middle) <= x.abs() { low = middle } else { high = middle }
    }
    let nearest = if x.abs() - value(low) > value(high) - x.abs() { high } else { low };
    nearest | if x < 0.0 { 0x80 } else { 0 }
}

/// Rows of normal weights, one scale a row, as a table of error against the weights and against the source.
fn table() -> String {
    let fn240 = Format::kv_cache(Generation::Gaudi2);
    let mut out = "| weights | factor | inexact codes | became zero | relative L2 error added | error of the source | error of the result |\n\
                   | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let normal = normal(WEIGHTS);
    for (name, row, outlier) in [
        ("4096 a scale", 4096, 1.0),
        ("128 a scale", 128, 1.0),
        ("4096 a scale, one 50 times as large", 4096, 50.0),
    ] {
        let weights: Vec<f64> =
            normal.iter().enumerate().map(|(i, x)| if i % row == 0 { x * outlier } else { *x }).collect();
        for (factor, times, rerange) in [
            ("0.5", 0.5, Rerange::halve_for_gaudi2()),
            ("240/448", 240.0 / 448.0, Rerange::new(Format::E4M3FN, fn240, 240.0 / 448.0).unwrap()),
        ] {
            let (mut inexact, mut flushed, mut added, mut before, mut after, mut norm, mut source_norm) =
                (0, 0, 0.0, 0.0, 0.0, 0.0, 0.0);
            for weights in weights.chunks(row) {
                let scale = weights.iter().fold(0f64, |max, x| max.max(x.abs())) / 448.0;
                let codes: Vec<u8> = weights.iter().map(|x| quantize(x / scale)).collect();
                let mut new = codes.clone();
                let counts = rerange.apply(&mut new);
                inexact += counts.rounded + counts.flushed + counts.saturated;
                flushed += counts.flushed;
                for ((x, old), new) in weights.iter().zip(&codes).zip(&new) {
                    let [old, new] = [value(*old) * scale, value(*new) * scale / times];
                    added += (new - old).powi(2);
                    before += (old - x).powi(2);
                    after += (new - x).powi(2);
                    norm += x * x;
                    source_norm += old * old;
                }
            }
            let share = |count: u64| format!("{:.4} %", count as f64 * 100.0 / WEIGHTS as f64);
            let error = |sum: f64, norm: f64| format!("{:.4} %", (sum / norm).sqrt() * 100.0);
            writeln!(
                out,
                "| {name} | {factor} | {} | {} | {} | {} | {} |",
                share(inexact),
                share(flushed),
                error(added, source_norm),
                error(before, norm),
                error(after, norm)
            )
            .unwrap();
        }
    }
    out
}

/// `cargo test --test models error_table -- --nocapture` prints it.
#[test]
fn docs_have_the_error_table() {
    let table = table();
    println!("{table}");
    assert!(include_str!("../../../docs/convert.md").contains(&table), "docs/convert.md lacks:\n{table}");
}
