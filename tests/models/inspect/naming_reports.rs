//! Reports of scales that an engine did not load for their names.

use safetensors::Dtype;
use serde_json::json;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{adjusted, on_gaudi3, plain_gaudi2};

// I-01
#[test]
fn qwen3_moe_fused_names_are_loaded() {
    let mut model = Checkpoint::gqa(2).set("model_type", "qwen3_moe").set("num_experts", 4);
    for layer in 0..2 {
        model = model
            .scale(&format!("model.layers.{layer}.self_attn.qkv_proj.k_scale"), 0.0547)
            .scale(&format!("model.layers.{layer}.self_attn.qkv_proj.v_scale"), 0.0312);
    }
    let (gaudi2, gaudi3) = (model.gaudi2(), model.gaudi3());
    gaudi2.assert_clean();
    gaudi3.assert_clean();
    for layer in 0..2 {
        gaudi2.assert_scale(layer, "k", "loaded", 0.0547, adjusted(0.0547));
        gaudi2.assert_scale(layer, "v", "loaded", 0.0312, adjusted(0.0312));
        gaudi3.assert_scale(layer, "k", "loaded", 0.0547, on_gaudi3(0.0547));
        // 0.0547 * 448 / 240
        assert!((gaudi2.scale(layer, "k").dequant[0] - 0.102_106_67).abs() < 2e-8);
    }
}

// I-02
#[test]
fn hybrid_models_load_only_full_attention_layers_by_their_numbers() {
    let kinds = ["linear_attention", "linear_attention", "linear_attention", "full_attention"].repeat(2);
    let text = json!({"model_type": "qwen3_5_text", "num_hidden_layers": 8, "hidden_size": 128,
                      "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 16, "layer_types": kinds,
                      "mtp_num_hidden_layers": 1});
    let mut model = Checkpoint::with_config(json!({"model_type": "qwen3_5", "text_config": text}))
        .quant(json!({"quant_method": "modelopt", "quant_algo": "NVFP4",
                      "kv_cache_scheme": {"dynamic": false, "num_bits": 8, "type": "float"}}));
    for (layer, s) in [(3, 0.03), (7, 0.07)] {
        model = model
            .scale(&format!("model.language_model.layers.{layer}.self_attn.k_scale"), s)
            .scale(&format!("model.language_model.layers.{layer}.self_attn.v_scale"), s * 2.0);
    }
    let report = model.gaudi2();
    assert_eq!(report.layers(), [3, 7, 8]);
    report.assert_scale(3, "k", "loaded", 0.03, adjusted(0.03));
    report.assert_scale(7, "k", "loaded", 0.07, adjusted(0.07));
    report.assert_scale(7, "v", "loaded", 0.07 * 2.0, adjusted(0.07 * 2.0));
    // Linear layers are not missing anything; the draft layer is, and runs with 1.0.
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-missing", Some(8))], vec![]));
    report.assert_defaulted(8, "k");
}

// I-03
#[test]
fn three_namings_on_three_layers_are_loaded() {
    let report = Checkpoint::gqa(3)
        .scale("model.layers.0.self_attn.qkv_proj.k_scale", 0.02)
        .scale("model.layers.1.self_attn.k_proj.k_scale", 0.03)
        .scale("model.layers.2.self_attn.kv_scale", 0.04)
        .gaudi3();
    report.assert_clean();
    for (layer, s) in [(0, 0.02), (1, 0.03), (2, 0.04)] {
        report.assert_scale(layer, "k", "loaded", s, on_gaudi3(s));
        report.assert_scale(layer, "v", "duplicated", s, on_gaudi3(s));
    }
}

// I-04
#[test]
fn glm_scale_of_layer_27_is_loaded() {
    let report = Checkpoint::gqa(28)
        .floats("model.layers.27.self_attn.k_proj.k_scale", Dtype::F32, &[], &[0.02])
        .gaudi3();
    report.assert_scale(27, "k", "loaded", 0.02, (50.0, 0.02));
    assert_eq!(report.unused(), [""; 0]);
    assert_eq!(report.warnings().len(), 27, "one for each of the layers without a scale");
}

