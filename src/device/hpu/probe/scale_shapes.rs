//! Questions about which multiplier a conversion to FP8 takes for which element.

use half::bf16;

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, bf16s, f32s, shown};
use crate::Generation;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};
use crate::fp8::Encoder;

pub(super) const QUESTIONS: [Question; 2] = [
    Question {
        name: "scale-by-head",
        text: "Does convert_to_fp8 take one multiplier for each head of [rows, heads, dim]?",
        expected: |_| OWN,
        ask: |session| ask(session, &BY_HEAD),
    },
    Question {
        name: "scale-by-row",
        text: "Does convert_to_fp8 take one multiplier for each row of [batch, heads, rows, dim]?",
        expected: |_| OWN,
        ask: |session| ask(session, &BY_ROW),
    },
];

const OWN: &str = "each its own";

/// Shapes of values and of multipliers.
struct Shapes {
    values: &'static [usize],
    scales: &'static [usize],
}

const BY_HEAD: Shapes = Shapes { values: &[16, 4, WIDTH], scales: &[1, 4, 1] };
const BY_ROW: Shapes = Shapes { values: &[2, 3, 8, WIDTH], scales: &[2, 3, 8, 1] };

/// The value to convert: its code tells by which power of two it was multiplied.
const VALUE: f32 = 1.5;

/// A multiplier by its number: neighbours differ, and no product leaves the range.
fn multiplier(number: usize) -> f32 {
    2f32.powi((number % 11) as i32 - 5)
}

fn ask(session: &mut ProbeSession<'_>, shapes: &Shapes) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let x = graph.input("x", Dtype::Bf16, shapes.values);
    let scale = graph.input("scale", Dtype::F32, shapes.scales);
    let params = Params::round_to_nearest();
    let out = graph.node("convert_to_fp8_bf16", &[x, scale], params, Dtype::Fp8, shapes.values);
    graph.output(out, "out");
    let x = bf16s(vec![bf16::from_f32(VALUE); shapes.values.iter().product()]);
    let scales = (0..shapes.scales.iter().product()).map(multiplier);
    let codes = session.run(&graph, vec![("x", x), ("scale", f32s(scales))])?;
    Ok(Finding::of(&codes, &answers(shapes), shown(&codes)))
}

fn answers(shapes: &Shapes) -> [(&'static str, Vec<u8>); 3] {
    let encoder = Encoder::kv_cache(Generation::Gaudi2);
    let elements: usize = shapes.values.iter().product();
    let count: usize = shapes.scales.iter().product();
    let codes = |number: &dyn Fn(usize) -> usize| -> Vec<u8> {
        (0..elements).map(|element| encoder.encode(VALUE * multiplier(number(element)))).collect()
    };
    [
        // Both shapes have all multipliers of a row in a row's order, over and over.
        (OWN, codes(&|element| element / WIDTH % count)),
        ("the first for all", codes(&|_| 0)),
        ("by the place in a row", codes(&|element| element % WIDTH % count)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::question::assert_told_apart;
    use super::*;

    #[test]
    fn answers_differ() {
        for shapes in [&BY_HEAD, &BY_ROW] {
            assert_told_apart(&answers(shapes));
        }
        // 1.5 * 2^-5 and 1.5 * 2^-4.
        let own = &answers(&BY_HEAD)[0].1;
        assert_eq!((own[0], own[WIDTH], own[4 * WIDTH]), (0x14, 0x1C, 0x14));
    }
}
