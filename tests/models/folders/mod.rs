//! Small model folders after public configurations and bug reports, each with what a reader should get.
//!
//! A file of `tests/data/folders` is a group: `models` has the files and tensors of each folder and its `expect`, `seen_in`
//! says where the situation was met, `right` what is right.

mod compare;
mod unpack;

use std::path::PathBuf;

use serde_json::Value;

fn data() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", "folders"].iter().collect()
}

/// Holds every model of a group to its `expect`. Those that are listed do not hold yet: one that does must be taken off the
/// list.
#[track_caller]
fn check(group: &str, not_yet: &[&str]) {
    let text = std::fs::read_to_string(data().join(format!("{group}.json"))).unwrap();
    let group: Value = serde_json::from_str(&text).unwrap();
    let models = group["models"].as_object().unwrap();
    let mut wrong: Vec<String> = Vec::new();
    for (name, model) in models {
        let folder = tempfile::tempdir().unwrap();
        unpack::unpack(model, folder.path());
        let expect = model.get("expect").unwrap_or_else(|| panic!("{name} has no expect"));
        let failures = compare::failures(folder.path(), expect);
        match (failures.as_slice(), not_yet.contains(&name.as_str())) {
            ([], false) | ([_, ..], true) => {}
            ([], true) => wrong.push(format!("{name} holds now")),
            (failures, false) => wrong.push(format!("{name}: {}", failures.join("; "))),
        }
    }
    wrong.extend(not_yet.iter().filter(|name| !models.contains_key(**name)).map(|name| format!("no {name}")));
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), models.len(), wrong.join("\n"));
}

#[test]
fn every_group_has_a_test() {
    let tests = include_str!("mod.rs");
    for entry in std::fs::read_dir(data()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let group = name.strip_suffix(".json").unwrap();
        assert!(tests.contains(&format!("fn {group}()")), "{group} has no test");
    }
}

#[test]
fn v03_quark_patterns() {
    check("v03_quark_patterns", &[]);
}

#[test]
fn v04_places() {
    check("v04_places", &[]);
}

#[test]
fn v05_output_scales() {
    check("v05_output_scales", &[]);
}

#[test]
fn d01_qwen3_next_mtp() {
    check("d01_qwen3_next_mtp", &["scales"]);
}

#[test]
fn d02_mimo_mtp() {
    check("d02_mimo_mtp", &["model"]);
}

#[test]
fn d04_eagle3() {
    check("d04_eagle3", &["speculators"]);
}

#[test]
fn h14_deepseek_v4() {
    check("h14_deepseek_v4", &["hf_names", "k_only", "v41_shared"]);
}

#[test]
fn h17_whisper_turbo() {
    check("h17_whisper_turbo", &["new_config", "old_config"]);
}

#[test]
fn h18_mllama_cross() {
    check("h18_mllama_cross", &["fp8_weights", "scales", "self_only"]);
}

#[test]
fn h24_encoder_decoder_configs() {
    check("h24_encoder_decoder_configs", &["bart", "bart_4x", "cohere_asr", "nemotron_parse", "t5"]);
}

#[test]
fn q01_quark_layer_patterns() {
    check("q01_quark_layer_patterns", &[]);
}

#[test]
fn q02_quark_mla() {
    check("q02_quark_mla", &[]);
}

#[test]
fn q03_modelopt_shapes() {
    check("q03_modelopt_shapes", &[]);
}

#[test]
fn q04_ct_schemes() {
    check("q04_ct_schemes", &[]);
}

#[test]
fn q05_ignored_layers() {
    check("q05_ignored_layers", &[]);
}

#[test]
fn q06_llama4_vision_scales() {
    check("q06_llama4_vision_scales", &[]);
}

#[test]
fn q07_index_overlay() {
    check("q07_index_overlay", &[]);
}

#[test]
fn q12_inc_multimodal() {
    check("q12_inc_multimodal", &[]);
}

#[test]
fn q14_wrapped_and_fused_names() {
    check("q14_wrapped_and_fused_names", &[]);
}

#[test]
fn s08_meaning_of_numbers() {
    check("s08_meaning_of_numbers", &[]);
}
