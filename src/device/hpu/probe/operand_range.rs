//! A question about the codes that the matrix engine takes for Inf and NaN.

use super::question::{Finding, Question, answer_of};
use super::session::{ProbeSession, WIDTH};
use crate::Generation;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};
use crate::fp8::{Format, InfNan};

pub(super) const QUESTIONS: [Question; 1] = [Question {
    name: "mme-operand-range",
    text: "As what does the matrix engine read the e4m3 codes 0x78 to 0x7F?",
    expected,
    ask,
}];

const FULL: &str = "Inf, then NaN: up to 240";
const MINIMAL: &str = "256 to 448, then NaN: up to 448";
const NONE: &str = "256 to 480, no NaN: up to 480";

/// The code of 1.0, and those that are asked about, after the largest that is a number in every mode.
const ONE: u8 = 0x38;
const CODES: std::ops::RangeInclusive<u8> = 0x77..=0x7F;

fn ask(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let shape = [1, WIDTH, WIDTH];
    let (a, b) = (graph.input("a", Dtype::Fp8, &shape), graph.input("b", Dtype::Fp8, &shape));
    let out = graph.node("batch_gemm", &[a, b], Params::gemm(false, false), Dtype::F32, &shape);
    graph.output(out, "out");
    // A row has one code and zeros, so its products are that code times 1 and zeros.
    let mut codes = vec![0; WIDTH * WIDTH];
    for (row, code) in CODES.enumerate() {
        codes[row * WIDTH] = code;
    }
    let products = session.run_f32(&graph, vec![("a", codes), ("b", vec![ONE; WIDTH * WIDTH])])?;
    let seen: Vec<f32> = products.iter().step_by(WIDTH).take(CODES.count()).copied().collect();
    let observed: Vec<String> =
        CODES.zip(&seen).map(|(code, value)| format!("0x{code:02X} * 1 = {value}")).collect();
    Ok(Finding::of(&bits(seen), &answers(), observed.join(", ")))
}

/// The bits of values, all NaNs alike.
fn bits(values: Vec<f32>) -> Vec<u32> {
    values
        .into_iter()
        .map(|value| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() })
        .collect()
}

/// The answer of the format that the emulation of a generation reads operands in.
fn expected(generation: Generation) -> &'static str {
    answer_of(&read(Format::kv_cache(generation)), answers())
}

/// The values of the codes in a format, as bits.
fn read(format: Format) -> Vec<u32> {
    bits(CODES.map(|code| f32::from_bits(format.decode_bits(code))).collect())
}

fn answers() -> [(&'static str, Vec<u32>); 3] {
    let read = |inf_nan| read(Format { inf_nan, ..Format::E4M3FN });
    [(FULL, read(InfNan::Full)), (MINIMAL, read(InfNan::Minimal)), (NONE, read(InfNan::None))]
}

#[cfg(test)]
mod tests {
    use super::super::question::assert_told_apart;
    use super::*;

    #[test]
    fn answers_differ() {
        assert_told_apart(&answers());
        assert_eq!(Generation::ALL.map(expected), [FULL, MINIMAL]);
        let values =
            |number: usize| answers()[number].1.iter().map(|bits| f32::from_bits(*bits)).collect::<Vec<_>>();
        assert_eq!(values(1)[..8], [240.0, 256.0, 288.0, 320.0, 352.0, 384.0, 416.0, 448.0]);
        assert!(values(1)[8].is_nan() && values(0)[2..].iter().all(|value| value.is_nan()));
        assert_eq!((values(0)[1], values(2)[8]), (f32::INFINITY, 480.0));
    }
}
