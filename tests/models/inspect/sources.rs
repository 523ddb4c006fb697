//! Several sources of one scale: equal ones are fine, others are an error that names both.

use safetensors::Dtype;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{on_gaudi3, plain_gaudi2};

const K: &str = "model.layers.0.self_attn.k_scale";
const V: &str = "model.layers.0.self_attn.v_scale";
const KV: &str = "model.layers.0.self_attn.kv_scale";
const K_PROJ: &str = "model.layers.0.self_attn.k_proj.k_scale";
const K_OUTPUT: &str = "model.layers.0.self_attn.k_proj.output_scale";

#[test]
fn equal_sources_are_fine() {
    let report =
        Checkpoint::gqa(1).scale(K, 0.05).scale(K_PROJ, 0.05).scale(K_OUTPUT, 0.05).scale(V, 0.08).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
}

#[test]
fn sources_that_disagree_are_an_error_naming_both() {
    for other in [
        K_PROJ,
        K_OUTPUT,
        "model.layers.0.self_attn.attn.k_scale",
        "layers.0.attention.k_fake_quantizer.qscale_act",
    ] {
        let report = Checkpoint::gqa(1).scale(K, 0.05).scale(other, 0.06).scale(V, 0.08).gaudi3();
        assert_eq!(report.errors(), [("scale-conflict", Some(0))], "{other}");
        let message = report.message("scale-conflict");
        assert!(message.contains(K) && message.contains(other), "{message}");
        assert!(message.contains("0.05") && message.contains("0.06"), "{message}");
        assert!(report.of_layer(0, "k").is_null());
        report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
    }
}

/// The last bit counts where both are stored as float32.
#[test]
fn sources_that_differ_by_one_bit_disagree() {
    let next = f32::from_bits(0.05_f32.to_bits() + 1);
    let report = Checkpoint::gqa(1).scale(K, 0.05).scale(K_PROJ, next).gaudi3();
    assert_eq!(report.errors(), [("scale-conflict", Some(0))]);
}

/// A bf16 copy of a float32 scale is the same scale.
#[test]
fn a_copy_in_a_narrower_type_agrees() {
    let report = Checkpoint::gqa(1).scale(K, 0.0371).floats(K_PROJ, Dtype::BF16, &[1], &[0.0371]).gaudi3();
    report.assert_clean();
    let report = Checkpoint::gqa(1).scale(K, 0.0371).floats(K_PROJ, Dtype::BF16, &[1], &[0.04]).gaudi3();
    assert_eq!(report.errors(), [("scale-conflict", Some(0))]);
}

#[test]
fn a_kv_scale_that_equals_its_parts_is_fine() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).scale(V, 0.05).scale(KV, 0.05).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.05, on_gaudi3(0.05));
}

/// AutoFP8's `kv_scale` is the larger of both; beside separate scales it contradicts the smaller one.
#[test]
fn a_kv_scale_contradicts_a_smaller_part() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).scale(V, 0.08).scale(KV, 0.08).gaudi3();
    assert_eq!(report.errors(), [("scale-conflict", Some(0))]);
    let message = report.message("scale-conflict");
    assert!(message.contains(K) && message.contains(KV), "{message}");
}

#[test]
fn a_kv_scale_fills_in_the_missing_part() {
    let report = Checkpoint::gqa(1).scale(V, 0.05).scale(KV, 0.05).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.05, on_gaudi3(0.05));
    assert_eq!(report.scale(0, "k").tensor.as_deref(), Some(KV));
    assert_eq!(report.scale(0, "v").tensor.as_deref(), Some(V));
}

/// A source that cannot be used makes the scale unusable, even where another source is good.
#[test]
fn a_bad_source_is_not_hidden_by_a_good_one() {
    let report = Checkpoint::gqa(1).scale(K, f32::NAN).scale(K_PROJ, 0.05).gaudi3();
    assert_eq!(report.errors(), [("scale-not-finite", Some(0))]);
    assert!(report.of_layer(0, "k").is_null());
}