// I-05
#[test]
fn minimax_fused_scale_of_layer_0_is_loaded() {
    let report = Checkpoint::gqa(1)
        .set("model_type", "minimax_m2")
        .scale("model.layers.0.self_attn.qkv_proj.k_scale", 0.02)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.02, (50.0, 0.02));
}

// I-06
#[test]
fn qwen3_next_name_that_was_renamed_twice_is_loaded() {
    let report = Checkpoint::gqa(4)
        .set("full_attention_interval", 4)
        .scale("model.layers.3.self_attn.qkqkv_proj.k_scale", 0.04)
        .gaudi2();
    report.assert_clean();
    assert_eq!(report.layers(), [3]);
    report.assert_scale(3, "k", "loaded", 0.04, adjusted(0.04));
}

// I-07
#[test]
fn modelopt_llama_with_hf_quant_config_only_is_loaded() {
    let report = Checkpoint::gqa(2)
        .no_quant()
        .json(
            "hf_quant_config.json",
            &json!({"producer": {"name": "modelopt", "version": "0.29.0"},
                    "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}),
        )
        .floats("model.layers.0.self_attn.k_proj.k_scale", Dtype::F32, &[], &[1.0])
        .floats("model.layers.1.self_attn.k_proj.k_scale", Dtype::F32, &[], &[0.0371])
        .gaudi2();
    report.assert_clean();
    assert_eq!(report.0["quantization"]["method"], "modelopt");
    report.assert_scale(0, "k", "loaded", 1.0, (0.535_714_269, 1.866_666_67));
    report.assert_scale(1, "k", "loaded", 0.0371, adjusted(0.0371));
}

// I-08
#[test]
fn gemma3_multimodal_prefix_is_no_obstacle() {
    let report = Checkpoint::gqa(1)
        .scale("language_model.model.layers.0.self_attn.qkv_proj.k_scale", 0.05)
        .scale("vision_tower.vision_model.encoder.layers.0.self_attn.k_scale", 0.9)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, (20.0, 0.05));
}

// I-09
#[test]
fn legacy_names_under_a_multimodal_prefix_are_loaded() {
    let report = Checkpoint::gqa(2)
        .scale("language_model.model.layers.0.self_attn.kv_scale", 0.05)
        .scale("language_model.model.layers.1.self_attn.k_proj.output_scale", 0.02)
        .scale("language_model.model.layers.1.self_attn.v_proj.output_scale", 0.08)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, (20.0, 0.05));
    report.assert_scale(0, "v", "duplicated", 0.05, (20.0, 0.05));
    report.assert_scale(1, "k", "loaded", 0.02, (50.0, 0.02));
    report.assert_scale(1, "v", "loaded", 0.08, (12.5, 0.08));
}

// I-10
#[test]
fn modelopt_query_scale_is_not_lost() {
    let report = Checkpoint::gqa(1)
        .scale("model.layers.0.self_attn.q_proj.q_scale", 0.125)
        .scale("model.layers.0.self_attn.k_proj.k_scale", 0.05)
        .scale("model.layers.0.self_attn.v_proj.v_scale", 0.08)
        .gaudi2();
    report.assert_clean();
    report.assert_scale(0, "q", "loaded", 0.125, adjusted(0.125));
    report.assert_scale(0, "k", "loaded", 0.05, (10.714_285_9, 0.093_333_333_7));
    report.assert_scale(0, "v", "loaded", 0.08, (6.696_428_78, 0.149_333_328));
}

