//! A question about products of bfloat16 with FP8.

use half::bf16;

use super::question::{Finding, Question, REFUSED};
use super::session::{ProbeSession, WIDTH, bf16s, f32s, shown};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};

pub(super) const QUESTIONS: [Question; 1] = [Question {
    name: "mixed-product",
    text: "Does a graph for inference take a product of bfloat16 with e4m3?",
    expected: |_| REFUSED,
    ask,
}];

/// The code of 1.5, and a factor that is no FP8 number.
const CODE: u8 = 0x3C;
const FACTOR: f32 = 1.0078125;

fn ask(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let shape = [1, WIDTH, WIDTH];
    let (a, b) = (graph.input("a", Dtype::Bf16, &shape), graph.input("b", Dtype::Fp8, &shape));
    let out = graph.node("batch_gemm", &[a, b], Params::gemm(false, true), Dtype::F32, &shape);
    graph.output(out, "out");
    let a = bf16s(vec![bf16::from_f32(FACTOR); WIDTH * WIDTH]);
    let products = session.run_f32(&graph, vec![("a", a), ("b", vec![CODE; WIDTH * WIDTH])])?;
    let all = |value: f32| vec![value; WIDTH * WIDTH];
    let answers = [
        ("takes it, and multiplies in bfloat16", all(FACTOR * 1.5 * WIDTH as f32)),
        ("takes it, and multiplies in FP8", all(1.5 * WIDTH as f32)),
    ];
    let observed = shown(&f32s(products.iter().copied()));
    Ok(Finding::of(&products, &answers, observed))
}
