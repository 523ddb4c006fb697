//! Layers that are asked to keep a bf16 cache. I-48.

use gaudi_kv::Generation;
use gaudi_kv::scales::{Options, SkipLayer};
use safetensors::Dtype;
use serde_json::json;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, on_gaudi3};

fn skip(model: &Checkpoint, skip_layers: &[SkipLayer]) -> Report {
    model.inspect(&Options { skip_layers: skip_layers.to_vec(), ..Options::new(Generation::Gaudi3) })
}

fn four_layers() -> Checkpoint {
    let mut model = Checkpoint::gqa(4).set(
        "layer_types",
        json!(["full_attention", "full_attention", "sliding_attention", "full_attention"]),
    );
    for layer in 0..4 {
        model = model.scale(&format!("model.layers.{layer}.self_attn.kv_scale"), 0.05);
    }
    model
}

#[track_caller]
fn assert_skipped(report: &Report, skipped: &[usize]) {
    report.assert_clean();
    assert_eq!(report.0["kv_cache_dtype"], "fp8");
    for layer in 0..4 {
        if skipped.contains(&layer) {
            assert_eq!(report.of_layer(layer, "kv_cache_dtype"), "bf16");
            for role in ["k", "v", "q", "prob"] {
                assert!(report.of_layer(layer, role).is_null(), "{role}");
            }
        } else {
            assert_eq!(report.of_layer(layer, "kv_cache_dtype"), "fp8");
            report.assert_scale(layer, "k", "loaded", 0.05, on_gaudi3(0.05));
        }
        let is_noted = report.notes().contains(&("layer-skipped", Some(layer)));
        assert_eq!(is_noted, skipped.contains(&layer));
    }
}

// I-48
#[test]
fn numbers_and_sliding_windows_are_skipped() {
    let model = four_layers();
    assert_skipped(&skip(&model, &[SkipLayer::Index(0), SkipLayer::SlidingWindow]), &[0, 2]);
    assert_skipped(&skip(&model, &[SkipLayer::SlidingWindow]), &[2]);
    assert_skipped(&skip(&model, &[SkipLayer::Index(3), SkipLayer::Index(3)]), &[3]);
    assert_skipped(&skip(&model, &[]), &[]);
}

#[test]
fn the_scales_of_a_skipped_layer_do_not_matter() {
    let bad = Checkpoint::gqa(2)
        .scale("model.layers.0.self_attn.k_scale", f32::NAN)
        .raw("model.layers.0.self_attn.v_scale", Dtype::I8, &[5], &[0; 5])
        .raw("model.layers.0.self_attn.v_zero_point", Dtype::I8, &[1], &[7])
        .scale("model.layers.1.self_attn.kv_scale", 0.05);
    let report = skip(&bad, &[SkipLayer::Index(0)]);
    report.assert_clean();
    report.assert_scale(1, "k", "loaded", 0.05, on_gaudi3(0.05));
    let missing = Checkpoint::gqa(2).scale("model.layers.1.self_attn.kv_scale", 0.05);
    skip(&missing, &[SkipLayer::Index(0)]).assert_clean();
}

#[test]
fn a_layer_that_is_not_there_is_warned_of() {
    let report = skip(&four_layers(), &[SkipLayer::Index(61)]);
    assert_eq!(report.warnings(), [("skip-layer-unknown", None)]);
    let no_windows = Checkpoint::gqa(1).scale("model.layers.0.self_attn.kv_scale", 0.05);
    assert_eq!(skip(&no_windows, &[SkipLayer::SlidingWindow]).warnings(), [("skip-layer-unknown", None)]);
}

/// MLA layers honour numbers too.
#[test]
fn mla_layers_are_skipped_by_number() {
    let model = Checkpoint::mla(2)
        .scale("model.layers.0.self_attn.k_scale", 0.05)
        .scale("model.layers.1.self_attn.k_scale", 0.05);
    let report = skip(&model, &[SkipLayer::Index(1)]);
    report.assert_clean();
    assert!(report.of_layer(1, "k").is_null());
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
}

/// Sliding windows that the config gives as a rule.
#[test]
fn sliding_windows_by_rule_are_found() {
    let sliding = |model: Checkpoint| -> Vec<usize> {
        let report = skip(&model, &[SkipLayer::SlidingWindow]);
        report.layers().into_iter().filter(|l| report.of_layer(*l, "kv_cache_dtype") == "bf16").collect()
    };
    let base = || Checkpoint::gqa(6);
    assert_eq!(sliding(base().set("sliding_window", 512).set("sliding_window_pattern", 3)), [0, 1, 3, 4]);
    assert_eq!(sliding(base().set("sliding_window", 512).set("model_type", "gemma2")), [0, 2, 4]);
    assert_eq!(sliding(base().set("sliding_window", 512).set("model_type", "mistral")), [0, 1, 2, 3, 4, 5]);
    let qwen = base().set("sliding_window", 512).set("max_window_layers", 4);
    assert_eq!(sliding(qwen.clone().set("use_sliding_window", true)), [4, 5]);
    assert_eq!(sliding(qwen.set("use_sliding_window", false)), [0; 0]);
}

/// A layer that reads a skipped layer's cache reads bf16.
#[test]
fn a_shared_cache_is_bf16_for_all_its_readers() {
    let model =
        Checkpoint::gqa(2).set("num_kv_shared_layers", 1).scale("model.layers.0.self_attn.kv_scale", 0.05);
    let report = skip(&model, &[SkipLayer::Index(0)]);
    report.assert_clean();
    assert_eq!(report.of_layer(1, "kv_cache_dtype"), "bf16");
    assert!(report.of_layer(1, "k").is_null());
}

/// The reader's own number has no cache to skip; the owner's has.
#[test]
fn skipping_a_reader_of_a_shared_cache_is_warned_of() {
    let model =
        Checkpoint::gqa(2).set("num_kv_shared_layers", 1).scale("model.layers.0.self_attn.kv_scale", 0.05);
    let report = skip(&model, &[SkipLayer::Index(1)]);
    assert_eq!(report.warnings(), [("skip-layer-unknown", Some(1))]);
    report.assert_scale(1, "k", "inherited", 0.05, on_gaudi3(0.05));
}
