//! Questions about whether comparisons and choices repeat sizes of 1, as attention's masks need.

use super::question::{Finding, Question};
use super::session::{ProbeSession, WIDTH, f32s, shown};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params};

pub(super) const QUESTIONS: [Question; 2] = [
    Question {
        name: "compare-repeats",
        text: "Does less_fwd_f32 repeat sizes of 1, and what is true?",
        expected: |_| TRUE_IS_1,
        ask: compare,
    },
    Question {
        name: "where-repeats",
        text: "Does where_fwd_f32 repeat sizes of 1?",
        expected: |_| REPEATED,
        ask: choose,
    },
];

const TRUE_IS_1: &str = "repeated; true is 1";
const REPEATED: &str = "repeated";

/// The shape of scores, `[batch, heads, rows, keys]`, of which `keys` is `WIDTH`.
const BATCH: usize = 2;
const HEADS: usize = 3;
const ROWS: usize = 4;

/// The end of each row's view in each entry.
fn ends() -> Vec<f32> {
    (0..BATCH * ROWS).map(|row| (row * 17) as f32).collect()
}

/// Whether each row of each entry sees each key.
fn is_seen() -> impl Iterator<Item = bool> {
    ends().into_iter().flat_map(|end| (0..WIDTH).map(move |key| (key as f32) < end))
}

fn compare(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let key = graph.input("key", Dtype::F32, &[1, 1, 1, WIDTH]);
    let end = graph.input("end", Dtype::F32, &[BATCH, 1, ROWS, 1]);
    let shape = [BATCH, 1, ROWS, WIDTH];
    let out = graph.node("less_fwd_f32", &[key, end], Params::none(), Dtype::I8, &shape);
    graph.output(out, "out");
    let keys = f32s((0..WIDTH).map(|key| key as f32));
    let seen = session.run(&graph, vec![("key", keys), ("end", f32s(ends()))])?;
    let of_truth = |truth: u8| is_seen().map(|is_seen| if is_seen { truth } else { 0 }).collect();
    let answers: [(_, Vec<u8>); 2] = [(TRUE_IS_1, of_truth(1)), ("repeated; true is -1", of_truth(0xFF))];
    Ok(Finding::of(&seen, &answers, shown(&seen)))
}

fn choose(session: &mut ProbeSession<'_>) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let seen = graph.input("seen", Dtype::I8, &[BATCH, 1, ROWS, WIDTH]);
    let values = graph.input("values", Dtype::F32, &[BATCH, HEADS, ROWS, WIDTH]);
    let other = graph.input("other", Dtype::F32, &[1, 1, 1, 1]);
    let out = graph.elementwise("where", Dtype::F32, &[seen, values, other]);
    graph.output(out, "out");
    let numbers = || (0..BATCH * HEADS * ROWS * WIDTH).map(|number| number as f32 + 0.5);
    let operands = vec![
        ("seen", is_seen().map(u8::from).collect()),
        ("values", f32s(numbers())),
        ("other", f32s([-1.0])),
    ];
    let chosen = session.run(&graph, operands)?;
    let is_seen: Vec<bool> = is_seen().collect();
    let wanted = numbers().enumerate().map(|(at, value)| {
        let entry = at / (HEADS * ROWS * WIDTH);
        if is_seen[entry * ROWS * WIDTH + at % (ROWS * WIDTH)] { value } else { -1.0 }
    });
    Ok(Finding::of(&chosen, &[(REPEATED, f32s(wanted))], shown(&chosen)))
}