/// A source that was never calibrated leaves the other to serve.
#[test]
fn a_zero_source_gives_way() {
    let report = Checkpoint::gqa(1).scale(K, 0.0).scale(K_PROJ, 0.05).gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-zero", Some(0))], vec![]));
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
}

/// The scales of one layer may lie in different shards.
#[test]
fn shards_are_read_together() {
    let model = Checkpoint::gqa(1)
        .shard("model-00001-of-00002.safetensors")
        .scale(K, 0.05)
        .shard("model-00002-of-00002.safetensors")
        .scale(V, 0.08);
    for model in [model.clone(), model.index()] {
        let report = model.quant_key("fp8_dtype_flavor", "float8_e4m3fnuz").gaudi2();
        report.assert_clean();
        report.assert_scale(0, "k", "loaded", 0.05, plain_gaudi2(0.05));
        report.assert_scale(0, "v", "loaded", 0.08, plain_gaudi2(0.08));
    }
}

/// A weight file that the index does not name is no part of the model; its scales reach nobody, and that is said.
#[test]
fn scales_in_a_shard_outside_the_index_are_warned_of() {
    let report = Checkpoint::gqa(1)
        .scale(K, 0.05)
        .index()
        .shard("kv_scales.safetensors")
        .scale("model.layers.0.self_attn.v_scale", 0.08)
        .gaudi3();
    assert_eq!(report.warnings(), [("shard-not-in-index", None)]);
    assert!(report.message("shard-not-in-index").contains("kv_scales.safetensors"));
    report.assert_scale(0, "v", "duplicated", 0.05, on_gaudi3(0.05));
}

/// A tensor in an indexed shard that the index forgot is loaded by engines, and here.
#[test]
fn tensors_that_the_index_forgot_are_loaded_with_a_note() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).index().scale(V, 0.08).gaudi3();
    report.assert_clean();
    assert_eq!(report.notes(), [("tensor-not-in-index", None)]);
    report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
}

/// Mistral's own folder: `params.json` and consolidated weights.
#[test]
fn a_consolidated_folder_is_read() {
    let folder = Checkpoint::gqa(1)
        .shard("consolidated.safetensors")
        .scale("layers.0.attention.k_fake_quantizer.qscale_act", 0.05)
        .write();
    for name in ["config.json", "model.safetensors"] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    let params = r#"{"dim": 128, "n_layers": 1, "n_heads": 8, "n_kv_heads": 4, "head_dim": 16}"#;
    std::fs::write(folder.path().join("params.json"), params).unwrap();
    let options = gaudi_kv::scales::Options {
        kv_cache_dtype: gaudi_kv::scales::CacheDtypeRequest::Fp8,
        ..gaudi_kv::scales::Options::new(gaudi_kv::Generation::Gaudi3)
    };
    let report = crate::inspect::builder::inspect_folder(folder.path(), &options);
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    assert_eq!(report.0["model"]["num_kv_heads"], 4);
}

/// A folder that holds the weights in both namings is read once, as engines read it.
#[test]
fn consolidated_weights_beside_others_are_left_alone() {
    let report = Checkpoint::gqa(1)
        .scale(K, 0.05)
        .shard("consolidated.safetensors")
        .scale("layers.0.attention.k_fake_quantizer.qscale_act", 0.06)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
}

/// Python writes infinities bare, and Mamba configs hold them.
#[test]
fn a_config_with_pythons_infinity_is_read() {
    let folder = Checkpoint::gqa(1).scale(K, 0.05).write();
    let path = folder.path().join("config.json");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, config.replacen('{', "{\"time_step_limit\": [0.0, Infinity], \"nan\": NaN, ", 1))
        .unwrap();
    let options = gaudi_kv::scales::Options::new(gaudi_kv::Generation::Gaudi3);
    crate::inspect::builder::inspect_folder(folder.path(), &options).assert_clean();
}
