//! Questions about how often the product with a scale is rounded on its way to FP8.

use half::bf16;

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, bf16s, f32s, shown, words};
use crate::Generation;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};
use crate::fp8::{Encoder, bf16_from_f32};

pub(super) const QUESTIONS: [Question; 3] = [
    Question {
        name: "rounding-scalar",
        text: "How is x * scale rounded in convert_to_fp8_bf16, with one scale as an operand?",
        expected: |_| TWICE,
        ask: |session| ask(session, Form::Scalar),
    },
    Question {
        name: "rounding-vector",
        text: "How is x * scale rounded in convert_to_fp8_bf16, with a scale for each row?",
        expected: |_| TWICE,
        ask: |session| ask(session, Form::Vector),
    },
    Question {
        name: "rounding-constant",
        text: "How is x * scale rounded in convert_to_fp8_bf16, with a constant scale?",
        expected: |_| TWICE,
        ask: |session| ask(session, Form::Constant),
    },
];

const TWICE: &str = "scale to bfloat16, product to bfloat16, then to FP8";

/// How the scale is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Scalar,
    Vector,
    Constant,
}

/// The number of rows of values.
const ROWS: usize = 128;

fn scales(form: Form) -> Vec<f32> {
    match form {
        Form::Vector => (0..ROWS).map(|row| 1.1 + row as f32 / 77.0).collect(),
        Form::Scalar | Form::Constant => vec![1.1],
    }
}

/// Values to convert: normal numbers of both signs that a scale leaves within every range.
fn values() -> Vec<bf16> {
    let value = |word: u64| {
        let (sign, exponent, mantissa) = (word & 1, 121 + (word >> 1) % 10, word >> 8 & 0x7F);
        bf16::from_bits((sign << 15 | exponent << 7 | mantissa) as u16)
    };
    words(4, ROWS * WIDTH).map(value).collect()
}

fn ask(session: &mut ProbeSession<'_>, form: Form) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let x = graph.input("x", Dtype::Bf16, &[ROWS, WIDTH]);
    let mut operands = vec![("x", bf16s(values()))];
    let given = f32s(scales(form));
    let scale = match form {
        Form::Constant => graph.constant("scale", Dtype::F32, &[1], given),
        Form::Scalar | Form::Vector => {
            operands.push(("scale", given));
            let shape: &[usize] = if form == Form::Vector { &[ROWS, 1] } else { &[1] };
            graph.input("scale", Dtype::F32, shape)
        }
    };
    let params = Params::round_to_nearest();
    let out = graph.node("convert_to_fp8_bf16", &[x, scale], params, Dtype::Fp8, &[ROWS, WIDTH]);
    graph.output(out, "out");
    let codes = session.run(&graph, operands)?;
    Ok(Finding::of(&codes, &answers(session.generation, form), shown(&codes)))
}

fn answers(generation: Generation, form: Form) -> [(&'static str, Vec<u8>); 4] {
    let (encoder, scales, values) = (Encoder::kv_cache(generation), scales(form), values());
    let codes = |product: fn(f32, f32) -> f32| -> Vec<u8> {
        let rows = values.chunks(WIDTH).zip(scales.iter().cycle());
        rows.flat_map(|(row, scale)| row.iter().map(|x| encoder.encode(product(x.to_f32(), *scale))))
            .collect()
    };
    [
        (TWICE, codes(|x, scale| narrow(x * narrow(scale)))),
        ("scale to bfloat16, product once to FP8", codes(|x, scale| x * narrow(scale))),
        ("scale in float32, product to bfloat16, then to FP8", codes(|x, scale| narrow(x * scale))),
        ("scale in float32, product once to FP8", codes(|x, scale| x * scale)),
    ]
}

/// The value rounded to bfloat16.
fn narrow(value: f32) -> f32 {
    bf16_from_f32(value).to_f32()
}

#[cfg(test)]
mod tests {
    use super::super::question::assert_told_apart;
    use super::*;

    #[test]
    fn answers_differ() {
        for generation in Generation::ALL {
            for form in [Form::Scalar, Form::Vector] {
                assert_told_apart(&answers(generation, form));
            }
        }
    }
}
