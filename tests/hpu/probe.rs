//! `gaudi-kv devices --probe` over the emulator.
//!
//! The answers expected are those of the vendor's sources and tests, written down here by hand.

#![cfg(feature = "cli")]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::{json, program, refused};

const REFUSED: &str = "refused by the compiler";
const KEPT: &str = "keeps all 256 codes";
const TWICE: &str = "scale to bfloat16, product to bfloat16, then to FP8";
const NAN: &str = "0x7FFF, whatever the input";

/// Names, and the answers of a Gaudi2 and a Gaudi3.
const ANSWERS: [(&str, &str, &str); 27] = [
    ("mme-operand-range", "Inf, then NaN: up to 240", "256 to 448, then NaN: up to 448"),
    ("convert-training", "saturates at 240, Inf too", "saturates at 448, Inf too"),
    ("convert-inference", "saturates at 240, Inf too", "saturates at 448, Inf too"),
    ("cast-plain", "Inf beyond 240", "NaN beyond 448"),
    ("cast-nearest", "Inf beyond 240", "NaN beyond 448"),
    ("cast-clip", "saturates at 240, Inf too", "saturates at 448, Inf too"),
    ("rounding-scalar", TWICE, TWICE),
    ("rounding-vector", TWICE, TWICE),
    ("rounding-constant", TWICE, TWICE),
    ("scale-by-head", "each its own", "each its own"),
    ("scale-by-row", "each its own", "each its own"),
    ("gather-hf8", REFUSED, REFUSED),
    ("gather-i8", KEPT, KEPT),
    ("index-copy-hf8", REFUSED, REFUSED),
    ("index-copy-i8", KEPT, KEPT),
    ("scatter-hf8", REFUSED, REFUSED),
    ("mixed-product", REFUSED, REFUSED),
    ("dynamic-fp8", "taken by the compiler", "taken by the compiler"),
    ("sums-fp8", "Gaudi2's, bit for bit", "Gaudi3's, bit for bit"),
    ("sums-bf16", "Gaudi2's, bit for bit", "Gaudi3's, bit for bit"),
    ("compare-repeats", "repeated; true is 1", "repeated; true is 1"),
    ("where-repeats", "repeated", "repeated"),
    ("exp-bits", "the same bits", "the same bits"),
    ("tanh-bits", "the same bits", "the same bits"),
    ("nan-from-f32", NAN, NAN),
    ("nan-from-fp8", NAN, NAN),
    ("fp8-pair-constant", "it is rounded", "it is rounded"),
];

/// Those that come after.
const MORE: [(&str, &str); 3] =
    [("fp8-pair-operand", "it is rounded"), ("bf16-pair", "it is rounded"), ("completion", "yes, each time")];

fn expected(generation: &str) -> Vec<(String, String)> {
    let both = ANSWERS
        .iter()
        .map(|(name, second, third)| (*name, if generation == "gaudi2" { *second } else { *third }));
    both.chain(MORE).map(|(name, answer)| (name.to_owned(), answer.to_owned())).collect()
}

fn text(answer: &Value, key: &str) -> String {
    answer[key].as_str().unwrap_or_else(|| panic!("{key}: {answer}")).to_owned()
}

/// Names and answers in order. Every answer must say what was asked and seen, and compare itself with the emulation.
fn probe(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let answers = json(&program(&["devices", "--probe", "--json"], variables));
    let generation =
        variables.iter().find(|(name, _)| *name == "SYNAPSE_EMU_DEVICE").map_or("gaudi2", |(_, value)| value);
    let emulated: BTreeMap<_, _> = expected(generation).into_iter().collect();
    let answers = answers.as_array().unwrap().iter().map(|answer| {
        let (name, said) = (text(answer, "name"), text(answer, "answer"));
        assert!(text(answer, "question").ends_with('?') && !text(answer, "observed").is_empty(), "{answer}");
        assert_eq!(text(answer, "expected_by_emulation"), emulated[&name]);
        assert_eq!(answer["agrees"], said == emulated[&name], "{answer}");
        assert_eq!(answer.as_object().unwrap().len(), 6);
        (name, said)
    });
    answers.collect()
}

