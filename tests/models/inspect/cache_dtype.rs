//! The type of the cache: what is declared, what is asked for, and what scales are worth then. I-29, I-47, S-03.

use gaudi_kv::Generation;
use gaudi_kv::scales::{CacheDtypeRequest, Options};
use safetensors::Dtype;
use serde_json::{Value, json};

use crate::inspect::builder::{Checkpoint, compressed_tensors};
use crate::inspect::report::Report;

const K: &str = "model.layers.0.self_attn.k_scale";

fn inspect(model: &Checkpoint, kv_cache_dtype: CacheDtypeRequest) -> Report {
    model.inspect(&Options { kv_cache_dtype, ..Options::new(Generation::Gaudi2) })
}

/// The config shapes of the matrix, and whether they declare an FP8 cache.
fn shapes() -> Vec<(&'static str, Checkpoint, bool)> {
    let bare = || Checkpoint::gqa(1).no_quant();
    let modelopt_scheme = json!({"dynamic": false, "num_bits": 8, "type": "float"});
    vec![
        ("C1", bare().quant(compressed_tensors()), true),
        ("C5", bare().quant(json!({"quant_method": "fp8", "activation_scheme": "static"})), false),
        ("C6", bare().quant(json!({"quant_method": "modelopt", "kv_cache_scheme": modelopt_scheme})), true),
        ("C6b", bare().quant(json!({"quant_method": "modelopt", "kv_cache_scheme": "FP8"})), true),
        (
            "C7",
            bare().json("hf_quant_config.json", &json!({"quantization": {"kv_cache_quant_algo": "FP8"}})),
            true,
        ),
        (
            "C8",
            bare().quant(json!({"quant_method": "modelopt", "quantization": {"kv_cache_quant_algo": "FP8"}})),
            true,
        ),
        ("none", bare(), false),
    ]
}

// I-47
#[test]
fn auto_follows_the_config_and_an_explicit_type_wins() {
    for (shape, model, declares) in shapes() {
        for has_scales in [false, true] {
            let model = if has_scales { model.clone().scale(K, 0.05) } else { model.clone() };
            for (request, is_fp8) in [
                (CacheDtypeRequest::Auto, declares),
                (CacheDtypeRequest::Fp8, true),
                (CacheDtypeRequest::Bf16, false),
            ] {
                let report = inspect(&model, request);
                let context = format!("{shape} {request:?} scales {has_scales}");
                assert_eq!(report.0["kv_cache_dtype"], if is_fp8 { "fp8" } else { "bf16" }, "{context}");
                assert!(report.errors().is_empty(), "{context}");
                let k = report.of_layer(0, "k");
                match (is_fp8, has_scales) {
                    (true, true) => assert_eq!(k["origin"], "loaded", "{context}"),
                    (true, false) => assert_eq!(k["origin"], "defaulted", "{context}"),
                    (false, _) => assert_eq!(*k, Value::Null, "{context}"),
                }
                let missing = is_fp8 && !has_scales;
                assert_eq!(report.warnings().contains(&("scale-missing", Some(0))), missing, "{context}");
                let not_used = !is_fp8 && has_scales;
                assert_eq!(report.notes().contains(&("scales-not-used", None)), not_used, "{context}");
            }
        }
    }
}

// I-29
#[test]
fn a_bf16_cache_is_the_same_with_any_scales_and_without() {
    let without_notes = |mut report: Report| {
        report.0["notes"] = json!([]);
        report.0["model"]["path"] = json!("");
        report
    };
    for base in [Checkpoint::gqa(1), Checkpoint::mla(1)] {
        let expected = without_notes(inspect(&base, CacheDtypeRequest::Bf16));
        for model in [
            base.clone().scale(K, 0.06),
            base.clone().scale(K, f32::NAN),
            base.clone().scale(K, -1.0),
            base.clone().scale(K, 0.0),
            base.clone().scale(K, 3e38),
            base.clone().scale(K, 0.05).scale("model.layers.0.self_attn.k_proj.k_scale", 0.06),
            base.clone().raw(K, Dtype::I8, &[3], &[1, 2, 3]),
            base.clone().scale("model.layers.9.self_attn.k_scale", 0.06),
            base.clone().scale("model.layers.0.self_attn.k_proj.v_scale", 0.06),
            base.clone().raw("model.layers.0.self_attn.k_zero_point", Dtype::I8, &[1], &[1]),
        ] {
            let report = without_notes(inspect(&model, CacheDtypeRequest::Bf16));
            assert_eq!(report, expected);
            report.assert_clean();
        }
    }
}

#[test]
fn a_bf16_cache_names_the_scales_that_it_does_not_use() {
    let report = inspect(&Checkpoint::gqa(1).scale(K, 0.05), CacheDtypeRequest::Bf16);
    assert!(report.message("scales-not-used").contains(K));
    for role in ["k", "v", "q", "prob"] {
        assert!(report.of_layer(0, role).is_null(), "{role}");
    }
    assert_eq!(report.layers(), [0], "layers with a cache are listed all the same");
}

/// A scale file beside the weights declares nothing either.
#[test]
fn a_scale_file_alone_declares_no_fp8_cache() {
    let table = json!({"kv_cache": {"dtype": "float8_e4m3fn", "scaling_factor": {"0": {"0": 0.05}}}});
    let model = Checkpoint::gqa(1).no_quant().json("kv_cache_scales.json", &table);
    assert_eq!(inspect(&model, CacheDtypeRequest::Auto).0["kv_cache_dtype"], "bf16");
    let report = inspect(&model, CacheDtypeRequest::Fp8);
    assert_eq!(report.of_layer(0, "k")["origin"], "loaded");
}
