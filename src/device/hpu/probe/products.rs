//! Questions about the order in which the matrix engine adds, and what it drops on the way.

use half::bf16;

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, bf16s, f32s, shown, words};
use crate::Generation;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};
use crate::fp8::Format;
use crate::mme::{Elements, Gemm, Matrix, MatrixMut, MmeError, Right};

pub(super) const QUESTIONS: [Question; 2] = [
    Question {
        name: "sums-fp8",
        text: "By whose rules does the matrix engine add products of e4m3?",
        expected: own,
        ask: |session| ask(session, Dtype::Fp8),
    },
    Question {
        name: "sums-bf16",
        text: "By whose rules does the matrix engine add products of bfloat16?",
        expected: own,
        ask: |session| ask(session, Dtype::Bf16),
    },
];

/// The answers that name a generation's matrix engine.
const ENGINES: [(&str, Generation); 2] =
    [("Gaudi2's, bit for bit", Generation::Gaudi2), ("Gaudi3's, bit for bit", Generation::Gaudi3)];
const IN_ORDER: &str = "float32, one after the other";

/// The answer that names a generation's own engine.
fn own(generation: Generation) -> &'static str {
    ENGINES.into_iter().find(|(_, engine)| *engine == generation).map_or(IN_ORDER, |(answer, _)| answer)
}

/// The product's shape: `[ROWS, DEPTH]` times `[WIDTH, DEPTH]` transposed.
const ROWS: usize = 8;
const DEPTH: usize = 512;

/// An operand's bytes: codes of numbers in every mode, or bfloat16 numbers of many magnitudes.
fn operand(dtype: Dtype, seed: u64, rows: usize) -> Vec<u8> {
    let words = words(seed, rows * DEPTH);
    match dtype {
        Dtype::Fp8 => words.map(|word| (word as u8 & 0x80) | ((word >> 8) as u8 % 0x78)).collect(),
        _ => bf16s(words.map(|word| {
            let (sign, exponent, mantissa) = (word & 1, 115 + (word >> 1) % 24, word >> 8 & 0x7F);
            bf16::from_bits((sign << 15 | exponent << 7 | mantissa) as u16)
        })),
    }
}

fn ask(session: &mut ProbeSession<'_>, dtype: Dtype) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let a = graph.input("a", dtype, &[1, ROWS, DEPTH]);
    let b = graph.input("b", dtype, &[1, WIDTH, DEPTH]);
    let out = graph.node("batch_gemm", &[a, b], Params::gemm(false, true), Dtype::F32, &[1, ROWS, WIDTH]);
    graph.output(out, "out");
    let operands = vec![("a", operand(dtype, 1, ROWS)), ("b", operand(dtype, 2, WIDTH))];
    let sums = session.run(&graph, operands)?;
    Ok(Finding::of(&sums, &answers(dtype), shown(&sums)))
}

fn answers(dtype: Dtype) -> Vec<(&'static str, Vec<u8>)> {
    let (a, b) = (operand(dtype, 1, ROWS), operand(dtype, 2, WIDTH));
    let mut answers: Vec<_> = ENGINES
        .into_iter()
        .filter_map(|(name, generation)| Some((name, f32s(sums(generation, dtype, (&a, &b)).ok()?))))
        .collect();
    let (a, b) = (numbers(dtype, &a), numbers(dtype, &b));
    let in_order = a.chunks(DEPTH).flat_map(|row| {
        b.chunks(DEPTH).map(|column| row.iter().zip(column).fold(0f32, |sum, (a, b)| a.mul_add(*b, sum)))
    });
    answers.push((IN_ORDER, f32s(in_order)));
    answers
}

/// The values of an operand.
fn numbers(dtype: Dtype, bytes: &[u8]) -> Vec<f32> {
    match dtype {
        Dtype::Fp8 => bytes.iter().map(|code| f32::from_bits(Format::E4M3FN.decode_bits(*code))).collect(),
        _ => bf16_of(bytes).into_iter().map(bf16::to_f32).collect(),
    }
}

fn bf16_of(bytes: &[u8]) -> Vec<bf16> {
    bytes.as_chunks::<2>().0.iter().map(|bytes| bf16::from_le_bytes(*bytes)).collect()
}

/// The sums of products as a generation's engine takes them.
fn sums(generation: Generation, dtype: Dtype, (a, b): (&[u8], &[u8])) -> Result<Vec<f32>, MmeError> {
    let wide = (bf16_of(a), bf16_of(b));
    let format = Format::kv_cache(generation);
    let (a, b) = match dtype {
        Dtype::Fp8 => (Elements::Fp8(a, format), Elements::Fp8(b, format)),
        _ => (Elements::Bf16(&wide.0), Elements::Bf16(&wide.1)),
    };
    let (a, b) = (Matrix::new(a, ROWS, DEPTH)?, [Matrix::new(b, WIDTH, DEPTH)?]);
    let mut out = vec![0.0; ROWS * WIDTH];
    Gemm::new(generation).exact(a, Right::NByK(&b), MatrixMut::new(&mut out, ROWS, WIDTH)?)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::question::assert_told_apart;
    use super::*;

    #[test]
    fn answers_differ() {
        for dtype in [Dtype::Fp8, Dtype::Bf16] {
            let answers = answers(dtype);
            assert_eq!(answers.len(), 3);
            assert_told_apart(&answers);
        }
    }
}