/// What differs from the emulation.
fn differences(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let expected = expected("gaudi2");
    let probed = probe(variables);
    assert_eq!(probed.len(), expected.len());
    probed.into_iter().zip(expected).filter(|(a, b)| a != b).map(|(answer, _)| answer).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn every_question_has_the_answer_of_the_vendors_sources() {
    for generation in ["gaudi2", "gaudi3"] {
        assert_eq!(probe(&[("SYNAPSE_EMU_DEVICE", generation)]), expected(generation));
    }
}

#[test]
fn a_device_that_answers_otherwise_differs() {
    let has_kernels = [("SYNAPSE_EMU_HF8_KERNELS", "1")];
    let kept = pairs(&[("gather-hf8", KEPT), ("index-copy-hf8", KEPT), ("scatter-hf8", KEPT)]);
    assert_eq!(differences(&has_kernels), kept);
    // The matrix engine's sums in float32 are neither generation's.
    let fast = differences(&[("SYNAPSE_EMU_MODE", "fast")]);
    assert_eq!(fast.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["sums-fp8", "sums-bf16"]);
    let output = program(&["devices", "--probe"], &has_kernels);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("gaudi2, SynapseAI "), "{text}");
    assert!(text.contains("gather-hf8: Is there a gather_fwd_hf8, and does it keep every code?"), "{text}");
    assert_eq!(text.matches("  DIFFERS   the emulation: refused by the compiler\n").count(), 3, "{text}");
    assert!(text.ends_with("\n27 of 30 answers are those of the emulation\n"), "{text}");
}

/// A fault, and short silence: data is awaited without a call.
fn late(fault: &str) -> [(&str, &str); 2] {
    [("SYNAPSE_EMU_FAULT", fault), ("SYNAPSE_EMU_SILENCE", "5ms")]
}

#[test]
fn late_data_is_seen_and_spoils_no_other_answer() {
    for (fault, answer) in [
        ("late-completion=3ms", "no: copies came later"),
        ("late-launch=3ms", "no: results came later than their copy"),
    ] {
        assert_eq!(differences(&late(fault)), pairs(&[("completion", answer)]), "{fault}");
    }
    assert_eq!(differences(&late("late-upload=3ms")), []);
}

#[test]
fn a_question_that_fails_stops_no_other() {
    // The first compilation is that of the mark.
    let failed = differences(&[("SYNAPSE_EMU_FAULT", "fail=synGraphCompile:2")]);
    assert_eq!(failed, pairs(&[("mme-operand-range", REFUSED)]));
    let fault = [("SYNAPSE_EMU_FAULT", "fail=synLaunch:1")];
    assert_eq!(differences(&fault), pairs(&[("mme-operand-range", "not answered")]));
    let answers = json(&program(&["devices", "--probe", "--json"], &fault));
    let observed = text(&answers[0], "observed");
    assert!(observed.starts_with("synLaunch (recipe probe) returned synFail (26)"), "{observed}");
    // What cannot be given back belongs to the question that it was for.
    let fault = [("SYNAPSE_EMU_FAULT", "fail=synRecipeDestroy:1")];
    assert_eq!(differences(&fault), pairs(&[("mme-operand-range", "not answered")]));
}

#[test]
fn a_refusal_names_the_call() {
    let answers = json(&program(&["devices", "--probe", "--json"], &[]));
    let mixed = answers.as_array().unwrap().iter().find(|answer| answer["name"] == "mixed-product").unwrap();
    assert!(
        text(mixed, "observed").starts_with("synNodeCreateWithId (batch_gemm) returned synFail (26)"),
        "{mixed}"
    );
}

#[test]
fn without_a_device_there_is_nothing_to_probe() {
    let said = refused(&["devices", "--probe"], &[("GAUDI_KV_SYNAPSE", "/nowhere/libSynapse.so")]);
    assert!(said.contains("no SynapseAI library"), "{said}");
    let said = refused(&["devices", "--probe", "--module", "5"], &[]);
    assert!(said.contains("module 5"), "{said}");
    let said = refused(&["devices", "--module", "0"], &[]);
    assert!(said.contains("--probe"), "{said}");
}
