//! Scales and what they do, against `tests/oracle/calibrate_expected.py`, against `check`, and by hand.

use serde_json::Value;

use crate::calibrate::support::{
    DEVICES, GQA, MLA, Made, Workshop, activations, check, data, gqa_activations, json_file,
};

const METHODS: [&str; 3] = ["amax", "percentile", "mse"];

fn expected() -> Value {
    json_file(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/calibrate/expected.json"))
}

/// Every scale of a run with its key in the expected values.
fn scales(found: &Value, model: &str, device: &str) -> Vec<(String, Value)> {
    let layers = found["layers"].as_array().unwrap().iter();
    layers
        .flat_map(|layer| {
            layer["scales"].as_array().unwrap().iter().map(move |scale| {
                let role = scale["role"].as_str().unwrap();
                let head = scale["head"].as_u64().map_or_else(String::new, |head| format!(" {head}"));
                (format!("{model} {device} {} {role}{head}", layer["layer"]), scale.clone())
            })
        })
        .collect()
}

#[test]
fn every_choice_is_that_of_the_brute_force() {
    let expected = expected();
    let mut compared = 0;
    let runs = [
        (GQA, "gaudi2", "tensor"),
        (GQA, "gaudi2", "attn-head"),
        (GQA, "gaudi3", "tensor"),
        (MLA, "gaudi2", "tensor"),
        (MLA, "gaudi3", "tensor"),
    ];
    for (model, device, strategy) in runs {
        let found = Workshop::new().calibrate_fixture(model, device, &["--strategy", strategy]);
        for (key, scale) in scales(&found, model, device) {
            let known = &expected[&key];
            for number in ["elements", "amax"] {
                assert_eq!(scale[number].as_f64(), known[number].as_f64(), "{key} {number}");
            }
            assert_eq!(scale["scale"], scale["choices"]["mse"]["scale"], "{key}");
            for method in METHODS {
                let (choice, known) = (&scale["choices"][method], &known["choices"][method]);
                let scale = |choice: &Value| choice["scale"].as_f64().map(|scale| scale as f32);
                assert_eq!(scale(choice), scale(known), "{key} {method}");
                for count in ["saturated", "flushed_to_zero"] {
                    assert_eq!(choice[count], known[count], "{key} {method} {count}");
                }
                let error = |choice: &Value| choice["rel_l2_error"].as_f64().unwrap();
                assert!((error(choice) / error(known) - 1.0).abs() < 1e-9, "{key} {method}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, expected.as_object().unwrap().len());
}

/// What the report says of the method that is written is what `check` counts in the cache.
#[test]
fn counts_are_those_of_check() {
    for (model, method, device) in
        [(GQA, "percentile", "gaudi2"), (MLA, "percentile", "gaudi3"), (MLA, "mse", "gaudi2")]
    {
        let workshop = Workshop::new();
        let options = ["--method", method, "--percentile", "99.5"];
        let found = workshop.calibrate_fixture(model, device, &options);
        let checked = check(&workshop.out(), &activations(model), device);
        let mut saturated = 0;
        for (layer, checked) in
            found["layers"].as_array().unwrap().iter().zip(checked["layers"].as_array().unwrap())
        {
            let of = |part: &Value| ["saturated", "flushed_to_zero", "elements"].map(|key| part[key].clone());
            let scales = layer["scales"].as_array().unwrap();
            let parts: Vec<_> = if model == MLA {
                scales[0]["choices"][method]["parts"].as_array().unwrap().iter().map(of).collect()
            } else {
                let with_elements = |scale: &Value| {
                    let mut choice = scale["choices"][method].clone();
                    choice["elements"] = scale["elements"].clone();
                    of(&choice)
                };
                scales.iter().map(with_elements).collect()
            };
            let known: Vec<_> = checked["cache"]["parts"].as_array().unwrap().iter().map(of).collect();
            assert_eq!(parts, known, "{model} {method} {device} {}", layer["layer"]);
            saturated += checked["cache"]["saturated"].as_u64().unwrap();
        }
        assert_eq!(saturated > 0, method == "percentile", "{model}");
    }
}

/// 224 of 448 is a scale of one half; a margin multiplies it.
#[test]
fn scales_by_hand() {
    let workshop = Workshop::new();
    let file = workshop.activations("a.safetensors", &gqa_activations(224.0));
    for (device, amax_scale) in [("gaudi2", 224.0f32 / 240.0), ("gaudi3", 0.5)] {
        for (margin, factor) in [("1", 1.0f32), ("1.5", 1.5)] {
            let options = ["--method", "amax", "--margin", margin, "--force"];
            let found = workshop.calibrate(&data(GQA), &file, device, &options).json();
            for (key, scale) in scales(&found, GQA, device) {
                assert_eq!(scale["scale"].as_f64().unwrap() as f32, amax_scale * factor, "{key}");
                // The other values are 0.224: nothing else is below the 99th percentile of 128 values.
                let percentile = &scale["choices"]["percentile"];
                assert_eq!(percentile["scale"], scale["scale"], "{key}");
                assert_eq!(scale["choices"]["amax"]["saturated"], 0, "{key}");
            }
        }
    }
    let options = ["--method", "percentile", "--percentile", "99", "--force"];
    let found = workshop.calibrate(&data(GQA), &file, "gaudi3", &options).json();
    let small = half::bf16::from_f32(0.224).to_f32();
    for (key, scale) in scales(&found, GQA, "gaudi3") {
        // 127 of 128 values are 99.2%.
        assert_eq!(scale["scale"].as_f64().unwrap() as f32, small / 448.0, "{key}");
        assert_eq!(scale["choices"]["percentile"]["saturated"], 1, "{key}");
    }
}

/// Files of a folder count together, whatever layers and tokens each has.
#[test]
fn files_count_together() {
    let workshop = Workshop::new();
    let folder = workshop.path("captured");
    std::fs::create_dir(&folder).unwrap();
    let (small, large) = (gqa_activations(1.0), gqa_activations(8.0));
    crate::calibrate::support::write(&folder.join("a.safetensors"), &small);
    // Of the second file only layer 1, and something that no cache stores.
    let part: Vec<Made> =
        large[2..4].iter().cloned().chain([("layers.1.q".into(), vec![1], vec![9.0])]).collect();
    crate::calibrate::support::write(&folder.join("b.safetensors"), &part);
    std::fs::write(folder.join("notes.txt"), "not a safetensors file").unwrap();
    let found = workshop.calibrate(&data(GQA), &folder, "gaudi3", &["--method", "amax"]).json();
    let amax = |layer: usize| found["layers"][layer]["scales"][0]["amax"].as_f64().unwrap();
    assert_eq!([amax(0), amax(1), amax(2)], [1.0, 8.0, 1.0]);
    assert_eq!(found["layers"][1]["tokens"], 4);
    assert_eq!(found["layers"][1]["scales"][0]["elements"], 256);
    let notes = found["notes"].to_string();
    assert!(notes.contains("layers.1.q"), "{notes}");
}

/// A block is 256 KiB, so this one is read in several, and heads lie across their borders.
#[test]
fn long_tensors_are_counted_by_head_across_blocks() {
    let workshop = Workshop::new();
    let tokens = 3000;
    let values: Vec<f32> = (0..tokens * 2 * 32).map(|at| if at / 32 % 2 == 0 { 1.0 } else { 4.0 }).collect();
    let made: Vec<Made> = (0..3)
        .flat_map(|l| ["k", "v"].map(|x| (format!("layers.{l}.{x}"), vec![tokens, 2, 32], values.clone())))
        .collect();
    let file = workshop.activations("long.safetensors", &made);
    let options = ["--method", "amax", "--strategy", "attn-head"];
    let found = workshop.calibrate(&data(GQA), &file, "gaudi3", &options).json();
    for (key, scale) in scales(&found, GQA, "gaudi3") {
        let amax = if scale["head"] == 0 { 1.0 } else { 4.0 };
        assert_eq!(scale["amax"].as_f64(), Some(amax), "{key}");
        assert_eq!(scale["elements"], tokens * 32, "{key}");
    }
}

#[test]
fn two_runs_say_the_same() {
    for device in DEVICES {
        let of = || {
            let workshop = Workshop::new();
            let mut found = workshop.calibrate_fixture(GQA, device, &[]);
            found.as_object_mut().unwrap().remove("out");
            (found, std::fs::read(workshop.out().join("model-kv-scales.safetensors")).unwrap())
        };
        assert_eq!(of(), of());
    }
}
