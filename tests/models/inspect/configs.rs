//! Every shape in which a config declares a KV cache, C1 to C17. S-12, S-13, I-26.

use serde_json::{Value, json};

use crate::inspect::builder::{Checkpoint, compressed_tensors, tensor_scheme};
use crate::inspect::report::{Report, on_gaudi3};

const K: &str = "model.layers.0.self_attn.k_scale";

fn model() -> Checkpoint {
    Checkpoint::gqa(1).no_quant().scale(K, 0.05)
}

#[track_caller]
fn assert_fp8(report: &Report, strategy: &str) {
    report.assert_clean();
    assert_eq!(report.0["kv_cache_dtype"], "fp8");
    assert_eq!(report.0["quantization"]["kv_cache_scheme"], "fp8");
    assert_eq!(report.0["quantization"]["strategy"], strategy);
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
}

#[track_caller]
fn assert_none(report: &Report) {
    report.assert_clean();
    assert_eq!(report.0["kv_cache_dtype"], "bf16");
    assert_eq!(report.0["quantization"]["kv_cache_scheme"], Value::Null);
    assert!(report.of_layer(0, "k").is_null());
}

/// The scheme is none that this backend has: an error, unless the cache is bf16.
#[track_caller]
fn assert_unsupported(quant: Value) {
    use gaudi_kv::scales::{CacheDtypeRequest, Options};
    let options = |kv_cache_dtype| Options { kv_cache_dtype, ..Options::new(gaudi_kv::Generation::Gaudi3) };
    let model = model().quant(quant);
    for request in [CacheDtypeRequest::Auto, CacheDtypeRequest::Fp8] {
        let report = model.inspect(&options(request));
        assert_eq!(report.errors(), [("kv-scheme-unsupported", None)], "{}", report.0);
    }
    let report = model.inspect(&options(CacheDtypeRequest::Bf16));
    assert!(report.errors().is_empty(), "{}", report.0);
}

/// C1, C2
#[test]
fn compressed_tensors_declares_by_scheme() {
    assert_fp8(&model().quant(compressed_tensors()).gaudi3(), "tensor");
    let mut heads = compressed_tensors();
    heads["kv_cache_scheme"]["strategy"] = json!("attn_head");
    assert_fp8(&model().quant(heads).gaudi3(), "attn_head");
    let mut none = compressed_tensors();
    none["kv_cache_scheme"] = json!(null);
    assert_none(&model().quant(none).gaudi3());
}

/// C1: what compressed-tensors could declare and this backend has not.
#[test]
fn other_schemes_of_compressed_tensors_are_unsupported() {
    let with = |key: &str, value: Value| {
        let mut quant = compressed_tensors();
        quant["kv_cache_scheme"][key] = value;
        assert_unsupported(quant);
    };
    with("num_bits", json!(4));
    with("num_bits", json!(16));
    with("type", json!("int"));
    with("symmetric", json!(false));
    with("dynamic", json!(true));
    with("strategy", json!("channel"));
    with("strategy", json!("group"));
    with("strategy", json!("token"));
}

/// C3
#[test]
fn groups_that_target_the_attention_declare_fp8() {
    let group = |targets: Value| {
        let mut quant = compressed_tensors();
        quant["kv_cache_scheme"] = json!(null);
        quant["config_groups"] =
            json!({"group_0": {"targets": targets, "weights": null, "input_activations": tensor_scheme()}});
        model().quant(quant).gaudi3()
    };
    assert_fp8(&group(json!(["LlamaAttention"])), "tensor");
    assert_fp8(&group(json!(["re:.*self_attn$"])), "tensor");
    assert_none(&group(json!(["Linear"])));
    assert_none(&group(json!(["re:.*self_attn.o_proj$"])));
}

/// C4
#[test]
fn the_older_key_of_compressed_tensors_is_read() {
    assert_fp8(&model().set("compression_config", compressed_tensors()).gaudi3(), "tensor");
}

