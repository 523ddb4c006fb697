//! `fp8_dtype_flavor`: where it counts and what it may say. I-39, S-06.

use safetensors::Dtype;
use serde_json::{Value, json};

use crate::inspect::builder::{Checkpoint, compressed_tensors};
use crate::inspect::report::Report;

const K: &str = "model.layers.0.self_attn.k_scale";
const ADJUSTED: (f32, f32) = (9.795_918_46, 0.102_083_333);
const PLAIN: (f32, f32) = (18.285_715_1, 0.054_687_496_3);

fn model() -> Checkpoint {
    Checkpoint::gqa(1).scale(K, 0.0546875)
}

#[track_caller]
fn assert_range(report: &Report, quant: u32, flavor: Value, expected: (f32, f32)) {
    assert_eq!(report.0["scale_adjustment"]["fp8_max_quant"], quant);
    assert_eq!(report.0["quantization"]["fp8_dtype_flavor"], flavor);
    report.assert_scale(0, "k", "loaded", 0.0546875, expected);
}

#[test]
fn both_flavors_are_read_at_the_top_level() {
    let flavored = |flavor: &str| model().quant_key("fp8_dtype_flavor", flavor).gaudi2();
    assert_range(&flavored("float8_e4m3fnuz"), 240, json!("float8_e4m3fnuz"), PLAIN);
    assert_range(&flavored("float8_e4m3fn"), 448, json!("float8_e4m3fn"), ADJUSTED);
    assert_range(&model().gaudi2(), 448, json!(null), ADJUSTED);
}

#[test]
fn null_is_no_flavor() {
    let report = model().quant_key("fp8_dtype_flavor", json!(null)).gaudi2();
    report.assert_clean();
    assert_range(&report, 448, json!(null), ADJUSTED);
}

#[test]
fn any_other_flavor_is_warned_of_and_ignored() {
    for flavor in [
        json!("float8_e4m3fnuz "),
        json!("float8_e4m3fnuz junk"),
        json!("FLOAT8_E4M3FNUZ"),
        json!("torch.float8_e4m3fnuz"),
        json!("float8_e5m2"),
        json!(""),
        json!(240),
        json!(true),
        json!(["float8_e4m3fnuz"]),
        json!({"name": "float8_e4m3fnuz"}),
    ] {
        let report = model().quant_key("fp8_dtype_flavor", flavor.clone()).gaudi2();
        assert_eq!(
            (report.warnings(), report.errors()),
            (vec![("flavor-unknown", None)], vec![]),
            "{flavor}"
        );
        assert_range(&report, 448, json!(null), ADJUSTED);
    }
}

#[test]
fn a_nested_flavor_does_not_count() {
    let mut scheme = compressed_tensors()["kv_cache_scheme"].clone();
    scheme["fp8_dtype_flavor"] = json!("float8_e4m3fnuz");
    let report = model().quant_key("kv_cache_scheme", scheme).gaudi2();
    assert_eq!((report.warnings(), report.errors()), (vec![("flavor-misplaced", None)], vec![]));
    assert_range(&report, 448, json!(null), ADJUSTED);
}

/// Beside the quantization config it is no part of it.
#[test]
fn a_flavor_outside_the_quantization_config_does_not_count() {
    let report = model().set("fp8_dtype_flavor", "float8_e4m3fnuz").gaudi2();
    assert_range(&report, 448, json!(null), ADJUSTED);
}

/// The quantization config may be a file of its own.
#[test]
fn the_flavor_is_read_from_whichever_file_holds_the_config() {
    let mut config = compressed_tensors();
    config["fp8_dtype_flavor"] = json!("float8_e4m3fnuz");
    let bare = model().no_quant();
    let report = bare.clone().json("quantization_config.json", &config).gaudi2();
    report.assert_clean();
    assert_range(&report, 240, json!("float8_e4m3fnuz"), PLAIN);
    let flavor = "float8_e4m3fnuz";
    for modelopt in [
        json!({"fp8_dtype_flavor": flavor, "quantization": {"kv_cache_quant_algo": "FP8"}}),
        json!({"producer": {"name": "modelopt"}, "quantization": {"kv_cache_quant_algo": "FP8", "fp8_dtype_flavor": flavor}}),
    ] {
        let report = bare.clone().json("hf_quant_config.json", &modelopt).gaudi2();
        report.assert_clean();
        assert_range(&report, 240, json!(flavor), PLAIN);
    }
}

/// `config.json` counts first, and a file beside it that says something else is warned of.
#[test]
fn configs_that_disagree_on_the_flavor_are_warned_of() {
    let mut other = compressed_tensors();
    other["fp8_dtype_flavor"] = json!("float8_e4m3fnuz");
    let report = model()
        .quant_key("fp8_dtype_flavor", "float8_e4m3fn")
        .json("quantization_config.json", &other)
        .gaudi2();
    assert_eq!((report.warnings(), report.errors()), (vec![("configs-disagree", None)], vec![]));
    assert_range(&report, 448, json!("float8_e4m3fn"), ADJUSTED);
}

/// S-06: AutoRound divides per-head scales by 448 whatever the label says.
#[test]
fn autorounds_per_head_scales_with_a_flavor_of_240_are_warned_of() {
    let heads = |provider: &str, flavor: &str, shape: &[usize], values: &[f64]| {
        Checkpoint::gqa(1)
            .quant_key("provider", provider)
            .quant_key("fp8_dtype_flavor", flavor)
            .floats(K, Dtype::F32, shape, values)
            .floats("model.layers.0.self_attn.v_scale", Dtype::F32, shape, values)
            .gaudi2()
    };
    let four = [0.01, 0.02, 0.04, 0.08];
    let report = heads("auto-round", "float8_e4m3fnuz", &[4], &four);
    assert_eq!((report.warnings(), report.errors()), (vec![("per-head-range", None)], vec![]));
    heads("auto-round", "float8_e4m3fn", &[4], &four).assert_clean();
    heads("auto-round", "float8_e4m3fnuz", &[1], &[0.02]).assert_clean();
    heads("someone-else", "float8_e4m3fnuz", &[4], &four).assert_clean();
}
