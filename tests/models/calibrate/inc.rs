//! INC measurements as the source.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::calibrate::support::{GQA, MLA, Run, Workshop, data, inspect_strictly};

/// `Nodes` of three layers, each with this amax for key and value.
fn mha(k: f64, v: f64) -> Value {
    let nodes = (0..3).flat_map(|l| {
        let module = |cache: &str| format!("model.layers.{l}.self_attn.attn.impl.{cache}");
        [
            (module("k_cache"), json!({"inputs": [[[k]]], "outputs": [[[k]]]})),
            (module("v_cache"), json!({"inputs": [[[v]]], "outputs": [[[v]]]})),
            (module("matmul_qk"), json!({"inputs": [[[99.0]], [[k]]]})),
        ]
    });
    nodes.collect::<serde_json::Map<_, _>>().into()
}

fn write(workshop: &Workshop, name: &str, mode: &str, nodes: &Value) -> PathBuf {
    let folder = workshop.path("inc");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let file = json!({"GlobalRank": 0, "LocalRank": 0, "Mode": mode, "Nodes": nodes});
    std::fs::write(&path, file.to_string()).unwrap();
    path
}

fn calibrate(
    workshop: &Workshop,
    model: &str,
    path: &std::path::Path,
    device: &str,
    options: &[&str],
) -> Run {
    workshop.calibrate_from(&data(model), &["--inc-measurements", path.to_str().unwrap()], device, options)
}

#[test]
fn an_amax_becomes_a_scale() {
    for (device, range) in [("gaudi2", 240.0f32), ("gaudi3", 448.0)] {
        let workshop = Workshop::new();
        let file = write(&workshop, "x_hooks_maxabs_0_1.json", "DynamicRange", &mha(24.5, 448.0));
        let found = calibrate(&workshop, GQA, &file, device, &["--margin", "1.25"]).json();
        assert_eq!(found["method"], "amax");
        for layer in found["layers"].as_array().unwrap() {
            let scale = |at: usize| layer["scales"][at]["scale"].as_f64().unwrap() as f32;
            assert_eq!(scale(0), 24.5 / range * 1.25);
            assert_eq!(scale(1), 448.0 / range * 1.25);
            // How many values saturate is not in the file.
            let choice = &layer["scales"][0]["choices"];
            assert_eq!((&choice["mse"], choice["amax"].get("saturated")), (&Value::Null, None));
            assert_eq!(layer["tokens"], Value::Null);
        }
        inspect_strictly(&workshop.out(), device);
    }
}

#[test]
fn the_largest_of_all_ranks_serves() {
    let workshop = Workshop::new();
    write(&workshop, "x_hooks_maxabs_0_2.json", "DynamicRange", &mha(2.0, 8.0));
    let second = write(&workshop, "x_hooks_maxabs_1_2.json", "DynamicRange", &mha(4.0, 6.0));
    let found = calibrate(&workshop, GQA, &workshop.path("inc"), "gaudi3", &[]).json();
    for layer in found["layers"].as_array().unwrap() {
        let amax = |at: usize| layer["scales"][at]["amax"].as_f64().unwrap();
        assert_eq!((amax(0), amax(1)), (4.0, 8.0));
    }
    calibrate(&workshop, GQA, &second, "gaudi3", &["--force"])
        .assert_refused(2, &["x_hooks_maxabs_1_2.json", "2 ranks", "{1}"]);
}

#[test]
fn a_latent_has_one_scale() {
    let workshop = Workshop::new();
    let nodes: Value = (0..3)
        .map(|l| {
            (
                format!("model.layers.{l}.self_attn.mla_attn.mla_attn.impl.latent_cache_k"),
                json!({"inputs": [[12.0]]}),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let file = write(&workshop, "x_hooks_maxabs.json", "DynamicRange", &nodes);
    let found = calibrate(&workshop, MLA, &file, "gaudi2", &[]).json();
    assert_eq!(found["layers"][2]["scales"][0]["scale"].as_f64().unwrap() as f32, 0.05);
    inspect_strictly(&workshop.out(), "gaudi2");
}

#[test]
fn what_measurements_cannot_give_is_refused() {
    let workshop = Workshop::new();
    let file = write(&workshop, "x_hooks_maxabs_0_1.json", "DynamicRange", &mha(1.0, 1.0));
    for method in ["mse", "percentile"] {
        calibrate(&workshop, GQA, &file, "gaudi2", &["--method", method])
            .assert_refused(2, &["the largest magnitude alone", method]);
    }
    calibrate(&workshop, GQA, &file, "gaudi2", &["--strategy", "attn-head"])
        .assert_refused(2, &["one scale for each head"]);
    calibrate(&workshop, MLA, &file, "gaudi2", &[]).assert_refused(2, &["latent_cache_k", "layers 0-2"]);
    for (name, mode, nodes, words) in [
        ("scales", "Scale", mha(1.0, 1.0), &["Mode", "DynamicRange"][..]),
        ("zero", "DynamicRange", mha(0.0, 1.0), &["layer 0", "zero"]),
        ("negative", "DynamicRange", mha(1.0, -1.0), &["v_cache", "-1"]),
        ("empty", "DynamicRange", json!({}), &["nothing was measured for layers 0-2", "k_cache and v_cache"]),
    ] {
        let file = write(&workshop, &format!("{name}_hooks_maxabs.json"), mode, &nodes);
        calibrate(&workshop, GQA, &file, "gaudi2", &[]).assert_refused(2, words);
    }
    let mut nodes = mha(1.0, 1.0);
    nodes["model.layers.3.self_attn.attn.impl.k_cache"] = json!({"inputs": [[[1.0]]]});
    let file = write(&workshop, "more_hooks_maxabs.json", "DynamicRange", &nodes);
    calibrate(&workshop, GQA, &file, "gaudi2", &[]).assert_refused(2, &["layers.3", "3 layers"]);
    std::fs::create_dir(workshop.path("npz")).unwrap();
    std::fs::write(workshop.path("npz/x_hooks_maxabs_0_1.npz"), "").unwrap();
    calibrate(&workshop, GQA, &workshop.path("npz"), "gaudi2", &[])
        .assert_refused(2, &["hooks_maxabs", ".npz"]);
}
