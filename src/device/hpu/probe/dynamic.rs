//! A question about FP8 tensors with a size that a launch gives.

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};

pub(super) const QUESTIONS: [Question; 1] = [Question {
    name: "dynamic-fp8",
    text: "Does the compiler take FP8 tensors of five dimensions with a size that a launch gives, and if not, which call \
           says so?",
    expected: |_| "taken by the compiler",
    ask,
}];

fn ask(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let (largest, smallest) = ([16, 2, 2, 2, WIDTH], [1, 2, 2, 2, WIDTH]);
    let x = graph.input("x", Dtype::Bf16, &largest);
    let out = graph.node("convert_to_fp8_bf16", &[x], Params::round_to_nearest(), Dtype::Fp8, &largest);
    graph.output(out, "out");
    for tensor in [x, out] {
        graph.make_dynamic(tensor, &smallest);
    }
    let compiled = session.compile(&graph)?;
    let observed = format!("a recipe with a workspace of {} bytes", compiled.workspace_bytes);
    Ok(Finding { answer: "taken by the compiler".to_owned(), observed })
}
