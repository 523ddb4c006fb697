//! Scale files beside the weights: P12, P20 to P22, C12, C12b, I-22 to I-24, I-43, I-46.

use gaudi_kv::Generation;
use gaudi_kv::checkpoint::TensorParallel;
use gaudi_kv::scales::Options;
use serde_json::{Value, json};

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, adjusted, on_gaudi3, plain_gaudi2};

const TABLE: &str = "kv_cache_scales.json";
const MEASURED: &str = "inc_output_hooks_maxabs_0_1.json";

fn with_table(layers: usize, scaling_factor: Value) -> Report {
    let table = json!({"model_type": "llama", "kv_cache": {"dtype": "float8_e4m3fn", "scaling_factor": scaling_factor}});
    Checkpoint::gqa(layers).json(TABLE, &table).gaudi3()
}

/// P20, C12, I-22
#[test]
fn one_number_a_layer_serves_key_and_value() {
    let report = with_table(2, json!({"0": {"0": 0.0230, "1": 0.0415}}));
    report.assert_clean();
    for (layer, s) in [(0, 0.0230), (1, 0.0415)] {
        report.assert_scale(layer, "k", "loaded", s, on_gaudi3(s));
        report.assert_scale(layer, "v", "duplicated", s, on_gaudi3(s));
        let tensor = report.scale(layer, "k").tensor.unwrap();
        assert!(tensor.contains(TABLE) && tensor.ends_with(&format!(".{layer}")), "{tensor}");
    }
}

/// P21, C12b: a pair is key, then value; the wrapper may be missing.
#[test]
fn sglang_writes_pairs_and_no_wrapper() {
    let report =
        Checkpoint::gqa(1).json(TABLE, &json!({"scaling_factor": {"0": {"0": [0.05, 0.08]}}})).gaudi2();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, adjusted(0.05));
    report.assert_scale(0, "v", "loaded", 0.08, adjusted(0.08));
}

/// I-23, C12b
#[test]
fn layers_without_attention_need_no_entry() {
    let sparse = json!({"scaling_factor": {"0": {"3": 0.04, "7": 0.02, "11": 0.02}}});
    let hybrid = Checkpoint::gqa(12).set("full_attention_interval", 4);
    let report = hybrid.clone().json(TABLE, &sparse).gaudi3();
    report.assert_clean();
    assert_eq!(report.layers(), [3, 7, 11]);
    report.assert_scale(3, "k", "loaded", 0.04, on_gaudi3(0.04));
    report.assert_scale(11, "k", "loaded", 0.02, (50.0, 0.02));
    // A layer that has a cache does.
    let report = hybrid.json(TABLE, &json!({"scaling_factor": {"0": {"3": 0.04, "11": 0.02}}})).gaudi3();
    assert_eq!(report.warnings(), [("scale-missing", Some(7))]);
}

/// An entry of a layer that has no cache is reported like a tensor.
#[test]
fn an_entry_that_no_layer_takes_is_unused() {
    let report = with_table(1, json!({"0": {"0": 0.05, "9": 0.05}}));
    assert_eq!(report.warnings(), [("scale-unused", None)]);
    assert!(report.unused()[0].contains(TABLE));
}

/// P22
#[test]
fn onnx_runtime_writes_lists() {
    let lists = json!({"scales": {"k_scales": [0.05, null, 0.02], "v_scales": [0.08, null, 0.25]}});
    let report = Checkpoint::gqa(3)
        .set("layer_types", json!(["full_attention", "conv", "full_attention"]))
        .json("kv_scales.json", &lists)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, (20.0, 0.05));
    report.assert_scale(0, "v", "loaded", 0.08, (12.5, 0.08));
    report.assert_scale(2, "v", "loaded", 0.25, (4.0, 0.25));
}

// I-24
#[test]
fn a_table_and_a_tensor_that_disagree_are_an_error_naming_both() {
    let name = "model.layers.0.self_attn.kv_scale";
    let table = |s: f64| json!({"kv_cache": {"dtype": "float8_e4m3fn", "scaling_factor": {"0": {"0": s}}}});
    let model = Checkpoint::gqa(1).scale(name, 0.05);
    let report = model.clone().json(TABLE, &table(0.08)).gaudi3();
    assert!(!report.errors().is_empty() && report.errors().iter().all(|e| *e == ("scale-conflict", Some(0))));
    let message = report.message("scale-conflict");
    assert!(message.contains(name) && message.contains(TABLE), "{message}");
    model.json(TABLE, &table(0.05)).gaudi3().assert_clean();
}

