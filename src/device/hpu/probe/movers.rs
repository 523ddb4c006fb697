//! Questions about kernels that only move FP8 codes: whether there are any, and whether every code comes out as it was.

use super::question::{Finding, Question, REFUSED};
use super::session::{ProbeOperand, ProbeSession, WIDTH, shown};
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{Dtype, GraphSpec, Params, TensorId};
use crate::fp8::{Encoder, Format, Rounding};

pub(super) const QUESTIONS: [Question; 5] = [
    Question {
        name: "gather-hf8",
        text: "Is there a gather_fwd_hf8, and does it keep every code?",
        expected: |_| REFUSED,
        ask: |session| gather(session, Dtype::Fp8),
    },
    Question {
        name: "gather-i8",
        text: "Does gather_fwd_i8 keep every code, with a reinterpret_cast before and after?",
        expected: |_| KEPT,
        ask: |session| gather(session, Dtype::I8),
    },
    Question {
        name: "index-copy-hf8",
        text: "Is there an index_copy_fwd_hf8, and does it keep every code, moved or not?",
        expected: |_| REFUSED,
        ask: |session| {
            overwrite(session, Dtype::Fp8, |graph, cache, rows, source| {
                graph.index_copy_in_place("cache_out", cache, rows, source);
            })
        },
    },
    Question {
        name: "index-copy-i8",
        text: "Does index_copy_fwd_i8 keep every code, moved or not, after a reinterpret_cast?",
        expected: |_| KEPT,
        ask: |session| {
            overwrite(session, Dtype::I8, |graph, cache, rows, source| {
                graph.index_copy_in_place("cache_out", cache, rows, source);
            })
        },
    },
    Question {
        name: "scatter-hf8",
        text: "Is there a scatter_nd_update_fwd_hf8, and does it keep every code, moved or not?",
        expected: |_| REFUSED,
        ask: |session| {
            overwrite(session, Dtype::Fp8, |graph, cache, rows, source| {
                let tuples = graph.reshape(rows, &[SOURCES, 1]);
                let inputs = [cache, tuples, source];
                graph.node_in_place("scatter_nd_update_fwd_hf8", "cache_out", &inputs, Params::last_update());
            })
        },
    },
];

const KEPT: &str = "keeps all 256 codes";

/// The rows of a plane: one of each code.
const ROWS: usize = 256;

/// How many rows are overwritten.
const SOURCES: usize = 128;

fn indices(values: impl IntoIterator<Item = usize>) -> Vec<u8> {
    values.into_iter().flat_map(|value| (value as i32).to_le_bytes()).collect()
}

/// The codes of a plane with one row of each.
fn rows_of_codes() -> Vec<u8> {
    (0..=u8::MAX).flat_map(|code| [code; WIDTH]).collect()
}

/// Gathers the rows of all codes in another order.
fn gather(session: &mut ProbeSession<'_>, kernel: Dtype) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    let data = graph.input("data", Dtype::Fp8, &[ROWS, WIDTH]);
    let order = graph.input("order", Dtype::I32, &[ROWS]);
    let moved = graph.reinterpret(data, kernel);
    let moved = graph.gather_rows(moved, order);
    let out = graph.reinterpret(moved, Dtype::Fp8);
    graph.output(out, "out");
    let operands: Vec<ProbeOperand> =
        vec![("data", rows_of_codes()), ("order", indices((0..ROWS).map(|row| ROWS - 1 - row)))];
    let codes = session.run(&graph, operands)?;
    let wanted: Vec<u8> = (0..=u8::MAX).rev().flat_map(|code| [code; WIDTH]).collect();
    Ok(judged(&codes, &wanted))
}

/// Overwrites every other row of all codes with rows that have all codes in them.
fn overwrite(
    session: &mut ProbeSession<'_>,
    kernel: Dtype,
    add: fn(&mut GraphSpec, TensorId, TensorId, TensorId),
) -> Result<Finding, HpuError> {
    let mut graph = GraphSpec::new("probe");
    // The memory of a cache is seen as what the kernel takes.
    let cache = graph.input("cache", kernel, &[ROWS, WIDTH]);
    let rows = graph.input("rows", Dtype::I32, &[SOURCES]);
    let source = graph.input("source", Dtype::Fp8, &[SOURCES, WIDTH]);
    let source = graph.reinterpret(source, kernel);
    add(&mut graph, cache, rows, source);
    // Every place of a row has every kind of code in some row.
    let code = |number: usize| (number / WIDTH * 3 + number % WIDTH) as u8;
    let sources: Vec<u8> = (0..SOURCES * WIDTH).map(code).collect();
    let places = || (0..SOURCES).map(|number| number * 2);
    let mut wanted = rows_of_codes();
    for (place, source) in places().zip(sources.chunks(WIDTH)) {
        wanted[place * WIDTH..][..WIDTH].copy_from_slice(source);
    }
    let operands = vec![("rows", indices(places())), ("source", sources)];
    let codes = session.change(&graph, ("cache", rows_of_codes()), operands)?;
    Ok(judged(&codes, &wanted))
}

fn judged(codes: &[u8], wanted: &[u8]) -> Finding {
    let changed: Vec<(u8, u8)> =
        codes.iter().zip(wanted).filter(|(code, wanted)| code != wanted).map(|(c, w)| (*w, *c)).collect();
    let observed = match changed.first() {
        None => shown(codes),
        Some((from, to)) => {
            format!("{} of {} differ, first 0x{from:02X} is 0x{to:02X}", changed.len(), wanted.len())
        }
    };
    // What NaN and Inf become on the way through another format is anybody's.
    let numbers: Vec<u8> = wanted.iter().copied().map(through_e5m2).collect();
    let is_rounded = || {
        let all = codes.iter().zip(&numbers).zip(wanted);
        all.clone().all(|((code, number), wanted)| code == number || wanted & 0x78 == 0x78)
    };
    let answer = if changed.is_empty() {
        KEPT
    } else if is_rounded() {
        "rounds every code to two mantissa bits"
    } else {
        "changes codes"
    };
    Finding { answer: answer.to_owned(), observed }
}

/// A code converted to e5m2 and back.
fn through_e5m2(code: u8) -> u8 {
    let convert = |from: Format, to, code| {
        let value = f32::from_bits(from.decode_bits(code));
        Encoder { format: to, rounding: Rounding::NearestEven, clip: true }.encode(value)
    };
    convert(Format::E5M2, Format::E4M3FN, convert(Format::E4M3FN, Format::E5M2, code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_conversion_costs_is_seen() {
        let wanted = rows_of_codes();
        let answer = |change: fn(u8) -> u8| {
            judged(&wanted.iter().copied().map(change).collect::<Vec<_>>(), &wanted).answer
        };
        assert_eq!(answer(|code| code), KEPT);
        assert_eq!(answer(through_e5m2), "rounds every code to two mantissa bits");
        assert_eq!(answer(|code| if code == 0x80 { 0 } else { code }), "changes codes");
        // 1.125 is between 1.0 and 1.25, and 1.0 is even.
        assert_eq!((through_e5m2(0x38), through_e5m2(0x39), through_e5m2(0x3B)), (0x38, 0x38, 0x3C));
    }
}
