//! Questions about the NaN that a conversion to bfloat16 gives, as two of them mark a result as not there yet.

use super::question::{Finding, Question};
use super::session::{ProbeOperand, ProbeSession, WIDTH};
use crate::device::hpu::engine::SENTINELS;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params, TensorId};

pub(super) const QUESTIONS: [Question; 2] = [
    Question {
        name: "nan-from-f32",
        text: "Which NaN does cast_f32_to_bf16 give?",
        expected: |_| ONE_NAN,
        ask: |session| {
            let values = F32_NANS.iter().cycle().take(WIDTH).flat_map(|bits| bits.to_le_bytes()).collect();
            ask(session, Dtype::F32, ("x", values), |graph, x| graph.cast(x, Dtype::Bf16))
        },
    },
    Question {
        name: "nan-from-fp8",
        text: "Which NaN does convert_from_fp8_bf16 give?",
        expected: |_| ONE_NAN,
        ask: |session| {
            let codes = [0x7F, 0xFF].into_iter().cycle().take(WIDTH).collect();
            ask(session, Dtype::Fp8, ("x", codes), |graph, x| {
                graph.node("convert_from_fp8_bf16", &[x], Params::none(), Dtype::Bf16, &[1, WIDTH])
            })
        },
    },
];

const ONE_NAN: &str = "0x7FFF, whatever the input";

/// Float32 NaNs: quiet and signalling ones of both signs, and what the marks are in float32.
const F32_NANS: [u32; 8] =
    [0x7FC0_0000, 0xFFC0_0000, 0x7FC1_0000, 0x7FC2_0000, 0x7F80_0001, 0xFF80_0001, 0x7FFF_FFFF, 0x7FC1_8000];

fn ask(
    session: &mut ProbeSession<'_>,
    from: Dtype,
    operand: ProbeOperand,
    convert: fn(&mut GraphSpec, TensorId) -> TensorId,
) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let x = graph.input("x", from, &[1, WIDTH]);
    let out = convert(&mut graph, x);
    graph.output(out, "out");
    // As bytes: a result that is waited for could never be told from one that is not there.
    let bytes = session.run(&graph, vec![operand])?;
    let words: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
    Ok(judged(&words))
}

fn judged(words: &[u16]) -> Finding {
    let is_nan = |word: &u16| word & 0x7FFF > 0x7F80;
    let answer = if words.iter().all(|word| *word == 0x7FFF) {
        ONE_NAN
    } else if words.iter().any(|word| SENTINELS.contains(word)) {
        "one that marks a result as not there"
    } else if words.iter().all(is_nan) {
        "others, none of which marks a result as not there"
    } else {
        "not only NaN"
    };
    let mut distinct = words.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let observed: Vec<String> = distinct.iter().take(16).map(|word| format!("0x{word:04X}")).collect();
    Finding { answer: answer.to_owned(), observed: observed.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_found() {
        assert_eq!(judged(&[0x7FFF, 0x7FFF]).answer, ONE_NAN);
        assert_eq!(judged(&[0x7FFF, 0x7FC2]).answer, "one that marks a result as not there");
        assert_eq!(judged(&[0x7FC0, 0xFFC0]).answer, "others, none of which marks a result as not there");
        assert_eq!(judged(&[0x7FFF, 0x7F80]).answer, "not only NaN");
    }
}
