//! KV scales in JSON files beside the weights are converted, or the model is refused.

use std::fs;

use serde_json::{Value, json};

use crate::convert::oracle::is_adjusted;
use crate::convert::support::{Model, Ran, convert, names, program};

fn layers(of: &str, folder: &std::path::Path) -> Value {
    let path = folder.join(of);
    Ran::of(program().args(["inspect", "--json", "--device", "gaudi2"]).arg(path)).json()["layers"].clone()
}

#[test]
fn tables_are_rewritten_in_place() {
    let text = "{\n  \"model_type\": \"llama\",\n  \"kv_cache\": {\"dtype\": \"float8_e4m3fn\", \"scaling_factor\": \
                {\"0\": {\"0\": 0.023, \"1\": [0.0415, 0.05], \"2\": 1.5, \"3\": 3e-3}}}\n}\n";
    let folder = Model::gqa().file("kv_cache_scales.json", text).write();
    let said = convert(folder.path(), &[]).assert_code(0).json();
    assert_eq!((&said["kv_scales"], &said["files"]["edited"]), (&5.into(), &2.into()));
    let new = fs::read_to_string(folder.path().join("dst/kv_cache_scales.json")).unwrap();
    let scales = &serde_json::from_str::<Value>(&new).unwrap()["kv_cache"]["scaling_factor"]["0"];
    for (new, old) in
        [(&scales["0"], 0.023), (&scales["1"][0], 0.0415), (&scales["1"][1], 0.05), (&scales["3"], 3e-3)]
    {
        assert!(is_adjusted(old, new.as_f64().unwrap() as f32), "{new} {old}");
    }
    assert_eq!(scales["2"], json!(2.8));
    assert_eq!(
        new.replace(&new[new.find("\"0\": {").unwrap()..], ""),
        text[..text.find("\"0\": {").unwrap()]
    );
    for (old, new) in layers("src", folder.path())
        .as_array()
        .unwrap()
        .iter()
        .zip(layers("dst", folder.path()).as_array().unwrap())
    {
        for role in ["k", "v"] {
            let [old, new] = [old, new].map(|layer| layer[role]["quant"].as_f64().unwrap());
            assert!((old - new).abs() <= 2e-7 * old, "{old} {new}");
        }
    }
}

/// A measurement is an amax, and the label alone says what it is divided by.
#[test]
fn measurements_stay_and_scales_of_inc_are_refused() {
    let inc = |mode: &str| {
        let node = json!({"inputs": [[[24.5]]]});
        let name = |cache: &str| format!("model.layers.0.self_attn.attn.impl.{cache}");
        json!({"Mode": mode, "Nodes": {name("k_cache"): node, name("v_cache"): node}}).to_string()
    };
    let folder = Model::gqa().file("inc_hooks_maxabs_0_1.json", &inc("DynamicRange")).write();
    convert(folder.path(), &[]).assert_code(0);
    let [old, new] =
        ["src", "dst"].map(|name| layers(name, folder.path())[0]["k"]["quant"].as_f64().unwrap());
    assert!((old - new).abs() <= 2e-7 * old, "{old} {new}");
    let [old, new] = ["src", "dst"]
        .map(|name| fs::read(folder.path().join(name).join("inc_hooks_maxabs_0_1.json")).unwrap());
    assert_eq!(old, new);
    let folder = Model::gqa().file("inc_hooks_maxabs_MAXABS_HW_0_1.json", &inc("Scale")).write();
    convert(folder.path(), &[]).assert_says(1, &["MAXABS_HW_0_1.json", "INC rounded for one device"]);
    assert_eq!(names(folder.path()), ["src"]);
}
