//! Models that are refused: nothing is written, and the reason names the tensor.

use std::fs;

use safetensors::Dtype;
use serde_json::json;

use crate::convert::support::{Model, convert, names};

#[track_caller]
fn assert_refused(model: &Model, code: i32, words: &[&str]) {
    assert_refused_with(model, &[], code, words);
}

#[track_caller]
fn assert_refused_with(model: &Model, options: &[&str], code: i32, words: &[&str]) {
    let folder = model.write();
    let run = convert(folder.path(), options);
    run.assert_says(code, words);
    assert_eq!((run.stdout().as_str(), names(folder.path())), ("", vec!["src".to_owned()]));
}

#[test]
fn an_fp8_weight_without_a_scale() {
    let model = Model::gqa().all_codes("a.up_proj.weight").f32("a.down_proj.weight_scale", &[1], &[0.5]);
    assert_refused(&model, 1, &["`a.up_proj.weight`", "a.up_proj.weight_scale, a.up_proj.weight_scale_inv"]);
    // The block scales of NVFP4 are e4m3 themselves.
    let nvfp4 = Model::gqa().tensor("a.up_proj.weight", Dtype::U8, &[4], &[0; 4]).tensor(
        "a.up_proj.weight_scale",
        Dtype::F8_E4M3,
        &[1],
        &[0x7E],
    );
    assert_refused(&nvfp4, 1, &["`a.up_proj.weight_scale`", "no scale"]);
}

#[test]
fn a_scale_that_cannot_hold_the_product() {
    let base = Model::gqa().all_codes("a.weight");
    let overflow = base.clone().tensor("a.weight_scale", Dtype::F16, &[1], &[0xFF, 0x7B]);
    assert_refused(&overflow, 1, &["`a.weight_scale`", "65504 times 2", "F16"]);
    let integer = base.clone().tensor("a.weight_scale", Dtype::U8, &[1], &[120]);
    assert_refused(&integer, 1, &["`a.weight_scale`", "U8", "F8_E8M0"]);
    let exponent = base.tensor("a.weight_scale", Dtype::F8_E8M0, &[1], &[120]);
    assert_refused_with(&exponent, &["--factor", "exact"], 1, &["`a.weight_scale`", "1.866"]);
}

#[test]
fn weights_with_nan_and_scales_that_are_damaged() {
    let nan = Model::gqa().tensor("a.weight", Dtype::F8_E4M3, &[3], &[1, 0xFF, 0x7F]).f32(
        "a.weight_scale",
        &[1],
        &[1.0],
    );
    assert_refused(&nan, 1, &["2 FP8 codes are NaN", "`a.weight`"]);
    let scale = "model.layers.0.self_attn.k_scale";
    assert_refused(&Model::gqa().f32(scale, &[1], &[f32::NAN]), 1, &[scale, "NaN"]);
    assert_refused(&Model::gqa().f32(scale, &[1], &[-1.0]), 1, &[scale, "-1"]);
    assert_refused(&Model::gqa().tensor(scale, Dtype::I32, &[1], &[1; 4]), 2, &[scale, "I32"]);
    assert_refused(&Model::gqa().f32(scale, &[3], &[1.0; 3]), 2, &[scale, "[3]"]);
}

#[test]
fn zero_points_that_are_not_zero() {
    let point = Model::gqa().tensor("a.weight_zero_point", Dtype::F8_E4M3, &[1], &[0x38]);
    assert_refused(&point, 1, &["`a.weight_zero_point`", "not zero"]);
}

/// Without a config to hold the label, the result would be adjusted twice.
#[test]
fn no_place_for_the_label() {
    let mut model = Model::gqa().f32("model.layers.0.self_attn.k_scale", &[1], &[0.5]);
    model.config.as_object_mut().unwrap().remove("quantization_config");
    assert_refused(&model, 1, &["fp8_dtype_flavor", "adjusted once more"]);
}

#[test]
fn caches_that_are_not_fp8() {
    let scheme = json!({"num_bits": 8, "type": "int"});
    let model = Model::gqa()
        .quant(json!({"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}))
        .f32("model.layers.0.self_attn.k_scale", &[1], &[0.5]);
    assert_refused(&model, 1, &["int8"]);
}

#[test]
fn damaged_files() {
    let good = Model::gqa().f32("model.layers.0.self_attn.k_scale", &[1], &[0.5]);
    for damage in [
        |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1),
        |bytes: &mut Vec<u8>| bytes.push(0),
        |bytes: &mut Vec<u8>| bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes()),
        |bytes: &mut Vec<u8>| bytes[9] = b'{',
        |bytes: &mut Vec<u8>| bytes.clear(),
    ] {
        let folder = good.write();
        let path = folder.path().join("src/model.safetensors");
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        convert(folder.path(), &[]).assert_says(2, &["model.safetensors"]);
        assert_eq!(names(folder.path()), ["src"]);
        // The same damage in a file that is no part of the model.
        let folder = good.clone().index().write();
        fs::rename(path, folder.path().join("src/stray.safetensors")).unwrap();
        convert(folder.path(), &[]).assert_says(2, &["stray.safetensors"]);
        assert_eq!(names(folder.path()), ["src"]);
    }
}

/// Names and metadata that need care when a header is written anew.
#[test]
fn odd_names_survive_a_new_header() {
    let model = Model::gqa()
        .bf16("model.layers.0.self_attn.k_scale", &[1], &[0.5])
        .f32("a \"quoted\\ name\n\u{1F600}", &[1], &[1.0])
        .f32("", &[0], &[])
        .f32("{}[],:", &[], &[2.0]);
    let new = model.converted(&[]);
    for (name, old) in &model.shards["model.safetensors"] {
        assert!(new[name] == *old || name.ends_with("k_scale"), "{name:?}");
    }
}
