//! Compares attention over a bfloat16 cache with torch's `scaled_dot_product_attention` and with vLLM's MLA decode
//! kernel for CPUs.
//!
//! Needs a Python with torch, and one with vLLM for its kernel: `python3`, or the interpreter that `GAUDI_KV_PYTHON`
//! names. What is missing is reported, and its comparison as ignored.

#![allow(dead_code, reason = "the caches tests use all of their helpers, this one a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "caches/cases.rs"]
mod cases;
#[path = "caches/float64.rs"]
mod float64;
#[path = "caches/latents.rs"]
mod latents;
#[path = "caches/model.rs"]
mod model;
#[path = "caches/numbers.rs"]
mod numbers;

use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};

use gaudi_kv::Generation;
use gaudi_kv::attention::MlaShape;
use gaudi_kv::device::StorageDtype;
use gaudi_kv::device::emulated::Mode;
use half::bf16;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde_json::{Value, json};

use cases::{Mha, references};
use float64::{Reference, relative_l2};
use latents::Mla;
use numbers::Random;

/// What the script ends with where a package is missing.
const UNAVAILABLE: i32 = 77;

/// Largest relative error of a whole result, for two implementations that round at different places.
const CLOSE: f64 = 0.008;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let trial = |name: &str, kind: &'static str, compare: fn() -> (Value, Vec<Ours>)| {
        let run = move || {
            let (cases, ours) = compare();
            match ask(kind, &cases)? {
                Ok(answers) => check(&answers, &ours),
                Err(reason) => Ok(Completion::ignored_with(reason)),
            }
        };
        // A runner that lists the tests before it runs them learns here that this one cannot run.
        let is_ignored = args.list && !probe(kind);
        Trial::ignorable_test(name, run).with_ignored_flag(is_ignored)
    };
    let tests = vec![
        trial("torch_scaled_dot_product_attention", "sdpa", sdpa_cases),
        trial("vllm_mla_decode_kernel", "mla", mla_cases),
    ];
    libtest_mimic::run(&args, tests).exit_code()
}

/// What this library gives for a case, and float64 with the bound.
struct Ours {
    name: String,
    out: Vec<f32>,
    reference: Reference,
}

fn script(kind: &str) -> Command {
    let python = env::var("GAUDI_KV_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/attention_reference.py")).arg(kind);
    command
}

fn probe(kind: &str) -> bool {
    script(kind).arg("--probe").output().is_ok_and(|output| output.status.success())
}

/// The answers of the script, or why it has none.
fn ask(kind: &str, cases: &Value) -> Result<Result<Vec<Vec<f32>>, String>, Failed> {
    let child = script(kind).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ok(Err(format!("no Python: {error}"))),
    };
    // A script that cannot run does not read; its exit code says so.
    let _ = child.stdin.take().ok_or("no stdin")?.write_all(&serde_json::to_vec(cases)?);
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    if status.code() == Some(UNAVAILABLE) {
        return Ok(Err(String::from_utf8_lossy(&stdout).trim().to_owned()));
    }
    if !status.success() {
        return Err(format!("the script ended with {status}: {}", String::from_utf8_lossy(&stderr)).into());
    }
    Ok(Ok(serde_json::from_slice(&stdout)?))
}

fn check(answers: &[Vec<f32>], ours: &[Ours]) -> Result<Completion, Failed> {
    if answers.len() != ours.len() {
        return Err(format!("{} answers for {} cases", answers.len(), ours.len()).into());
    }
    for (theirs, Ours { name, out, reference }) in answers.iter().zip(ours) {
        if theirs.len() != out.len() {
            return Err(format!("{name}: {} numbers, expected {}", theirs.len(), out.len()).into());
        }
        for (index, (theirs, ours)) in theirs.iter().zip(out).enumerate() {
            // Theirs rounds less than ours: scores stay in float32. So the bound is theirs too.
            let (difference, bound) = (f64::from((theirs - ours).abs()), 2.0 * reference.bound[index]);
            if difference > bound || difference.is_nan() {
                return Err(
                    format!("{name}: element {index} is {ours}, theirs {theirs}, bound {bound}").into()
                );
            }
        }
        let wide: Vec<f64> = theirs.iter().map(|x| f64::from(*x)).collect();
        let (between, of_theirs) = (relative_l2(out, &wide), relative_l2(theirs, &reference.out));
        println!("{name}: relative difference {between:.5}, theirs to float64 {of_theirs:.5}");
        if between > CLOSE || of_theirs > CLOSE {
            return Err(
                format!("{name}: relative difference {between}, theirs to float64 {of_theirs}").into()
            );
        }
    }
    Ok(Completion::Completed)
}

