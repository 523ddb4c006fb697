//! Configs that are valid JSON and say what cannot be: exit code 2, and the file and the key are named.

use serde_json::{Value, json};

use crate::inspect::builder::Checkpoint;
use crate::inspect::program::{Run, inspect};

const K: &str = "model.layers.0.self_attn.k_scale";

fn with(key: &str, value: Value) -> Run {
    inspect(Checkpoint::gqa(2).scale(K, 0.05).set(key, value).write().path(), &["--json"])
}

#[track_caller]
fn assert_refused(key: &str, value: Value) {
    with(key, value).assert_refused(&["config.json", key]);
}

#[test]
fn a_config_without_layers_is_refused() {
    assert_refused("num_hidden_layers", json!(0));
    let folder = Checkpoint::with_config(json!({})).write();
    inspect(folder.path(), &[]).assert_refused(&["config.json", "num_hidden_layers"]);
}

#[test]
fn absurd_layer_counts_are_refused() {
    for count in
        [json!(100_001), json!(4_294_967_295_u64), json!(18_446_744_073_709_551_615_u64), json!(1e30)]
    {
        assert_refused("num_hidden_layers", count);
    }
    assert_refused("num_nextn_predict_layers", json!(100_000));
    assert_refused("num_nextn_predict_layers", json!(18_446_744_073_709_551_615_u64));
    assert_refused("num_kv_shared_layers", json!(3));
}

/// What must be a count is a whole number.
#[test]
fn counts_of_another_type_are_refused() {
    for key in [
        "num_hidden_layers",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "hidden_size",
        "kv_lora_rank",
        "qk_rope_head_dim",
        "num_nextn_predict_layers",
        "num_kv_shared_layers",
        "full_attention_interval",
        "attn_layer_period",
        "num_global_key_value_heads",
    ] {
        for value in [json!("2"), json!(2.5), json!(-1), json!(true), json!({}), json!("")] {
            assert_refused(key, value);
        }
    }
    for value in [json!("x"), json!(-1), json!([])] {
        let folder = Checkpoint::gqa(2).set("attn_layer_period", 2).set("attn_layer_offset", value).write();
        inspect(folder.path(), &[]).assert_refused(&["config.json", "attn_layer_offset"]);
    }
}

#[test]
fn lists_of_another_type_are_refused() {
    for key in ["layer_types", "layers_block_type", "attention_types", "block_types"] {
        for value in
            [json!(5), json!("full_attention"), json!([1, 2]), json!({"0": "full_attention"}), json!(true)]
        {
            assert_refused(key, value);
        }
    }
    for key in ["attn_layer_indices", "attn_type_list", "full_attn_idxs", "hybrid_layer_ids"] {
        for value in [json!(5), json!(["0"]), json!([-1]), json!([0.5])] {
            assert_refused(key, value);
        }
    }
    assert_refused("num_key_value_heads", json!([4, "4"]));
}

#[test]
fn lists_that_are_too_short_are_refused() {
    assert_refused("layer_types", json!(["full_attention"]));
    assert_refused("layer_types", json!([]));
    assert_refused("hybrid_override_pattern", json!("*"));
    assert_refused("attn_type_list", json!([1]));
    assert_refused("num_key_value_heads", json!([]));
}

/// Inspection can do without the length of a window.
#[test]
fn a_window_of_another_type_is_a_warning() {
    for value in [json!("2"), json!(2.5), json!({}), json!("")] {
        let report = Checkpoint::gqa(2).scale(K, 0.05).set("sliding_window", value).gaudi2();
        assert!(report.warnings().iter().any(|(code, _)| *code == "window-unknown"));
        assert_eq!(report.layers(), [0, 1]);
    }
}

/// A switch that decides on the kind of a cache is true or false.
#[test]
fn switches_of_another_type_are_refused() {
    let refused = |model: Checkpoint, key: &str| {
        for value in [json!("false"), json!(2), json!([]), json!({})] {
            let folder = model.clone().set(key, value).write();
            inspect(folder.path(), &[]).assert_refused(&["config.json", key]);
        }
    };
    refused(Checkpoint::mla(1), "use_mla");
    refused(Checkpoint::gqa(2).set("sliding_window", 128), "use_sliding_window");
    refused(Checkpoint::gqa(2).set("cla_share_factor", 2), "use_cla");
    refused(Checkpoint::gqa(2).set("num_key_value_heads", json!(null)), "multi_query");
}