// I-11
#[test]
fn mla_spellings_load_into_the_same_latent() {
    let reports: Vec<_> = ["", "attn.", "mla_attn.mla_attn."]
        .iter()
        .map(|inner| {
            let report = Checkpoint::mla(4)
                .scale(&format!("model.layers.3.self_attn.{inner}k_scale"), 0.0547)
                .scale(&format!("model.layers.3.self_attn.{inner}q_scale"), 0.2)
                .gaudi2();
            report.assert_scale(3, "k", "loaded", 0.0547, adjusted(0.0547));
            report.assert_scale(3, "q", "loaded", 0.2, adjusted(0.2));
            assert_eq!((report.errors(), report.unused()), (vec![], vec![]));
            report.scale(3, "k").dequant
        })
        .collect();
    assert!(reports.windows(2).all(|pair| pair[0] == pair[1]));
}

// I-12
#[test]
fn gptj_kv_scale_below_attn_serves_both() {
    let report =
        Checkpoint::with_config(json!({"model_type": "gptj", "n_layer": 1, "n_head": 8, "n_embd": 128}))
            .quant(json!({"quant_method": "fp8", "kv_cache_scheme": "static"}))
            .scale("transformer.h.0.attn.kv_scale", 0.023)
            .gaudi2();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.023, adjusted(0.023));
    report.assert_scale(0, "v", "duplicated", 0.023, adjusted(0.023));
}

// I-13
#[test]
fn architectures_without_any_remapping_are_read_like_all_others() {
    for model_type in ["starcoder2", "cohere2", "a-model-of-tomorrow"] {
        let report = Checkpoint::gqa(1)
            .set("model_type", model_type)
            .scale("model.layers.0.self_attn.k_scale", 0.02)
            .scale("model.layers.0.self_attn.v_scale", 0.05)
            .gaudi3();
        report.assert_clean();
        report.assert_scale(0, "k", "loaded", 0.02, (50.0, 0.02));
    }
    let report = Checkpoint::gqa(1).scale("model.layers.0.attn.k_scale", 0.02).gaudi3();
    report.assert_scale(0, "k", "loaded", 0.02, (50.0, 0.02));
}

// I-14
#[test]
fn nemotron_mixers_are_numbered_in_the_whole_model() {
    let report = Checkpoint::gqa(8)
        .set("model_type", "nemotron_h")
        .set("hybrid_override_pattern", "M-M-M-M*")
        .scale("backbone.layers.7.mixer.k_proj.k_scale", 0.05)
        .scale("backbone.layers.7.mixer.v_proj.v_scale", 0.08)
        .gaudi3();
    report.assert_clean();
    assert_eq!(report.layers(), [7]);
    report.assert_scale(7, "k", "loaded", 0.05, (20.0, 0.05));
    report.assert_scale(7, "v", "loaded", 0.08, (12.5, 0.08));
}

// I-15
#[test]
fn four_shapes_of_one_number_are_the_same_scale() {
    let shapes: [&[usize]; 4] = [&[], &[1], &[1, 1], &[1, 1, 1]];
    let mut model = Checkpoint::gqa(4);
    for (layer, shape) in shapes.iter().enumerate() {
        for role in ["k", "v"] {
            let name = format!("model.layers.{layer}.self_attn.{role}_proj.output_scale");
            model = model.floats(&name, Dtype::F32, shape, &[0.0371]);
        }
    }
    let report = model.gaudi2();
    report.assert_clean();
    for layer in 0..4 {
        report.assert_scale(layer, "k", "loaded", 0.0371, adjusted(0.0371));
        report.assert_scale(layer, "v", "loaded", 0.0371, adjusted(0.0371));
    }
}

/// S-07: one `kv_scale` of an INC export is adjusted like any other scale.
#[test]
fn inc_kv_scale_is_adjusted_on_gaudi2() {
    let model = Checkpoint::gqa(1).scale("model.layers.0.self_attn.attn.impl.kv_scale", 0.05);
    model.gaudi2().assert_scale(0, "k", "loaded", 0.05, (10.714_285_9, 0.093_333_333_7));
    let labelled = model.quant_key("fp8_dtype_flavor", "float8_e4m3fnuz");
    labelled.gaudi2().assert_scale(0, "k", "loaded", 0.05, plain_gaudi2(0.05));
}