fn floats(values: &[bf16]) -> Vec<f32> {
    values.iter().map(|value| value.to_f32()).collect()
}

fn sdpa_cases() -> (Value, Vec<Ours>) {
    let random = &mut Random::new(1);
    let (mut cases, mut ours) = (Vec::new(), Vec::new());
    for generation in Generation::ALL {
        for (number, (heads, dims, lengths)) in [
            ((8, 2), (64, 64), (1, 300)),
            ((4, 4), (128, 128), (3, 90)),
            ((6, 1), (96, 96), (40, 120)),
            ((8, 1), (32, 32), (130, 130)),
            ((4, 2), (64, 64), (5, 77)),
            ((4, 2), (80, 80), (20, 77)),
        ]
        .into_iter()
        .enumerate()
        {
            let mut case = Mha::plain(random, generation, heads, dims, &[lengths]);
            case.dtype = StorageDtype::Bf16;
            if number == 4 {
                case.options.sliding_window = Some(23);
            }
            if number == 5 {
                case.options.alibi_slopes = Some(vec![0.5, 0.25, 0.125, 0.0625]);
            }
            let sequence = &case.sequences[0];
            cases.push(json!({
                "q": floats(&sequence.q), "k": floats(&sequence.k), "v": floats(&sequence.v),
                "queries": lengths.0, "keys": lengths.1, "heads": heads.0, "kv_heads": heads.1,
                "scale": case.options.softmax_scale, "window": case.options.sliding_window,
                "slopes": case.options.alibi_slopes,
            }));
            // Both ways give their own rounding of the same numbers.
            for (way, out) in [("decode", case.decode(Mode::Fast)), ("prefill", case.prefill(Mode::Fast))] {
                let name = format!("{generation}, {way}, heads {heads:?} of {dims:?}, {lengths:?} tokens");
                ours.push(Ours { name, out, reference: references(&case.decode_heads()) });
            }
            cases.push(cases[cases.len() - 1].clone());
        }
    }
    (Value::Array(cases), ours)
}

/// The kernel takes absorbed queries and gives latents: with a projection that is the identity, so does a layer.
fn mla_cases() -> (Value, Vec<Ours>) {
    let random = &mut Random::new(2);
    let (rank, rope) = (512, 64);
    let (mut cases, mut ours) = (Vec::new(), Vec::new());
    for generation in Generation::ALL {
        for (num_heads, lengths) in [(2, vec![(1, 50), (1, 16), (1, 1)]), (3, vec![(1, 130)])] {
            let shape = MlaShape {
                num_heads,
                kv_lora_rank: rank,
                qk_nope_head_dim: rank,
                qk_rope_head_dim: rope,
                v_head_dim: rank,
            };
            let mut case = Mla::plain(random, generation, shape, &lengths);
            case.dtype = StorageDtype::Bf16;
            case.kv_b_proj.fill(bf16::ZERO);
            let rows = case.kv_b_proj.chunks_exact_mut(rank);
            rows.enumerate().for_each(|(row, weights)| weights[row % rank] = bf16::ONE);
            let table = case.table();
            let blocks = cases::block_count(&case.places());
            let mut cache = vec![0.0; blocks * 16 * (rank + rope)];
            let mut query = Vec::new();
            for sequence in &case.sequences {
                for token in 0..sequence.place.len {
                    let at = sequence.place.slot(token, 16) as usize * (rank + rope);
                    let latent = &mut cache[at..at + rank + rope];
                    latent[..rank].copy_from_slice(&floats(&sequence.kv_c[token * rank..(token + 1) * rank]));
                    latent[rank..].copy_from_slice(&floats(&sequence.k_pe[token * rope..(token + 1) * rope]));
                }
                for (nope, pe) in sequence.q_nope.chunks_exact(rank).zip(sequence.q_pe.chunks_exact(rope)) {
                    query.extend(floats(nope));
                    query.extend(floats(pe));
                }
            }
            cases.push(json!({
                "query": query, "cache": cache, "heads": num_heads, "scale": case.options.softmax_scale,
                // What lies behind a sequence's blocks is not looked at, but it must be a block.
                "block_table": table.block_table.iter().map(|block| (*block).max(0)).collect::<Vec<_>>(),
                "seq_lens": table.seq_lens,
            }));
            let name = format!("{generation}, {num_heads} heads, {lengths:?} tokens");
            ours.push(Ours { name, out: case.decode(Mode::Fast), reference: case.decode_reference() });
        }
    }
    (Value::Array(cases), ours)
}