#[test]
fn patterns_and_objects_of_another_type_are_refused() {
    for value in [json!(5), json!(["*", "*"]), json!({})] {
        assert_refused("hybrid_override_pattern", value);
    }
    for value in [json!(5), json!("x"), json!({}), json!([5, 5])] {
        assert_refused("block_configs", value);
    }
    for value in [json!(5), json!([]), json!({"full_attn_layers": 5}), json!({"full_attn_layers": ["1"]})] {
        assert_refused("linear_attn_config", value);
    }
}

/// A quantization config that is no object declares nothing that anyone could follow.
#[test]
fn a_quantization_config_that_is_no_object_is_refused() {
    for key in ["quantization_config", "compression_config"] {
        for value in [json!("fp8"), json!(["fp8"]), json!(8), json!(true)] {
            assert_refused(key, value);
        }
    }
}

/// Null is absent everywhere.
#[test]
fn null_is_absent() {
    let model = [
        "layer_types",
        "kv_lora_rank",
        "sliding_window",
        "num_nextn_predict_layers",
        "num_kv_shared_layers",
        "hybrid_override_pattern",
        "block_configs",
        "linear_attn_config",
        "use_mla",
        "use_sliding_window",
        "full_attention_interval",
        "compression_config",
        "text_config",
        "architectures",
        "model_type",
    ];
    let text = Checkpoint::gqa(1).scale(K, 0.05).write();
    let mut config: Value =
        serde_json::from_slice(&std::fs::read(text.path().join("config.json")).unwrap()).unwrap();
    for key in model {
        config[key] = Value::Null;
    }
    std::fs::write(text.path().join("config.json"), config.to_string()).unwrap();
    let run = inspect(text.path(), &["--json"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Keys that name things for people may be anything.
#[test]
fn names_of_another_type_are_no_obstacle() {
    for (key, value) in [
        ("architectures", json!(5)),
        ("architectures", json!([])),
        ("architectures", json!([5])),
        ("model_type", json!(["llama"])),
    ] {
        let run = with(key, value);
        assert_eq!(run.code, 0, "{run:?}");
    }
}

/// Schemes that nobody knows are errors of the model, not of the file.
#[test]
fn schemes_of_another_type_are_errors_of_the_model() {
    for (key, value) in [
        ("kv_cache_scheme", json!(8)),
        ("kv_cache_scheme", json!(["fp8"])),
        ("kv_cache_scheme", json!("int8")),
        ("kv_cache_scheme", json!({"num_bits": "8", "type": "float"})),
        ("kv_cache_quant_algo", json!({"name": "FP8"})),
    ] {
        let quant = json!({"quant_method": "modelopt", key: value});
        let run = inspect(Checkpoint::gqa(1).scale(K, 0.05).quant(quant).write().path(), &["--json"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(run.json()["errors"][0]["code"], "kv-scheme-unsupported");
    }
}

/// As many layers as a config may have, with lists and tables as long.
#[test]
fn the_largest_configs_are_read() {
    use gaudi_kv::checkpoint::{Findings, ModelFolder, TensorParallel};
    let layers = 100_000;
    let kinds: Vec<String> = (0..layers).map(|i| format!("kind {i}")).collect();
    let table: serde_json::Map<String, Value> = (0..layers).map(|i| (i.to_string(), json!(0.5))).collect();
    let folder = Checkpoint::gqa(layers)
        .set("layer_types", kinds)
        .set("num_kv_shared_layers", layers / 2)
        .json("kv_cache_scales.json", &json!({"scaling_factor": {"0": table, "1": table}}))
        .write();
    let opened = ModelFolder::open(folder.path()).unwrap();
    let scales = opened.sidecar_scales(TensorParallel::default(), &mut Findings::default()).unwrap();
    assert_eq!((opened.layers().cached.len(), scales.len()), (layers, layers));
    let all: Vec<usize> = (0..layers).collect();
    ModelFolder::open(Checkpoint::gqa(layers).set("attn_layer_indices", all).write().path()).unwrap();
}