/// C5
#[test]
fn native_fp8_declares_by_a_word_or_not_at_all() {
    let native = json!({"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ["lm_head"]});
    let mut declared = native.clone();
    declared["kv_cache_scheme"] = json!("static");
    assert_fp8(&model().quant(declared).gaudi3(), "tensor");
    // Scale tensors alone declare nothing.
    let report = model().quant(native).gaudi3();
    assert_none(&report);
    assert_eq!(report.notes(), [("scales-not-used", None)]);
}

/// C6
#[test]
fn flat_modelopt_declares_by_scheme() {
    let scheme = json!({"dynamic": false, "num_bits": 8, "type": "float"});
    let quant = json!({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_scheme": scheme, "ignore": ["lm_head"],
                       "producer": {"name": "modelopt", "version": "0.37.0"}});
    assert_fp8(&model().quant(quant).gaudi3(), "tensor");
}

/// C6b, S-12
#[test]
fn flat_modelopt_declares_by_a_string_in_any_case() {
    for (key, value) in [
        ("kv_cache_scheme", "FP8"),
        ("kv_cache_scheme", "fp8"),
        ("kv_cache_quant_algo", "FP8"),
        ("kv_cache_quant_algo", "Fp8"),
    ] {
        let quant = json!({"quant_method": "modelopt", "quant_algo": "FP8", key: value});
        assert_fp8(&model().quant(quant).gaudi3(), "tensor");
    }
}

fn hf_quant_config(algo: &Value) -> Value {
    json!({"producer": {"name": "modelopt", "version": "0.29.0"},
           "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": algo, "group_size": 16}})
}

/// C7
#[test]
fn hf_quant_config_counts_where_config_json_has_none() {
    let report = model().json("hf_quant_config.json", &hf_quant_config(&json!("FP8"))).gaudi3();
    assert_fp8(&report, "tensor");
    assert_none(&model().json("hf_quant_config.json", &hf_quant_config(&json!(null))).gaudi3());
    for algo in ["NVFP4", "NVFP4_AFFINE", "INT8"] {
        let report = model().json("hf_quant_config.json", &hf_quant_config(&json!(algo))).gaudi3();
        assert_eq!(report.errors(), [("kv-scheme-unsupported", None)], "{algo}");
        assert_eq!(report.0["kv_cache_dtype"], "bf16");
    }
}

/// C7: the config in config.json wins, and the disagreement is warned of.
#[test]
fn config_json_beats_hf_quant_config() {
    let report = model()
        .quant(json!({"quant_method": "modelopt", "quant_algo": "NVFP4"}))
        .json("hf_quant_config.json", &hf_quant_config(&json!("FP8")))
        .gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("configs-disagree", None)], vec![]));
    assert_eq!(report.0["kv_cache_dtype"], "bf16");
}

