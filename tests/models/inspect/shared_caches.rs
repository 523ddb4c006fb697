//! Layers that read another layer's cache. I-50, I-52.

use safetensors::Dtype;
use serde_json::json;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{adjusted, on_gaudi3};

// I-52
#[test]
fn a_shared_cache_has_its_owners_scales_and_own_tensors_are_unused() {
    let report = Checkpoint::gqa(4)
        .set("num_kv_shared_layers", 2)
        .scale("model.layers.0.self_attn.kv_scale", 0.01)
        .scale("model.layers.1.self_attn.k_scale", 0.29)
        .scale("model.layers.1.self_attn.v_scale", 3.7)
        .scale("model.layers.1.self_attn.q_scale", 0.5)
        .scale("model.layers.3.self_attn.k_scale", 0.9)
        .scale("model.layers.3.self_attn.v_scale", 0.9)
        .gaudi3();
    assert!(report.errors().is_empty());
    for layer in [2, 3] {
        report.assert_scale(layer, "k", "inherited", 0.29, on_gaudi3(0.29));
        report.assert_scale(layer, "v", "inherited", 3.7, on_gaudi3(3.7));
        assert_eq!(report.scale(layer, "k").tensor.as_deref(), Some("model.layers.1.self_attn.k_scale"));
    }
    assert_eq!(report.unused(), ["model.layers.3.self_attn.k_scale", "model.layers.3.self_attn.v_scale"]);
    assert_eq!(report.warnings(), [("scale-unused", Some(3)), ("scale-unused", Some(3))]);
}

/// Each sharing layer goes to the last owner of its own kind.
#[test]
fn the_owner_is_of_the_same_kind() {
    let report = Checkpoint::gqa(6)
        .set("num_kv_shared_layers", 3)
        .set(
            "layer_types",
            json!([
                "sliding_attention",
                "full_attention",
                "sliding_attention",
                "sliding_attention",
                "full_attention",
                "sliding_attention"
            ]),
        )
        .scale("model.layers.0.self_attn.kv_scale", 0.01)
        .scale("model.layers.1.self_attn.kv_scale", 0.02)
        .scale("model.layers.2.self_attn.kv_scale", 0.03)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(3, "k", "inherited", 0.03, on_gaudi3(0.03));
    report.assert_scale(4, "k", "inherited", 0.02, on_gaudi3(0.02));
    report.assert_scale(5, "k", "inherited", 0.03, on_gaudi3(0.03));
}

// I-50
#[test]
fn a_reader_is_adjusted_exactly_as_its_owner() {
    let report = Checkpoint::gqa(2)
        .set("num_kv_shared_layers", 1)
        .scale("model.layers.0.self_attn.k_scale", 0.003)
        .scale("model.layers.0.self_attn.v_scale", 0.004)
        .gaudi2();
    report.assert_clean();
    report.assert_scale(1, "k", "inherited", 0.003, (178.571_426, 0.005_600_000_27));
    report.assert_scale(1, "v", "inherited", 0.004, adjusted(0.004));
    assert!((report.scale(1, "v").dequant[0] - 0.007_466_7).abs() < 1e-7);
}

/// What the reader's own tensors hold does not matter, not even to errors.
#[test]
fn faults_in_the_readers_own_tensors_are_not_its_faults() {
    let report = Checkpoint::gqa(2)
        .set("num_kv_shared_layers", 1)
        .scale("model.layers.0.self_attn.kv_scale", 0.05)
        .scale("model.layers.1.self_attn.k_scale", f32::NAN)
        .raw("model.layers.1.self_attn.v_scale", Dtype::I8, &[5], &[0; 5])
        .raw("model.layers.1.self_attn.v_zero_point", Dtype::I8, &[1], &[7])
        .gaudi3();
    assert!(report.errors().is_empty(), "{}", report.0);
    assert_eq!(report.unused().len(), 2);
    report.assert_scale(1, "k", "inherited", 0.05, on_gaudi3(0.05));
}

/// A reader of a cache without scales warns once, for the owner.
#[test]
fn a_missing_scale_is_the_owners() {
    let report = Checkpoint::gqa(2).set("num_kv_shared_layers", 1).gaudi3();
    assert_eq!(report.warnings(), [("scale-missing", Some(0))]);
    report.assert_scale(1, "k", "inherited", 1.0, (1.0, 1.0));
}

#[test]
fn a_shared_cache_that_nobody_owns_is_an_error() {
    let report = Checkpoint::gqa(3)
        .set("num_kv_shared_layers", 1)
        .set("layer_types", json!(["sliding_attention", "sliding_attention", "full_attention"]))
        .gaudi3();
    assert_eq!(report.errors(), [("shared-cache-without-owner", Some(2))]);
}

/// A layer without attention among the last ones shares nothing.
#[test]
fn linear_layers_share_nothing() {
    let report = Checkpoint::gqa(4)
        .set("num_kv_shared_layers", 2)
        .set("layer_types", json!(["full_attention", "mamba", "mamba", "full_attention"]))
        .scale("model.layers.0.self_attn.kv_scale", 0.05)
        .gaudi3();
    report.assert_clean();
    assert_eq!(report.layers(), [0, 3]);
    report.assert_scale(3, "k", "inherited", 0.05, on_gaudi3(0.05));
}

/// Hunyuan: the first layer of each group owns the cache of all.
#[test]
fn groups_of_layers_share_their_firsts_cache() {
    let model = Checkpoint::gqa(4)
        .set("cla_share_factor", 2)
        .scale("model.layers.0.self_attn.k_cache.scale", 0.02)
        .scale("model.layers.2.self_attn.k_cache.scale", 0.05);
    let report = model.clone().set("use_cla", true).gaudi3();
    report.assert_clean();
    report.assert_scale(1, "k", "inherited", 0.02, (50.0, 0.02));
    report.assert_scale(3, "k", "inherited", 0.05, (20.0, 0.05));
    assert_eq!(report.of_layer(3, "cache_owner"), 2);
    let report = model.set("use_cla", false).gaudi3();
    assert_eq!(report.warnings(), [("scale-missing", Some(1)), ("scale-missing", Some(3))]);
}