// I-46
#[test]
fn ranks_that_disagree_are_an_error() {
    let report = with_table(1, json!({"0": {"0": 0.02}, "1": {"0": 0.03}}));
    assert_eq!(report.errors(), [("ranks-disagree", Some(0))]);
    let message = report.message("ranks-disagree");
    assert!(message.contains("0.02") && message.contains("0.03"), "{message}");
    with_table(1, json!({"0": {"0": 0.02}, "1": {"0": 0.02}})).assert_clean();
}

#[test]
fn a_table_for_another_model_type_is_warned_of() {
    let table = json!({"model_type": "qwen2", "kv_cache": {"dtype": "float8_e4m3fn", "scaling_factor": {"0": {"0": 0.02}}}});
    let report = Checkpoint::gqa(1).json(TABLE, &table).gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("sidecar-model-type", None)], vec![]));
    report.assert_scale(0, "k", "loaded", 0.02, (50.0, 0.02));
}

/// What a table holds is validated like a tensor; Python writes NaN and Infinity bare.
#[test]
fn numbers_of_a_table_are_validated() {
    for (number, code) in [
        ("NaN", "scale-not-finite"),
        ("Infinity", "scale-not-finite"),
        ("1e39", "scale-not-finite"),
        ("-0.5", "scale-negative"),
        ("1e-45", "scale-range"),
        ("1e-60", "scale-range"),
    ] {
        let table = format!(r#"{{"scaling_factor": {{"0": {{"0": [{number}, 0.08]}}}}}}"#);
        let report = Checkpoint::gqa(1).file(TABLE, table).gaudi3();
        assert_eq!(report.errors(), [(code, Some(0))], "{number}");
        report.assert_scale(0, "v", "loaded", 0.08, (12.5, 0.08));
    }
    let report = with_table(1, json!({"0": {"0": 0.0}}));
    assert_eq!(report.warnings(), [("scale-zero", Some(0)), ("scale-missing", Some(0))]);
}

fn inc(mode: &str, nodes: Value) -> Value {
    json!({"GlobalRank": 0, "LocalRank": 0, "Mode": mode, "Nodes": nodes})
}

fn mha_nodes(k: f64, v: f64) -> Value {
    let module = "model.layers.0.self_attn.attn.impl";
    json!({format!("{module}.k_cache"): {"inputs": [[[k]]], "outputs": [[[k]]]},
           format!("{module}.v_cache"): {"inputs": [[[v]]]},
           format!("{module}.matmul_qk"): {"inputs": [[[9.0]], [[9.0]]]},
           "lm_head": {"inputs": [[[1.0]]], "params": {"weight": [[0.5]]}}})
}

/// P12, I-43: an amax serves any device: amax / 448 is the scale, and 240 / amax what Gaudi2 multiplies by.
#[test]
fn inc_measurements_serve_any_device() {
    let model = Checkpoint::gqa(1).json(MEASURED, &inc("DynamicRange", mha_nodes(24.5, 448.0)));
    let (gaudi2, gaudi3) = (model.gaudi2(), model.gaudi3());
    gaudi2.assert_clean();
    gaudi3.assert_clean();
    gaudi2.assert_scale(0, "k", "loaded", 0.0546875, (9.795_918_46, 0.102_083_333));
    gaudi2.assert_scale(0, "v", "loaded", 1.0, (0.535_714_269, 1.866_666_67));
    gaudi3.assert_scale(0, "k", "loaded", 0.0546875, (18.285_715_1, 0.054_687_496_3));
    assert_eq!(gaudi2.scale(0, "q").origin, "dynamic", "matmul_qk saw a query with the softmax scale in it");
}

/// P12: with a checkpoint of range 240, amax / 240.
#[test]
fn inc_measurements_follow_the_flavor() {
    let report = Checkpoint::gqa(1)
        .quant_key("fp8_dtype_flavor", "float8_e4m3fnuz")
        .json(MEASURED, &inc("DynamicRange", mha_nodes(12.0, 24.0)))
        .gaudi2();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, plain_gaudi2(0.05));
    report.assert_scale(0, "v", "loaded", 0.1, plain_gaudi2(0.1));
}