/// C8
#[test]
fn nested_modelopt_in_config_json_is_read() {
    let quant = json!({"quant_method": "modelopt", "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}});
    assert_fp8(&model().quant(quant).gaudi3(), "tensor");
}

fn quark(k: Value, v: Value) -> Value {
    json!({"quant_method": "quark", "export": {"kv_cache_group": ["*k_proj", "*v_proj"], "pack_method": "reorder"},
           "layer_quant_config": {"*k_proj": {"output_tensors": k}, "*v_proj": {"output_tensors": v}},
           "global_quant_config": {"output_tensors": null}})
}

/// C9
#[test]
fn quark_declares_by_its_kv_cache_group() {
    let fp8 = json!({"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": false});
    assert_fp8(&model().quant(quark(fp8.clone(), fp8.clone())).gaudi3(), "tensor");
    let mut channel = fp8.clone();
    channel["qscheme"] = json!("per_channel");
    assert_unsupported(quark(channel.clone(), channel.clone()));
    let mut dynamic = fp8.clone();
    dynamic["is_dynamic"] = json!(true);
    assert_unsupported(quark(dynamic.clone(), dynamic));
    let int8 = json!({"dtype": "int8", "qscheme": "per_tensor", "is_dynamic": false});
    assert_unsupported(quark(int8.clone(), int8.clone()));
    // All specs of the group must be the same.
    let report = model().quant(quark(fp8, int8)).gaudi3();
    assert_eq!(report.errors(), [("kv-scheme-contradiction", None)]);
}

/// S-13
#[test]
fn quark_without_a_group_declares_nothing() {
    let fp8 = json!({"dtype": "fp8_e4m3", "qscheme": "per_tensor", "is_dynamic": false});
    for group in [json!(null), json!([])] {
        let mut quant = quark(fp8.clone(), fp8.clone());
        quant["export"]["kv_cache_group"] = group;
        assert_none(&model().quant(quant).gaudi3());
    }
    let mut quant = quark(fp8.clone(), fp8);
    quant["export"].as_object_mut().unwrap().remove("kv_cache_group");
    assert_none(&model().quant(quant).gaudi3());
}

/// C10
#[test]
fn autoround_in_compressed_tensors_form_is_read() {
    let mut quant = compressed_tensors();
    quant["provider"] = json!("auto-round");
    quant["attention_input_activations"] =
        json!({"targets": ["LlamaAttention"], "input_activations": tensor_scheme()});
    assert_fp8(&model().quant(quant.clone()).gaudi3(), "tensor");
    // The attention alone is enough.
    quant.as_object_mut().unwrap().remove("kv_cache_scheme");
    assert_fp8(&model().quant(quant).gaudi3(), "tensor");
}

/// C10b
#[test]
fn native_autoround_declares_a_static_type() {
    let quant = json!({"quant_method": "auto-round", "bits": 8, "data_type": "fp8", "act_bits": 8, "static_kv_dtype": "fp8"});
    assert_fp8(&model().quant(quant.clone()).gaudi3(), "tensor");
    let mut none = quant;
    none["static_kv_dtype"] = json!(null);
    assert_none(&model().quant(none).gaudi3());
}

/// C11: what INC's export in vLLM's format writes.
#[test]
fn inc_exports_a_scheme_with_an_observer() {
    let mut quant = compressed_tensors();
    quant["kv_cache_scheme"]["observer"] = json!("minmax");
    assert_fp8(&model().quant(quant).gaudi3(), "tensor");
}

/// C13
#[test]
fn tensorrt_llm_declares_in_its_own_key() {
    let report =
        model().set("quantization", json!({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"})).gaudi3();
    assert_fp8(&report, "tensor");
}

/// C14, with and without a quantization config beside it
#[test]
fn tgi_declares_by_a_torch_type() {
    for dtype in ["float8_e4m3fn", "float8_e4m3fnuz", "torch.float8_e4m3fn"] {
        assert_fp8(&model().set("kv_cache_torch_dtype", dtype).gaudi3(), "tensor");
        let quant = json!({"quant_method": "fp8"});
        assert_fp8(&model().set("kv_cache_torch_dtype", dtype).quant(quant).gaudi3(), "tensor");
        let quant = json!({"quant_method": "fp8", "kv_cache_torch_dtype": dtype});
        assert_fp8(&model().quant(quant).gaudi3(), "tensor");
    }
    assert_none(&model().set("kv_cache_torch_dtype", "bfloat16").gaudi3());
}

/// C15
#[test]
fn modelslim_describes_an_int8_cache_that_is_not_ours() {
    let report = model()
        .json("quant_model_description.json", &json!({"kv_cache_type": "C8", "fa_quant_type": "FAKQuant"}))
        .gaudi3();
    assert!(report.errors().is_empty());
    assert_eq!(report.0["kv_cache_dtype"], "bf16");
    assert!(
        report.warnings().iter().all(|(code, _)| *code == "int8-scheme") && !report.warnings().is_empty()
    );
}

/// C16
#[test]
fn nested_configs_are_read_and_the_outermost_wins() {
    let text = json!({"num_hidden_layers": 1, "hidden_size": 128, "num_attention_heads": 8, "num_key_value_heads": 4,
                      "quantization_config": compressed_tensors()});
    let scaled = |config: Value| Checkpoint::with_config(config).scale(K, 0.05);
    for config in [
        json!({"text_config": text}),
        json!({"llm_config": text}),
        json!({"thinker_config": {"text_config": text}}),
    ] {
        assert_fp8(&scaled(config).gaudi3(), "tensor");
    }
    let mut heads = compressed_tensors();
    heads["kv_cache_scheme"]["strategy"] = json!("attn_head");
    let report = scaled(json!({"text_config": text, "quantization_config": heads})).gaudi3();
    assert_eq!(report.0["quantization"]["strategy"], "attn_head");
    assert_eq!(report.warnings(), [("configs-disagree", None)]);
}

/// I-26
#[test]
fn a_scheme_and_an_algorithm_that_contradict_are_an_error() {
    let quant = json!({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "NVFP4",
                       "kv_cache_scheme": {"dynamic": false, "num_bits": 8, "type": "float"}});
    assert_eq!(model().quant(quant).gaudi3().errors(), [("kv-scheme-contradiction", None)]);
}
