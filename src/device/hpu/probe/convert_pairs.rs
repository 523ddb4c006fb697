//! Questions about whether the compiler takes two conversions that undo each other out of a graph, and the rounding with them.

use half::bf16;

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, bf16s, f32s, shown};
use crate::Generation;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};
use crate::fp8::{Dequantizer, Encoder, bf16_from_f32};

pub(super) const QUESTIONS: [Question; 3] = [
    Question {
        name: "fp8-pair-constant",
        text: "Does a value keep the rounding to FP8 and back, with constant scales that undo each other?",
        expected: |_| KEPT,
        ask: |session| fp8(session, true),
    },
    Question {
        name: "fp8-pair-operand",
        text: "Does a value keep the rounding to FP8 and back, with scales that are operands?",
        expected: |_| KEPT,
        ask: |session| fp8(session, false),
    },
    Question {
        name: "bf16-pair",
        text: "Does a value keep the rounding to bfloat16 and back to float32?",
        expected: |_| KEPT,
        ask: wide,
    },
];

const KEPT: &str = "it is rounded";
const ELIDED: &str = "both conversions are left out";

/// A scale that is exact in bfloat16 and leaves the values within every range.
const QUANT: f32 = 4.0;

/// Values to convert: numbers with more mantissa bits than FP8 has.
fn values() -> Vec<bf16> {
    (0..WIDTH).map(|number| bf16::from_bits(0x3F80 + number as u16)).collect()
}

fn fp8(session: &mut ProbeSession<'_>, constant: bool) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let mut operands = vec![("x", bf16s(values()))];
    let x = graph.input("x", Dtype::Bf16, &[1, WIDTH]);
    let mut scale = |graph: &mut GraphSpec, name, value| {
        if constant {
            return graph.constant(name, Dtype::F32, &[1], f32s([value]));
        }
        operands.push((name, f32s([value])));
        graph.input(name, Dtype::F32, &[1])
    };
    let (quant, dequant) = (scale(&mut graph, "quant", QUANT), scale(&mut graph, "dequant", 1.0 / QUANT));
    let shape = [1, WIDTH];
    let codes =
        graph.node("convert_to_fp8_bf16", &[x, quant], Params::round_to_nearest(), Dtype::Fp8, &shape);
    let out = graph.node("convert_from_fp8_bf16", &[codes, dequant], Params::none(), Dtype::Bf16, &shape);
    graph.output(out, "out");
    let seen = session.run(&graph, operands)?;
    Ok(Finding::of(&seen, &fp8_answers(session.generation), shown(&seen)))
}

fn fp8_answers(generation: Generation) -> [(&'static str, Vec<u8>); 2] {
    let encoder = Encoder::kv_cache(generation);
    let decoder = Dequantizer::unscaled(encoder.format);
    let rounded = values().into_iter().map(|value| {
        let code = encoder.encode(value.to_f32() * QUANT);
        bf16_from_f32(decoder.dequant_one_f32(code) / QUANT)
    });
    [(KEPT, bf16s(rounded)), (ELIDED, bf16s(values()))]
}

fn wide(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let x = graph.input("x", Dtype::F32, &[1, WIDTH]);
    let narrow = graph.cast(x, Dtype::Bf16);
    let out = graph.cast(narrow, Dtype::F32);
    graph.output(out, "out");
    let values = || (0..WIDTH).map(|number| 1.0 + number as f32 * 0.001);
    let seen = session.run(&graph, vec![("x", f32s(values()))])?;
    let rounded = values().map(|value| bf16_from_f32(value).to_f32());
    let answers = [(KEPT, f32s(rounded)), (ELIDED, f32s(values()))];
    Ok(Finding::of(&seen, &answers, shown(&seen)))
}

#[cfg(test)]
mod tests {
    use super::super::question::assert_told_apart;
    use super::*;

    #[test]
    fn answers_differ() {
        for generation in Generation::ALL {
            assert_told_apart(&fp8_answers(generation));
        }
        // 1 + 3/128 is 1.0 in e4m3, and 1 + 10/128 is nearer to 1.125.
        let rounded = &fp8_answers(Generation::Gaudi2)[0].1;
        assert_eq!(rounded[6..8], bf16::ONE.to_le_bytes());
        assert_eq!(rounded[20..22], bf16::from_f32(1.125).to_le_bytes());
    }
}