/// The lists are nested one to three deep, as versions differ; an MLA layer has one cache.
#[test]
fn inc_nesting_varies() {
    let module = "model.layers.0.self_attn.mla_attn.mla_attn.impl.latent_cache_k";
    for inputs in [json!([24.5]), json!([[24.5]]), json!([[[24.5]]])] {
        let report = Checkpoint::mla(1)
            .json(MEASURED, &inc("DynamicRange", json!({module: {"inputs": inputs}})))
            .gaudi2();
        report.assert_clean();
        report.assert_scale(0, "k", "loaded", 0.0546875, (9.795_918_46, 0.102_083_333));
    }
}

/// I-43: a scale was rounded for one device that the file does not name.
#[test]
fn inc_scales_are_taken_with_a_warning() {
    let scales = inc("Scale", mha_nodes(0.25, 1.0));
    let report = Checkpoint::gqa(1).json("inc_output_hooks_maxabs_MAXABS_HW_0_1.json", &scales).gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("inc-scales-depend-on-device", None)], vec![]));
    report.assert_scale(0, "k", "loaded", 0.25, (4.0, 0.25));
    report.assert_scale(0, "v", "loaded", 1.0, (1.0, 1.0));
}

#[test]
fn inc_measurements_count_before_inc_scales() {
    let report = Checkpoint::gqa(1)
        .json(MEASURED, &inc("DynamicRange", mha_nodes(24.5, 448.0)))
        .json("inc_output_hooks_maxabs_MAXABS_HW_0_1.json", &inc("Scale", mha_nodes(0.25, 0.25)))
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0546875, (18.285_715_1, 0.054_687_496_3));
}

// I-46
#[test]
fn inc_files_of_several_ranks_must_agree() {
    let files = |other: f64| {
        Checkpoint::gqa(1)
            .json("inc_hooks_maxabs_0_2.json", &inc("DynamicRange", mha_nodes(24.5, 24.5)))
            .json("inc_hooks_maxabs_1_2.json", &inc("DynamicRange", mha_nodes(other, 24.5)))
            .gaudi3()
    };
    files(24.5).assert_clean();
    assert_eq!(files(30.0).errors(), [("ranks-disagree", Some(0))]);
}

/// A rank saw its own heads only, so the files of other ranks are needed unless the model is served with as many.
// I-46
#[test]
fn inc_files_of_missing_ranks_are_warned_of() {
    let measured = inc("DynamicRange", mha_nodes(24.5, 24.5));
    let alone = Checkpoint::gqa(1).json("inc_hooks_maxabs_0_2.json", &measured);
    assert_eq!(alone.gaudi3().warnings(), [("inc-ranks-incomplete", None)]);
    let rank = |rank| Options {
        tensor_parallel: Some(TensorParallel { size: 2, rank }),
        ..Options::new(Generation::Gaudi3)
    };
    alone.inspect(&rank(0)).assert_clean();
    assert_eq!(alone.inspect(&rank(1)).warnings(), [("inc-ranks-incomplete", None)]);
}

/// INC writes its measurements twice; the copy that is not read is no reason to say nothing.
#[test]
fn measurements_in_npz_alone_are_warned_of() {
    let with_scales = Checkpoint::gqa(1).scale("model.layers.0.self_attn.kv_scale", 0.05);
    let alone = with_scales.clone().file("inc_hooks_maxabs.npz", "PK").gaudi3();
    assert_eq!(alone.warnings(), [("sidecar-not-read", None)]);
    let both = Checkpoint::gqa(1)
        .file("inc_hooks_maxabs.npz", "PK")
        .json("inc_hooks_maxabs.json", &inc("DynamicRange", mha_nodes(24.5, 24.5)));
    both.gaudi3().assert_clean();
}

/// The list of modules beside a measurement is none.
#[test]
fn incs_module_list_is_passed_over() {
    let report = Checkpoint::gqa(1)
        .json(MEASURED, &inc("DynamicRange", mha_nodes(24.5, 24.5)))
        .file("inc_output_hooks_maxabs_0_1_mod_list.json", "[\"lm_head\"]")
        .gaudi3();
    report.assert_clean();
}
