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
    check("d01_qwen3_next_mtp", &[]);
}

#[test]
fn d02_mimo_mtp() {
    check("d02_mimo_mtp", &[]);
}

#[test]
fn d04_eagle3() {
    check("d04_eagle3", &[]);
}

#[test]
fn h14_deepseek_v4() {
    check("h14_deepseek_v4", &[]);
}

#[test]
fn h17_whisper_turbo() {
    check("h17_whisper_turbo", &[]);
}

#[test]
fn h18_mllama_cross() {
    check("h18_mllama_cross", &[]);
}

#[test]
fn h24_encoder_decoder_configs() {
    check("h24_encoder_decoder_configs", &[]);
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

#[test]
fn v01_head_keys() {
    check("v01_head_keys", &[]);
}

#[test]
fn v02_layer_rules() {
    check("v02_layer_rules", &[]);
}

#[test]
fn h01_gemma3_original() {
    check("h01_gemma3_original", &[]);
}

#[test]
fn h02_pixtral_default_heads() {
    check("h02_pixtral_default_heads", &[]);
}

#[test]
fn h03_mimo_v2_flash() {
    check("h03_mimo_v2_flash", &[]);
}

#[test]
fn h04_inkling() {
    check("h04_inkling", &[]);
}

#[test]
fn h10_exaone_pattern() {
    check("h10_exaone_pattern", &[]);
}

#[test]
fn h12_glm53_nope() {
    check("h12_glm53_nope", &[]);
}

#[test]
fn h15_chatglm() {
    check("h15_chatglm", &[]);
}

#[test]
fn h21_gemma4_per_layer_config() {
    check("h21_gemma4_per_layer_config", &[]);
}

#[test]
fn h22_nemotron_h_saved() {
    check("h22_nemotron_h_saved", &[]);
}

#[test]
fn h23_pure_mamba() {
    check("h23_pure_mamba", &[]);
}

#[test]
fn d05_looped() {
    check("d05_looped", &[]);
}

#[test]
fn q08_gemma4_shared_qat() {
    check("q08_gemma4_shared_qat", &[]);
}

#[test]
fn q09_kimi_k3() {
    check("q09_kimi_k3", &[]);
}

#[test]
fn q10_muse_glimmer() {
    check("q10_muse_glimmer", &[]);
}

#[test]
fn q11_minimax_m3() {
    check("q11_minimax_m3", &[]);
}

#[test]
fn q13_hybrid_order() {
    check("q13_hybrid_order", &[]);
}

#[test]
fn c01_softmax_scale() {
    check("c01_softmax_scale", &[]);
}
