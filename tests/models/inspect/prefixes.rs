//! Where a text decoder may stand: the prefixes of model families and multimodal wrappers.

use serde_json::json;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::on_gaudi3;

/// A one-layer model with these names for k and v.
#[track_caller]
fn assert_taken(attention: &str) {
    let (k, v) = (format!("{attention}.k_scale"), format!("{attention}.v_scale"));
    let report = Checkpoint::gqa(1).scale(&k, 0.05).scale(&v, 0.08).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
}

#[test]
fn prefixes_seen_in_reports_are_taken() {
    for attention in [
        "model.layers.0.self_attn",
        "language_model.model.layers.0.self_attn",
        "model.language_model.layers.0.self_attn",
        "backbone.layers.0.mixer",
        "transformer.h.0.attn",
        "transformer.layers.0.attention",
        "layers.0.attention",
    ] {
        assert_taken(attention);
    }
}

#[test]
fn prefixes_by_analogy_are_taken() {
    for attention in [
        "model.language_model.model.layers.0.self_attn",
        "language_model.layers.0.self_attn",
        "text_model.model.layers.0.self_attn",
        "thinker.model.layers.0.self_attn",
        "transformer.blocks.0.norm_attn_norm.attn",
        "base_model.model.model.layers.0.self_attn",
        "_orig_mod.model.layers.0.self_attn",
        "model.layers.layers.0.mixer",
        "decoder.block.0.layer.0.SelfAttention",
        "transf_decoder._decoder.layers.0.first_sub_layer",
        "decoder.layers.0.self_attention.core_attention",
        "model.layers.0.shared_transformer.self_attn",
        "transformer.h.0.attn.attention",
        "model.text_decoder.layers.0.self_attn",
        "language_backbone.layers.0.self_attn",
        // The only layer of an EAGLE3 draft model.
        "midlayer.self_attn",
        // SGLang's Qwen3.5 has no `self_attn` at run time.
        "model.layers.0.attn",
    ] {
        assert_taken(attention);
    }
}

/// Scales under a projection are taken below every prefix, as ModelOpt exports multimodal models.
#[test]
fn projections_are_taken_under_every_prefix() {
    for layer in [
        "model.layers.0",
        "language_model.model.layers.0",
        "model.language_model.layers.0",
        "model.language_model.model.layers.0",
        "thinker.model.layers.0",
    ] {
        for [k, v] in [
            ["k_proj.k_scale", "v_proj.v_scale"],
            ["qkv_proj.k_scale", "qkv_proj.v_scale"],
            ["k_proj.output_scale", "v_proj.output_scale"],
            ["k_proj.base_layer.k_scale", "v_proj.base_layer.v_scale"],
            ["linear_qkv.k_scale", "linear_qkv.v_scale"],
            ["attention.k_proj.k_scale", "attention.v_proj.v_scale"],
        ] {
            let report = Checkpoint::gqa(1)
                .scale(&format!("{layer}.self_attn.{k}"), 0.05)
                .scale(&format!("{layer}.self_attn.{v}"), 0.08)
                .gaudi3();
            report.assert_clean();
            report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
            report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
        }
    }
}

/// Draft layers are numbered from the model's last layer on, or from zero under their own prefix.
#[test]
fn draft_prefixes_lead_to_the_draft_layer() {
    for attention in [
        "mtp.layers.0.self_attn",
        "model.mtp.layers.0.self_attn",
        "model.layers.2.self_attn",
        "model.layers.2.mtp_block.self_attn",
        "mtp.0.attn",
        "model.mtp_block.self_attn",
        "model.layers.2.transformer.self_attn",
        "eagle_module.layers.0.self_attn",
        "mtp_layers.0.transformer_layer.self_attn",
        "model.mtp_block.0.self_attn",
        "model.mtp.layers.0.transformer_layer.self_attn",
    ] {
        let report = Checkpoint::gqa(2)
            .set("num_nextn_predict_layers", 1)
            .scale("model.layers.0.self_attn.kv_scale", 0.02)
            .scale("model.layers.1.self_attn.kv_scale", 0.03)
            .scale(&format!("{attention}.k_scale"), 0.05)
            .scale(&format!("{attention}.v_scale"), 0.08)
            .gaudi3();
        report.assert_clean();
        assert_eq!(report.layers(), [0, 1, 2]);
        report.assert_scale(2, "k", "loaded", 0.05, on_gaudi3(0.05));
        report.assert_scale(2, "v", "loaded", 0.08, on_gaudi3(0.08));
        assert_eq!(report.of_layer(2, "draft"), &json!(true));
    }
}

/// LongCat's layers have two attentions, each with a cache, which are counted through.
#[test]
fn two_attentions_of_a_layer_are_two_caches() {
    let mut model = Checkpoint::gqa(4);
    for layer in 0..2 {
        for part in 0..2 {
            let attention = format!("model.layers.{layer}.self_attn.{part}");
            model = model.scale(&format!("{attention}.k_scale"), 0.01 * (1 + 2 * layer + part) as f32);
            model = model.scale(&format!("{attention}.v_proj.output_scale"), 0.5);
        }
    }
    let report = model.gaudi3();
    report.assert_clean();
    for (layer, scale) in [0.01, 0.02, 0.03, 0.04].into_iter().enumerate() {
        report.assert_scale(layer, "k", "loaded", scale, on_gaudi3(scale));
    }
}

/// An engine's dump of an MLA model has the scale in one of these places.
#[test]
fn runtime_places_of_mla_are_taken() {
    for inner in ["attn", "mla_attn.mla_attn", "attn_mqa", "attn_mha"] {
        let report =
            Checkpoint::mla(1).scale(&format!("model.layers.0.self_attn.{inner}.k_scale"), 0.0547).gaudi3();
        report.assert_clean();
        report.assert_scale(0, "k", "loaded", 0.0547, on_gaudi3(0.0547));
    }
}

/// The text decoder's layer count stands in the nested config of a composite model, as deep as it is.
#[test]
fn layers_are_counted_in_the_nested_text_config() {
    let text = json!({"model_type": "gemma3_text", "num_hidden_layers": 2, "hidden_size": 128,
                      "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 16});
    for config in [
        json!({"text_config": text, "vision_config": {"num_hidden_layers": 27}}),
        json!({"llm_config": text}),
        json!({"thinker_config": {"text_config": text, "vision_config": {"num_hidden_layers": 27}}}),
        json!({"num_hidden_layers": 99, "text_config": text}),
    ] {
        let report = Checkpoint::with_config(config)
            .quant(crate::inspect::builder::compressed_tensors())
            .scale("language_model.model.layers.0.self_attn.kv_scale", 0.05)
            .scale("language_model.model.layers.1.self_attn.kv_scale", 0.08)
            .gaudi3();
        report.assert_clean();
        assert_eq!(report.layers(), [0, 1]);
        report.assert_scale(1, "k", "loaded", 0.08, on_gaudi3(0.08));
    }
}
