//! Which layers have a cache: lists, rules, and draft layers. I-02, I-50, I-54.

use serde_json::{Value, json};

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::on_gaudi3;

/// The layers listed for a model of `layers` layers with these config keys.
fn cached(layers: usize, keys: &[(&str, Value)]) -> Vec<usize> {
    let mut model = Checkpoint::gqa(layers);
    for (key, value) in keys {
        model = model.set(key, value.clone());
    }
    model.gaudi3().layers()
}

#[test]
fn layer_types_name_each_layer() {
    let types = json!([
        "linear_attention",
        "full_attention",
        "sliding_attention",
        "chunked_attention",
        "mamba",
        "conv"
    ]);
    assert_eq!(cached(6, &[("layer_types", types)]), [1, 2, 3]);
    assert_eq!(cached(3, &[("layers_block_type", json!(["mamba", "attention", "hybrid"]))]), [1, 2]);
}

#[test]
fn full_attention_interval_counts_from_one() {
    assert_eq!(cached(8, &[("full_attention_interval", json!(4))]), [3, 7]);
}

#[test]
fn hybrid_override_pattern_has_a_letter_for_each_layer() {
    assert_eq!(cached(8, &[("hybrid_override_pattern", json!("M-M*M-E*"))]), [3, 7]);
}

#[test]
fn attn_layer_period_has_an_offset() {
    assert_eq!(cached(8, &[("attn_layer_period", json!(4)), ("attn_layer_offset", json!(1))]), [1, 5]);
    assert_eq!(cached(8, &[("attn_layer_period", json!(4))]), [0, 4]);
}

#[test]
fn block_configs_take_the_attention_out_of_a_layer() {
    let blocks = json!([{"attention": {"no_op": false}}, {"attention": {"no_op": true}},
                        {"attention": {"replace_with_linear": true}}, {"attention": {"n_heads_in_group": 8}}]);
    assert_eq!(cached(4, &[("block_configs", blocks)]), [0, 3]);
}

#[test]
fn lists_of_attention_layers_are_read() {
    assert_eq!(cached(6, &[("attn_layer_indices", json!([2, 5]))]), [2, 5]);
    assert_eq!(cached(4, &[("attn_type_list", json!([0, 1, 0, 1]))]), [1, 3]);
    // RecurrentGemma repeats its list, Kimi Linear counts from one.
    assert_eq!(cached(6, &[("block_types", json!(["recurrent", "recurrent", "attention"]))]), [2, 5]);
    let kimi = json!({"full_attn_layers": [4, 8], "kda_layers": [1, 2, 3, 5, 6, 7]});
    assert_eq!(cached(8, &[("linear_attn_config", kimi)]), [3, 7]);
}

#[test]
fn without_a_list_every_layer_has_a_cache() {
    assert_eq!(cached(3, &[]), [0, 1, 2]);
}

// I-54
#[test]
fn scales_go_by_layer_number_and_not_by_position() {
    let report = Checkpoint::gqa(8)
        .set("full_attention_interval", 4)
        .scale("model.layers.3.self_attn.kv_scale", 0.03)
        .scale("model.layers.7.self_attn.kv_scale", 0.07)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(3, "k", "loaded", 0.03, on_gaudi3(0.03));
    report.assert_scale(7, "k", "loaded", 0.07, on_gaudi3(0.07));
}

/// A scale of a layer without attention reaches nobody.
#[test]
fn a_scale_of_a_linear_layer_is_unused() {
    let name = "model.layers.0.self_attn.k_scale";
    let report = Checkpoint::gqa(4)
        .set("full_attention_interval", 4)
        .scale(name, 0.03)
        .scale("model.layers.3.self_attn.kv_scale", 0.03)
        .gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-unused", Some(0))], vec![]));
    assert_eq!(report.unused(), [name]);
}

/// DeepSeek's draft layer is number 61 of 61 layers, of MLA like the others.
#[test]
fn deepseeks_draft_layer_follows_the_last() {
    let mut model = Checkpoint::mla(61).set("num_nextn_predict_layers", 1);
    for layer in 0..62 {
        model = model.scale(&format!("model.layers.{layer}.self_attn.k_scale"), 0.05);
    }
    let report = model.gaudi3();
    report.assert_clean();
    assert_eq!(report.layers(), (0..62).collect::<Vec<_>>());
    assert_eq!(report.0["model"]["layers"], 61);
    assert_eq!(report.of_layer(61, "draft"), true);
    assert_eq!(report.of_layer(61, "attention"), "mla");
    assert_ne!(report.of_layer(60, "draft"), true);
    report.assert_scale(61, "k", "loaded", 0.05, on_gaudi3(0.05));
}

/// A draft layer's tensor is unused where the config says that there is no draft layer.
#[test]
fn an_undeclared_draft_layer_is_unused() {
    let report = Checkpoint::mla(2)
        .scale("model.layers.0.self_attn.k_scale", 0.05)
        .scale("model.layers.1.self_attn.k_scale", 0.05)
        .scale("model.layers.2.self_attn.k_scale", 0.05)
        .set("num_nextn_predict_layers", 0)
        .gaudi3();
    assert_eq!(report.unused(), ["model.layers.2.self_attn.k_scale"]);
    assert_eq!(report.layers(), [0, 1]);
}

#[test]
fn several_draft_layers_are_numbered_on() {
    let report = Checkpoint::gqa(2)
        .set("num_nextn_predict_layers", 2)
        .scale("mtp.layers.1.self_attn.k_scale", 0.05)
        .gaudi3();
    assert_eq!(report.layers(), [0, 1, 2, 3]);
    report.assert_scale(3, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_defaulted(2, "k");
    assert!(report.unused().is_empty());
}

/// A draft layer attends fully, whatever rule the model's own layers follow.
#[test]
fn draft_layers_of_hybrids_have_a_cache() {
    let keys = [("full_attention_interval", json!(4)), ("num_nextn_predict_layers", json!(1))];
    assert_eq!(cached(4, &keys), [3, 4]);
}

#[test]
fn a_model_without_any_cache_is_inspected() {
    let report = Checkpoint::gqa(2).set("layer_types", json!(["mamba", "mamba"])).gaudi3();
    report.assert_clean();
    assert_eq!(report.layers(), [0; 0]);
}
