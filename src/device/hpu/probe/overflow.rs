//! Questions about conversions to FP8 of values beyond the largest.

use half::bf16;

use super::question::{Finding, Question, answer_of};
use super::session::{ProbeSession, WIDTH, bf16s, shown};
use crate::Generation;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};
use crate::fp8::{Encoder, Format, InfNan, Rounding};

pub(super) const QUESTIONS: [Question; 5] = [
    Question {
        name: "convert-training",
        text: "What does convert_to_fp8 make of too large values, without a scale, in a graph that is not for inference?",
        expected: saturating,
        ask: |session| ask(session, "convert_to_fp8_bf16", Params::none(), false),
    },
    Question {
        name: "convert-inference",
        text: "What does convert_to_fp8 make of too large values, without a scale, in a graph for inference?",
        expected: saturating,
        ask: |session| ask(session, "convert_to_fp8_bf16", Params::none(), true),
    },
    Question {
        name: "cast-plain",
        text: "What does cast_bf16_to_hf8 make of too large values, without parameters?",
        expected: overflowing,
        ask: |session| ask(session, "cast_bf16_to_hf8", Params::none(), true),
    },
    Question {
        name: "cast-nearest",
        text: "What does cast_bf16_to_hf8 make of too large values, with a rounding mode only?",
        expected: overflowing,
        ask: |session| ask(session, "cast_bf16_to_hf8", Params::round_to_nearest(), true),
    },
    Question {
        name: "cast-clip",
        text: "What does cast_bf16_to_hf8 make of too large values, with CAST_CLIP?",
        expected: saturating,
        ask: |session| ask(session, "cast_bf16_to_hf8", Params::clip(), true),
    },
];

const CLIPS_240: &str = "saturates at 240, Inf too";
const CLIPS_448: &str = "saturates at 448, Inf too";
const INF_240: &str = "Inf beyond 240";
const NAN_448: &str = "NaN beyond 448";

/// The answer of a conversion of the emulation that saturates.
fn saturating(generation: Generation) -> &'static str {
    answer_of(&codes(Encoder::kv_cache(generation)), answers())
}

/// The answer of a conversion of the emulation that does not saturate.
fn overflowing(generation: Generation) -> &'static str {
    answer_of(&codes(Encoder { clip: false, ..Encoder::kv_cache(generation) }), answers())
}

/// Values beyond every range, within both, and Inf.
const VALUES: [f32; 8] = [500.0, -500.0, 1e30, -1e30, 240.0, -3.5, f32::INFINITY, f32::NEG_INFINITY];

fn ask(
    session: &mut ProbeSession<'_>,
    guid: &str,
    params: Params,
    inference: bool,
) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    graph.is_for_inference = inference;
    let x = graph.input("x", Dtype::Bf16, &[1, WIDTH]);
    let out = graph.node(guid, &[x], params, Dtype::Fp8, &[1, WIDTH]);
    graph.output(out, "out");
    let x = VALUES.into_iter().cycle().take(WIDTH).map(bf16::from_f32);
    let codes = session.run(&graph, vec![("x", bf16s(x))])?;
    let seen = &codes[..VALUES.len()];
    Ok(Finding::of(seen, &answers(), format!("{VALUES:?} are {}", shown(seen))))
}

/// What an encoder makes of the values.
fn codes(encoder: Encoder) -> Vec<u8> {
    VALUES.map(|value| encoder.encode(bf16::from_f32(value).to_f32())).to_vec()
}

/// The answers that are told apart. Codes of mode `None` are those of NaN: `mme-operand-range` tells them apart.
fn answers() -> [(&'static str, Vec<u8>); 7] {
    let codes = |inf_nan, clips_numbers, clips_inf| {
        let format = Format { inf_nan, ..Format::E4M3FN };
        let codes = |clip| codes(Encoder { format, rounding: Rounding::NearestEven, clip });
        let (numbers, infinities) = (codes(clips_numbers), codes(clips_inf));
        let both = VALUES.iter().zip(numbers.into_iter().zip(infinities));
        both.map(|(value, (number, inf))| if value.is_finite() { number } else { inf }).collect()
    };
    [
        (CLIPS_240, codes(InfNan::Full, true, true)),
        (CLIPS_448, codes(InfNan::Minimal, true, true)),
        ("saturates at 240, Inf stays", codes(InfNan::Full, true, false)),
        ("saturates at 448, Inf becomes NaN", codes(InfNan::Minimal, true, false)),
        (INF_240, codes(InfNan::Full, false, false)),
        (NAN_448, codes(InfNan::Minimal, false, false)),
        ("Inf saturates, numbers do not", codes(InfNan::Full, false, true)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::question::assert_told_apart;
    use super::*;

    #[test]
    fn answers_differ() {
        let answers = answers();
        assert_told_apart(&answers);
        assert_eq!(answers[0].1, [0x77, 0xF7, 0x77, 0xF7, 0x77, 0xC6, 0x77, 0xF7]);
        assert_eq!(answers[1].1, [0x7E, 0xFE, 0x7E, 0xFE, 0x77, 0xC6, 0x7E, 0xFE]);
        assert_eq!(answers[4].1, [0x78, 0xF8, 0x78, 0xF8, 0x77, 0xC6, 0x78, 0xF8]);
        assert_eq!((saturating(Generation::Gaudi2), overflowing(Generation::Gaudi2)), (CLIPS_240, INF_240));
        assert_eq!((saturating(Generation::Gaudi3), overflowing(Generation::Gaudi3)), (CLIPS_448, NAN_448));
        assert_eq!(answers[5].1, [0x7F, 0xFF, 0x7F, 0xFF, 0x77, 0xC6, 0x7F, 0xFF]);
    }
}
