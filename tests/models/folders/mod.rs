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
    check(
        "v03_quark_patterns",
        &[
            "compacted",
            "compacted_disagree",
            "compacted_int8",
            "group_without_config",
            "language_model_compacted",
            "whole",
            "whole_first_only",
        ],
    );
}

#[test]
fn v04_places() {
    check(
        "v04_places",
        &[
            "N_aligner-layers-attn",
            "N_conformer-layers-self_attn",
            "N_img_context_model-blocks-attn",
            "N_mlp_AR-layers-attn",
            "N_mm_whisper_embeddings-whisper_encoder-transformer-layers-attention",
            "N_model-image_tower-layers-self_attn",
            "N_model-sam_model-blocks-attn",
            "N_speech_tower-layers-self_attn",
            "N_tts-model-layers-self_attn",
            "T_base_model-model-model-layers-self_attn",
            "T_decoder-layers-self_attention-core_attention",
            "T_midlayer-self_attn",
            "T_model-layers-block-self_attn",
            "T_model-layers-self_attn-attention",
            "T_model-layers-shared_transformer-self_attn",
            "T_model-midlayer-self_attn",
        ],
    );
}

#[test]
fn v05_output_scales() {
    check("v05_output_scales", &["c_attn", "kv_b_proj", "qkv", "qkvz"]);
}
