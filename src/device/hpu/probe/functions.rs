//! Questions about the last bits of `exp` and `tanh`.

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, f32s, shown};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec};

pub(super) const QUESTIONS: [Question; 2] = [
    Question {
        name: "exp-bits",
        text: "How far from those of libm are the bits of exp_fwd_f32, from -40 to 0?",
        expected: |_| SAME,
        ask: |session| ask(session, "exp", libm::expf, -40.0..0.0),
    },
    Question {
        name: "tanh-bits",
        text: "How far from those of libm are the bits of tanh_fwd_f32, from -4 to 4?",
        expected: |_| SAME,
        ask: |session| ask(session, "tanh", libm::tanhf, -4.0..4.0),
    },
];

const SAME: &str = "the same bits";

const ROWS: usize = 128;

fn ask(
    session: &mut ProbeSession<'_>,
    op: &str,
    function: fn(f32) -> f32,
    range: std::ops::Range<f32>,
) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let x = graph.input("x", Dtype::F32, &[ROWS, WIDTH]);
    let out = graph.elementwise(op, Dtype::F32, &[x]);
    graph.output(out, "out");
    let step = (range.end - range.start) / (ROWS * WIDTH - 1) as f32;
    let x: Vec<f32> = (0..ROWS * WIDTH).map(|number| range.start + step * number as f32).collect();
    let seen = session.run_f32(&graph, vec![("x", f32s(x.iter().copied()))])?;
    let wanted: Vec<f32> = x.into_iter().map(function).collect();
    Ok(compared(&seen, &wanted))
}

fn compared(seen: &[f32], wanted: &[f32]) -> Finding {
    let distances: Vec<u64> = seen.iter().zip(wanted).map(|(a, b)| distance(*a, *b)).collect();
    let different = distances.iter().filter(|distance| **distance > 0).count();
    let answer = match distances.iter().max() {
        None | Some(0) => SAME.to_owned(),
        Some(farthest) => format!("up to {farthest} of the last place"),
    };
    let observed = format!("{different} of {} differ: {}", wanted.len(), shown(&f32s(seen.iter().copied())));
    Finding { answer, observed }
}

/// How many float32 numbers one is from another.
fn distance(a: f32, b: f32) -> u64 {
    let ordered = |value: f32| {
        let bits = i64::from(value.to_bits() & 0x7FFF_FFFF);
        if value.is_sign_negative() { -bits } else { bits }
    };
    ordered(a).abs_diff(ordered(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_numbers() {
        assert_eq!(distance(1.0, 1.0), 0);
        assert_eq!(distance(1.0, 1.0 + f32::EPSILON), 1);
        assert_eq!(distance(f32::from_bits(2), -f32::from_bits(1)), 3);
        let finding = compared(&[1.0, 2.0, 3.0], &[1.0, f32::from_bits(2f32.to_bits() + 2), 3.0]);
        assert_eq!(finding.answer, "up to 2 of the last place");
        assert!(finding.observed.starts_with("1 of 3 differ: 00 00 80 3f"), "{}", finding.observed);
        assert_eq!(compared(&[1.0], &[1.0]).answer, SAME);
    }
}
