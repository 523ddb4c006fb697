//! A question about whether data is there when a stream says that it is.

use half::bf16;

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, bf16s};
use crate::device::hpu::engine::Operand;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec};

pub(super) const QUESTIONS: [Question; 1] = [Question {
    name: "completion",
    text: "Is data there once the stream reports the work as done?",
    expected: |_| IN_TIME,
    ask,
}];

const IN_TIME: &str = "yes, each time";

/// How many launches are looked at, and the rows of each: a mebibyte of results.
const ROUNDS: usize = 16;
const ROWS: usize = 4096;

fn ask(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let x = graph.input("x", Dtype::Bf16, &[ROWS, WIDTH]);
    let out = graph.elementwise("add", Dtype::Bf16, &[x, x]);
    graph.output(out, "out");
    let compiled = session.compile(&graph)?;
    let ones = bf16s(vec![bf16::ONE; ROWS * WIDTH]);
    let (mut late_launches, mut late_copies) = (0, 0);
    for _ in 0..ROUNDS {
        let operands = [("x", Operand::Bytes(ones.clone()))];
        let (not_computed, not_copied) = session.engine.missing_at_report(&compiled, &operands)?;
        late_launches += usize::from(not_computed > 0);
        late_copies += usize::from(not_copied > 0);
    }
    let answer = match (late_launches, late_copies) {
        (0, 0) => IN_TIME,
        (_, 0) => "no: results came later than their copy",
        (0, _) => "no: copies came later",
        _ => "no: results and copies came later",
    };
    let observed =
        format!("of {ROUNDS} launches {late_launches} had late results, {late_copies} late copies");
    Ok(Finding { answer: answer.to_owned(), observed })
}
