//! Damaged JSON files, shard indexes and scale files: exit code 2, and the file and the key are named.

use serde_json::{Value, json};

use crate::inspect::builder::Checkpoint;
use crate::inspect::program::{Run, inspect};

const INDEX: &str = "model.safetensors.index.json";
const K: &str = "model.layers.0.self_attn.k_scale";

/// Every JSON file that is read when it is there.
const FILES: [&str; 6] = [
    "config.json",
    "hf_quant_config.json",
    "quantization_config.json",
    "quant_model_description.json",
    "kv_cache_scales.json",
    "x_hooks_maxabs_0_1.json",
];

fn with(name: &str, content: impl Into<Vec<u8>>) -> Run {
    inspect(Checkpoint::gqa(1).scale(K, 0.05).file(name, content).write().path(), &[])
}

#[test]
fn invalid_json_is_refused_in_every_file() {
    for file in FILES.into_iter().chain([INDEX]) {
        for content in
            ["", "{", "{\"a\": }", "{} {}", "{'a': 1}", "\u{feff}{}", "{\"a\": 01}", "{\"a\": 1e999}"]
        {
            with(file, content).assert_refused(&[file]);
        }
    }
}

#[test]
fn a_top_level_that_is_no_object_is_refused_in_every_file() {
    for file in FILES.into_iter().chain([INDEX]) {
        for content in ["null", "[]", "5", "\"text\""] {
            with(file, content).assert_refused(&[file]);
        }
    }
}

#[test]
fn invalid_utf8_is_refused_in_every_file() {
    for file in FILES.into_iter().chain([INDEX]) {
        with(file, b"{\"a\": \"\xFF\xFE\"}").assert_refused(&[file]);
    }
}

#[test]
fn repeated_keys_are_refused_in_every_file() {
    for file in FILES {
        with(file, r#"{"x": {"key": 1, "key": 1}}"#).assert_refused(&[file, "key", "twice"]);
    }
}

#[test]
fn deep_nesting_is_refused_in_every_file() {
    for file in FILES.into_iter().chain([INDEX]) {
        with(file, "{\"a\":".repeat(100_000)).assert_refused(&[file]);
        with(file, "[".repeat(100_000)).assert_refused(&[file]);
    }
}

fn with_index(index: &Value) -> Run {
    with(INDEX, index.to_string())
}

fn map(file: &str) -> Value {
    json!({"metadata": {}, "weight_map": {K: file}})
}

#[test]
fn a_good_index_is_read() {
    let run = with_index(&map("model.safetensors"));
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn an_index_that_names_missing_shards_is_refused() {
    with_index(&map("model-00001-of-00002.safetensors"))
        .assert_refused(&[INDEX, "model-00001-of-00002.safetensors"]);
}

#[test]
fn an_index_that_names_missing_tensors_is_refused() {
    let index = json!({"weight_map": {"model.layers.5.mlp.weight": "model.safetensors"}});
    with_index(&index).assert_refused(&[INDEX, "model.layers.5.mlp.weight", "model.safetensors"]);
}

#[test]
fn an_index_that_leads_out_of_the_folder_is_refused() {
    for file in [
        "../model.safetensors",
        "/etc/passwd",
        "/dev/zero",
        "sub/model.safetensors",
        "..",
        ".",
        "",
        "./../x.safetensors",
        "model.safetensors/",
        "model.safetensors/../model.safetensors",
        "model.safetensors\u{0}",
    ] {
        with_index(&map(file)).assert_refused(&[INDEX]);
    }
}

#[test]
fn an_index_of_the_wrong_shape_is_refused() {
    for index in [
        json!({}),
        json!({"weight_map": null}),
        json!({"weight_map": []}),
        json!({"weight_map": {}}),
        json!({"weight_map": {K: 5}}),
        json!({"weight_map": {K: ["model.safetensors"]}}),
    ] {
        with_index(&index).assert_refused(&[INDEX]);
    }
}

#[test]
fn an_index_that_repeats_a_tensor_is_refused() {
    let twice = format!(r#"{{"weight_map": {{"{K}": "model.safetensors", "{K}": "model.safetensors"}}}}"#);
    with(INDEX, twice).assert_refused(&[INDEX, K, "twice"]);
    with(INDEX, r#"{"weight_map": {}, "weight_map": {}}"#).assert_refused(&[INDEX, "weight_map"]);
}

#[test]
fn an_index_that_names_a_folder_is_refused() {
    let folder = Checkpoint::gqa(1).json(INDEX, &map("x.safetensors")).write();
    std::fs::create_dir(folder.path().join("x.safetensors")).unwrap();
    inspect(folder.path(), &[]).assert_refused(&["x.safetensors"]);
}

#[test]
fn scale_tables_of_the_wrong_shape_are_refused() {
    for (table, word) in [
        (json!({"kv_cache": {}}), "scaling_factor"),
        (json!({"scaling_factor": []}), "scaling_factor"),
        (json!({"scaling_factor": {"0": 5}}), "scaling_factor.0"),
        (json!({"scaling_factor": {"zero": {"0": 0.5}}}), "zero"),
        (json!({"scaling_factor": {"0": {"first": 0.5}}}), "scaling_factor.0.first"),
        (json!({"scaling_factor": {"0": {"0": "0.5"}}}), "scaling_factor.0.0"),
        (json!({"scaling_factor": {"0": {"0": null}}}), "scaling_factor.0.0"),
        (json!({"scaling_factor": {"0": {"0": [0.5]}}}), "scaling_factor.0.0"),
        (json!({"scaling_factor": {"0": {"0": [0.5, 0.5, 0.5]}}}), "scaling_factor.0.0"),
        (json!({"kv_cache": {"dtype": "float8_e5m2", "scaling_factor": {"0": {"0": 0.5}}}}), "dtype"),
        (json!({"kv_cache": {"dtype": 8, "scaling_factor": {"0": {"0": 0.5}}}}), "dtype"),
        (json!({"scales": {}}), "scales"),
        (json!({"scales": {"k_scales": 5}}), "k_scales"),
        (json!({"scales": {"k_scales": ["x"]}}), "k_scales"),
    ] {
        with("kv_cache_scales.json", table.to_string()).assert_refused(&["kv_cache_scales.json", word]);
    }
}

#[test]
fn inc_files_of_the_wrong_shape_are_refused() {
    let k_cache = "model.layers.0.self_attn.attn.impl.k_cache";
    for (file, word) in [
        (json!({"Nodes": {}}), "Mode"),
        (json!({"Mode": "Guess", "Nodes": {}}), "Mode"),
        (json!({"Mode": "Scale"}), "Nodes"),
        (json!({"Mode": "Scale", "Nodes": []}), "Nodes"),
        (json!({"Mode": "Scale", "Nodes": {k_cache: {}}}), k_cache),
        (json!({"Mode": "Scale", "Nodes": {k_cache: {"inputs": []}}}), k_cache),
        (json!({"Mode": "Scale", "Nodes": {k_cache: {"inputs": "x"}}}), k_cache),
        (json!({"Mode": "Scale", "Nodes": {k_cache: {"inputs": [[[[[[0.5]]]]]]}}}), k_cache),
    ] {
        with("x_hooks_maxabs_0_1.json", file.to_string()).assert_refused(&["x_hooks_maxabs_0_1.json", word]);
    }
}
