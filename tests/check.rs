//! `gaudi-kv check` on captured activations with their float64 results, and on what goes wrong in public.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

#[path = "check/support.rs"]
mod support;

use serde_json::Value;
use support::{
    GQA, MLA, Made, activations, bf16, check, check_with, data, digest, error, f32s, fixture_with, rewritten,
    run, tensors,
};

const VARIANTS: [&str; 4] = ["scales", "scale_one", "adjustment_missing", "adjustment_twice"];
const DEVICES: [&str; 2] = ["gaudi2", "gaudi3"];

/// Every quantized fixture.
const QUANTIZED: [&str; 9] = [
    "llmc-gqa-kv",
    "llmc-gqa-head",
    "llmc-gqa-w8kv",
    "modelopt-gqa",
    "autoround-gqa",
    "autoround-gqa-gaudi2",
    "llmc-mla-kv",
    "autoround-mla",
    "autoround-mla-gaudi2",
];

fn layers(check: &Value) -> &Vec<Value> {
    check["layers"].as_array().unwrap()
}

#[test]
fn errors_are_those_against_the_captured_float64_results() {
    let folder = tempfile::tempdir().unwrap();
    let outputs = folder.path().join("outputs.safetensors");
    // Models with the bf16 weights that the results were computed with.
    for model in ["tiny-gqa", "llmc-gqa-kv", "tiny-mla", "llmc-mla-kv"] {
        let (found, _) = check(model, &["--outputs", outputs.to_str().unwrap()]);
        let (outputs, captured) = (tensors(&outputs), tensors(&activations(model)));
        for (number, layer) in layers(&found).iter().enumerate() {
            let expected = f32s(&captured[&format!("layers.{number}.attn_out")].1);
            for stage in ["prefill", "decode"] {
                let (shape, bytes) = &outputs[&format!("layers.{number}.{stage}")];
                assert_eq!(shape, &[256, 128]);
                let own = &layer[stage]["scales"];
                assert_eq!(own["digest"], digest(bytes), "{model} {number} {stage}");
                let (mut most, mut difference, mut norm) = (0.0f64, 0.0, 0.0);
                for (a, b) in f32s(bytes).iter().zip(&expected) {
                    let (a, b) = (f64::from(*a), f64::from(*b));
                    most = most.max((a - b).abs());
                    difference += (a - b) * (a - b);
                    norm += b * b;
                }
                let relative = (difference / norm).sqrt();
                assert!((error(own, "max_abs_error") - most).abs() < 1e-6, "{model} {number} {stage}");
                assert!((error(own, "rel_l2_error") - relative).abs() < 1e-6, "{model} {number} {stage}");
                assert!((error(own, "cosine") - (1.0 - relative * relative / 2.0)).abs() < 1e-3);
            }
        }
    }
}

#[test]
fn every_fixture_on_both_devices_in_both_modes() {
    for model in QUANTIZED {
        for device in DEVICES {
            let checks = ["exact", "fast"].map(|mode| check(model, &["--device", device, "--mode", mode]));
            let is_adjusted = device == "gaudi2" && !model.ends_with("gaudi2");
            for (found, json) in &checks {
                let name = format!("{model} {device} {}", found["mode"]);
                assert_eq!(json["scale_adjustment"]["enabled"], is_adjusted, "{name}");
                assert_eq!(layers(found).len(), 3);
                for layer in layers(found) {
                    let decode = |variant: &str| error(&layer["decode"][variant], "rel_l2_error");
                    // Keys calibrated on the latent alone cost MLA more than FP8 itself does.
                    let bound = if model.contains("mla") { 0.12 } else { 0.06 };
                    assert!(decode("scales") < bound, "{name}: {}", decode("scales"));
                    let missing = &layer["decode"]["adjustment_missing"];
                    let twice = &layer["decode"]["adjustment_twice"];
                    if is_adjusted {
                        assert!(decode("adjustment_missing") > 2.0 * decode("scales"), "{name}");
                        assert_ne!(twice["digest"], layer["decode"]["scales"]["digest"], "{name}");
                    } else {
                        assert_eq!(missing, &layer["decode"]["scales"], "{name}");
                        assert_eq!(twice, &layer["decode"]["scales"], "{name}");
                    }
                    // A prefill of new tokens reads no scale.
                    for variant in VARIANTS {
                        assert_eq!(layer["prefill"][variant], layer["prefill"]["scales"], "{name}");
                    }
                    assert!(error(&layer["prefill"]["scales"], "rel_l2_error") < 0.006, "{name}");
                }
            }
            let [(exact, _), (fast, _)] = &checks;
            for (exact, fast) in layers(exact).iter().zip(layers(fast)) {
                // What is stored does not depend on how products are accumulated.
                assert_eq!(exact["cache"], fast["cache"]);
                let errors = [exact, fast].map(|layer| error(&layer["decode"]["scales"], "rel_l2_error"));
                assert!((errors[0] / errors[1] - 1.0).abs() < 0.1, "{model} {device} {errors:?}");
            }
        }
    }
}

#[test]
fn scales_beat_one_where_activations_are_far_from_one() {
    for amplitude in [0.001f32, 3000.0] {
        let folder = tempfile::tempdir().unwrap();
        let scale = amplitude / 448.0;
        let layer_scales: Vec<_> = (0..3)
            .flat_map(|l| ["k", "v"].map(|s| (format!("model.layers.{l}.self_attn.{s}_scale"), scale)))
            .collect();
        let model = fixture_with(folder.path(), "llmc-gqa-kv", &layer_scales);
        let file = folder.path().join("activations.safetensors");
        let wave = |len: usize, amplitude: f32| -> Vec<f32> {
            (0..len).map(|i| amplitude * (i as f32 * 0.7).sin() * (i as f32 * 0.013).cos()).collect()
        };
        let made: Vec<_> = (0..3)
            .flat_map(|l| {
                [
                    (format!("layers.{l}.q"), vec![40, 4, 32], wave(40 * 128, 1.0 / amplitude)),
                    (format!("layers.{l}.k"), vec![40, 2, 32], wave(40 * 64, amplitude)),
                    (format!("layers.{l}.v"), vec![40, 2, 32], wave(40 * 64, amplitude)),
                ]
            })
            .collect();
        support::write(&file, &made);
        for device in DEVICES {
            let (found, _) = check_with(&model, Some(&file), &["--device", device]);
            for layer in layers(&found) {
                let decode = |variant: &str| error(&layer["decode"][variant], "rel_l2_error");
                assert!(decode("scales") < 0.05, "{amplitude} {device}: {}", decode("scales"));
                assert!(decode("scale_one") > 5.0 * decode("scales"), "{amplitude} {device}");
            }
            assert!(found["verdict"].as_str().unwrap().starts_with("fine: "), "{}", found["verdict"]);
        }
    }
}

#[test]
fn a_v_scale_that_is_nan_changes_no_bit_of_an_mla_layer() {
    for model in ["llmc-mla-kv", "autoround-mla", "autoround-mla-gaudi2"] {
        let folder = tempfile::tempdir().unwrap();
        let nan: Vec<_> = (0..3).map(|l| (format!("model.layers.{l}.self_attn.v_scale"), f32::NAN)).collect();
        let corrupted = fixture_with(folder.path(), model, &nan);
        for device in DEVICES {
            for file in [Some(activations(model)), None] {
                for mode in ["exact", "fast"] {
                    let options = ["--device", device, "--mode", mode];
                    let (expected, _) = check_with(&data(model), file.as_deref(), &options);
                    let (found, json) = check_with(&corrupted, file.as_deref(), &options);
                    assert_eq!(json["errors"], serde_json::json!([]));
                    assert_eq!(found, expected, "{model} {device} {mode}");
                }
            }
        }
    }
}

#[test]
fn a_bf16_cache_is_that_of_a_checkpoint_without_scales() {
    for (plain, scaled) in
        [("tiny-gqa", ["llmc-gqa-kv", "llmc-gqa-head", "autoround-gqa"]), ("tiny-mla", ["llmc-mla-kv"; 3])]
    {
        for device in DEVICES {
            for file in [Some(activations(plain)), None] {
                let (expected, _) = check_with(&data(plain), file.as_deref(), &["--device", device]);
                assert!(expected["verdict"].as_str().unwrap().starts_with("bf16 cache"));
                for model in scaled {
                    let options = ["--device", device, "--kv-cache-dtype", "bf16"];
                    let (found, _) = check_with(&data(model), file.as_deref(), &options);
                    assert_eq!(found, expected, "{model} {device}");
                }
            }
        }
    }
}

#[test]
fn a_scale_calibrated_on_one_part_of_the_latent_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let wave = |len: usize, amplitude: f32| -> Vec<f32> {
        (0..len).map(|i| if i % 7 == 3 { -amplitude } else { amplitude * (i as f32 * 0.9).sin() }).collect()
    };
    let check_latent = |kv_c: f32, k_pe: f32, amax: f32| {
        let scales: Vec<_> =
            (0..3).map(|l| (format!("model.layers.{l}.self_attn.k_scale"), amax / 448.0)).collect();
        let folder = folder.path().join(format!("{kv_c} {k_pe} {amax}"));
        std::fs::create_dir(&folder).unwrap();
        let model = fixture_with(&folder, "llmc-mla-kv", &scales);
        let file = folder.join("activations.safetensors");
        let made: Vec<_> = (0..3)
            .flat_map(|l| {
                [
                    (format!("layers.{l}.q_nope"), vec![20, 4, 32], wave(20 * 128, 1.0)),
                    (format!("layers.{l}.q_pe"), vec![20, 4, 64], wave(20 * 256, 1.0)),
                    (format!("layers.{l}.kv_c"), vec![20, 512], wave(20 * 512, kv_c)),
                    (format!("layers.{l}.k_pe"), vec![20, 64], wave(20 * 64, k_pe)),
                ]
            })
            .collect();
        support::write(&file, &made);
        check_with(&model, Some(&file), &["--device", "gaudi2"]).0
    };
    let found = check_latent(0.05, 1.0, 0.05);
    let verdict = found["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("the rope part (k_pe) saturates"), "{verdict}");
    assert!(
        verdict.contains("in layers 0-2") && verdict.contains("the latent part (kv_c) alone"),
        "{verdict}"
    );
    for layer in layers(&found) {
        let parts = layer["cache"]["parts"].as_array().unwrap();
        assert_eq!((parts[0]["name"].as_str(), parts[1]["name"].as_str()), (Some("kv_c"), Some("k_pe")));
        assert_eq!(
            (parts[0]["saturated"].as_u64(), parts[0]["elements"].as_u64()),
            (Some(0), Some(20 * 512))
        );
        assert!(parts[1]["saturated"].as_u64().unwrap() > 20 * 64 * 9 / 10);
        assert_eq!(layer["cache"]["saturated"], parts[1]["saturated"]);
    }
    let found = check_latent(1.0, 0.05, 0.05);
    assert!(found["verdict"].as_str().unwrap().starts_with("the latent part (kv_c) saturates"));
    // Both parts beyond the scale is another thing.
    let found = check_latent(1.0, 1.0, 0.05);
    assert!(found["verdict"].as_str().unwrap().starts_with("saturates: "), "{}", found["verdict"]);
    let found = check_latent(0.05, 1.0, 1.0);
    assert!(layers(&found).iter().all(|layer| layer["cache"]["saturated"] == 0));
}

#[test]
fn the_captured_mla_activations_need_the_larger_scale() {
    // The tools that made these fixtures saw the latent as key and its rope part as value.
    let (found, _) = check("llmc-mla-kv", &["--device", "gaudi2"]);
    let verdict = found["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("the rope part (k_pe) saturates"), "{verdict}");
    assert!(verdict.contains("--mla-scale max-kv"), "{verdict}");
    let (found, _) = check("llmc-mla-kv", &["--device", "gaudi2", "--mla-scale", "max-kv"]);
    assert!(found["verdict"].as_str().unwrap().starts_with("fine: "), "{}", found["verdict"]);
}

#[test]
fn adjusting_gives_what_a_checkpoint_made_for_the_device_gives() {
    let [(adjusted, _), (made, _)] =
        ["autoround-mla", "autoround-mla-gaudi2"].map(|model| check(model, &["--device", "gaudi2"]));
    for (adjusted, made) in layers(&adjusted).iter().zip(layers(&made)) {
        let of = |layer: &Value| error(&layer["decode"]["scales"], "rel_l2_error");
        assert!((of(adjusted) / of(made) - 1.0).abs() < 0.02, "{} {}", of(adjusted), of(made));
        assert_eq!(adjusted["cache"]["saturated"], made["cache"]["saturated"]);
    }
}

#[test]
fn synthetic_activations_follow_from_shapes_and_scales_alone() {
    for model in ["llmc-gqa-kv", "llmc-gqa-head", "autoround-mla"] {
        let of = |model: &std::path::Path, device: &str| {
            check_with(model, None, &["--device", device, "--mode", "fast"]).0
        };
        let [gaudi2, gaudi3] = DEVICES.map(|device| of(&data(model), device));
        assert_eq!(gaudi2["activations"], "synthetic");
        assert!(gaudi2["notes"][0].as_str().unwrap().contains("synthetic"));
        assert_eq!(gaudi2, of(&data(model), "gaudi2"));
        for (a, b) in layers(&gaudi2).iter().zip(layers(&gaudi3)) {
            // A bfloat16 product accumulated in float is the same on both, so equal prefills say equal activations.
            assert_eq!(a["prefill"], b["prefill"], "{model}");
            assert!(error(&a["decode"]["scales"], "rel_l2_error") < 0.08, "{model}");
            assert_eq!(a["cache"]["saturated"], 0, "{model}: the range itself does not saturate");
        }
        // Another k_scale draws others, and so does another v_scale where the layer has a cache for values.
        for (scale, changes) in [("k_scale", true), ("v_scale", !model.contains("mla"))] {
            let folder = tempfile::tempdir().unwrap();
            let name = format!("model.layers.1.self_attn.{scale}");
            let changed = of(&fixture_with(folder.path(), model, &[(name, 0.5)]), "gaudi2");
            assert_eq!(layers(&changed)[0], layers(&gaudi2)[0]);
            assert_eq!(layers(&changed)[1] != layers(&gaudi2)[1], changes, "{model} {scale}");
        }
    }
}

#[test]
fn the_json_is_the_inspection_with_one_more_key() {
    let model = data("llmc-gqa-kv");
    let (found, mut json) = check("llmc-gqa-kv", &["--device", "gaudi2"]);
    json.as_object_mut().unwrap().remove("check");
    let inspected = run("inspect", &model, &["--device", "gaudi2", "--json"]);
    assert_eq!(json, serde_json::from_slice::<Value>(&inspected.stdout).unwrap());
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort();
        names
    };
    let object = ["activations", "mode", "layers", "skipped", "warnings", "notes", "verdict"];
    assert_eq!(keys(&found), sorted(&object));
    assert_eq!((found["activations"].as_str(), found["mode"].as_str()), (Some("file"), Some("exact")));
    for layer in layers(&found) {
        assert_eq!(keys(layer), sorted(&["layer", "kv_cache_dtype", "tokens", "prefill", "decode", "cache"]));
        assert_eq!(layer["tokens"], 256);
        for stage in ["prefill", "decode"] {
            assert_eq!(keys(&layer[stage]), sorted(&VARIANTS));
            for variant in VARIANTS {
                let errors = &layer[stage][variant];
                assert_eq!(keys(errors), sorted(&["max_abs_error", "rel_l2_error", "cosine", "digest"]));
                assert_eq!(errors["digest"].as_str().unwrap().len(), 16);
            }
        }
        let cache = ["saturated", "flushed_to_zero", "elements", "digest", "parts"];
        assert_eq!(keys(&layer["cache"]), sorted(&cache));
        assert_eq!(layer["cache"]["elements"], 2 * 256 * 64);
    }
    // No path of this machine, wherever the model lies.
    assert!(!found.to_string().contains(model.to_str().unwrap()));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for model in ["llmc-gqa-head", "llmc-mla-kv"] {
        for mode in ["exact", "fast"] {
            let [one, four] = ["1", "4"].map(|threads| {
                let mut command = support::command("check", &data(model), &["--mode", mode, "--json", "-q"]);
                let file = activations(model);
                command.args(["--device", "gaudi2", "--activations", file.to_str().unwrap()]);
                command.env("RAYON_NUM_THREADS", threads).output().unwrap().stdout
            });
            assert_eq!(one, four, "{model} {mode}");
        }
    }
}

#[test]
fn ranks_compute_their_own_heads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outputs.safetensors");
    let outputs = |model: &str, more: &[&str]| {
        let mut options = vec!["--device", "gaudi2", "--outputs", path.to_str().unwrap()];
        options.extend(more);
        check(model, &options);
        tensors(&path)
    };
    for model in ["llmc-gqa-head", "llmc-mla-kv"] {
        let whole = outputs(model, &[]);
        for rank in 0..2usize {
            let part = outputs(model, &["--tp", "2", "--rank", &rank.to_string()]);
            for (name, (shape, bytes)) in &whole {
                let (part_shape, part_bytes) = &part[name];
                assert_eq!(part_shape, &[shape[0], shape[1] / 2]);
                let expected: Vec<f32> = f32s(bytes)
                    .chunks_exact(shape[1])
                    .flat_map(|row| row[rank * 64..(rank + 1) * 64].to_vec())
                    .collect();
                assert_eq!(f32s(part_bytes), expected, "{model} {name} rank {rank}");
            }
        }
    }
    let output = run("check", &data("llmc-mla-kv"), &["--tp", "8", "--rank", "0"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn activations_may_be_of_other_float_types() {
    let folder = tempfile::tempdir().unwrap();
    let expected = check("llmc-gqa-kv", &["--device", "gaudi2"]).0;
    let file = folder.path().join("f32.safetensors");
    let as_f32: Vec<_> = tensors(&activations("llmc-gqa-kv"))
        .into_iter()
        .filter(|(name, _)| !name.ends_with("attn_out"))
        .map(|(name, (shape, bytes))| (name, shape, bf16(&bytes)))
        .collect();
    support::write(&file, &as_f32);
    assert_eq!(check_with(&data("llmc-gqa-kv"), Some(&file), &["--device", "gaudi2"]).0, expected);
}

#[test]
fn bad_activation_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = tensors(&activations("llmc-gqa-kv"));
    let write = |name: &str, change: &dyn Fn(&mut Vec<Made>)| {
        let mut made: Vec<_> = good
            .iter()
            .filter(|(name, _)| !name.ends_with("attn_out"))
            .map(|(name, (shape, bytes))| (name.clone(), shape.clone(), bf16(bytes)))
            .collect();
        change(&mut made);
        let file = folder.path().join(name);
        support::write(&file, &made);
        file
    };
    let at = |made: &mut Vec<Made>, name: &str| made.iter().position(|(other, ..)| other == name).unwrap();
    let garbage = folder.path().join("garbage.safetensors");
    std::fs::write(&garbage, b"not a safetensors file").unwrap();
    let cases = [
        (folder.path().join("absent.safetensors"), "absent.safetensors"),
        (garbage, "garbage.safetensors"),
        (folder.path().to_path_buf(), "not a regular file"),
        (write("missing", &|made| made.retain(|(name, ..)| name != "layers.1.v")), "layers.1.v"),
        (write("empty", &|made| made.clear()), "layers.0.{q,k,v}"),
        (
            write("heads", &|made| {
                let i = at(made, "layers.2.k");
                made[i].1 = vec![512, 1, 32];
            }),
            "layers.2.k",
        ),
        (
            write("tokens", &|made| {
                let i = at(made, "layers.0.v");
                made[i].1[0] = 255;
                made[i].2.truncate(255 * 64);
            }),
            "layers.0.v",
        ),
        (
            write("rank", &|made| {
                let i = at(made, "layers.0.q");
                made[i].1 = vec![256, 128];
            }),
            "layers.0.q",
        ),
        (
            write("none", &|made| {
                let i = at(made, "layers.0.q");
                made[i].1[0] = 0;
                made[i].2.clear();
            }),
            "layers.0.q",
        ),
        (
            write("nan", &|made| {
                let i = at(made, "layers.1.k");
                made[i].2[77] = f32::NAN;
            }),
            "layers.1.k",
        ),
        (
            write("large", &|made| {
                let i = at(made, "layers.1.q");
                made[i].2[5] = f32::MAX;
            }),
            "layers.1.q",
        ),
        (activations("tiny-mla"), "layers.0.q"),
    ];
    for (file, named) in cases {
        let output = run("check", &data("llmc-gqa-kv"), &["--activations", file.to_str().unwrap(), "--json"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{}: {said}", file.display());
        assert!(said.contains(named), "{}: {said}", file.display());
        assert!(output.stdout.is_empty());
    }
    // A type that is no float.
    let file = folder.path().join("integers.safetensors");
    let bytes = vec![0u8; 256 * 128];
    let view =
        safetensors::tensor::TensorView::new(safetensors::Dtype::U8, vec![256, 4, 32], &bytes).unwrap();
    std::fs::write(&file, safetensors::serialize([("layers.0.q", view)], None).unwrap()).unwrap();
    let output = run("check", &data("llmc-gqa-kv"), &["--activations", file.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("layers.0.q") && said.contains("U8"), "{said}");
}

#[test]
fn a_file_for_some_layers_checks_those() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.safetensors");
    let mut made: Vec<_> = tensors(&activations(GQA))
        .into_iter()
        .filter(|(name, _)| name.starts_with("layers.1.") && !name.ends_with("attn_out"))
        .map(|(name, (shape, bytes))| (name, shape, bf16(&bytes)))
        .collect();
    made.push(("layers.9.q".to_owned(), vec![1], vec![0.0]));
    support::write(&file, &made);
    let (found, _) = check_with(&data("llmc-gqa-kv"), Some(&file), &["--device", "gaudi2"]);
    let (all, _) = check("llmc-gqa-kv", &["--device", "gaudi2"]);
    assert_eq!(layers(&found), &layers(&all)[1..2]);
    let skipped: Vec<_> = found["skipped"].as_array().unwrap().iter().map(|s| s["layer"].as_u64()).collect();
    assert_eq!(skipped, [Some(0), Some(2)]);
    assert!(found["verdict"].as_str().unwrap().contains("not checked: layers 0, 2"), "{}", found["verdict"]);
    assert!(found["notes"][0].as_str().unwrap().contains("layers.9.q"));
}

#[test]
fn exit_codes() {
    let code = |model: &std::path::Path, options: &[&str]| run("check", model, options).status.code();
    assert_eq!(code(&data("llmc-gqa-kv"), &[]), Some(0));
    // A bad verdict is no error.
    let mla = activations(MLA);
    assert_eq!(code(&data("llmc-mla-kv"), &["--activations", mla.to_str().unwrap()]), Some(0));
    assert_eq!(code(&data("llmc-gqa-kv"), &["--mode", "slow"]), Some(2));
    assert_eq!(code(&data("absent"), &[]), Some(2));
    let outputs = data("absent/outputs.safetensors");
    assert_eq!(code(&data("llmc-gqa-kv"), &["--outputs", outputs.to_str().unwrap()]), Some(2));
    // A layer whose scale is an error is not run; the others are.
    let folder = tempfile::tempdir().unwrap();
    let name = "model.layers.1.self_attn.k_scale".to_owned();
    let broken = fixture_with(folder.path(), "llmc-gqa-kv", &[(name, f32::NAN)]);
    let output = run("check", &broken, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(layers(&json["check"]).len(), 2);
    assert_eq!(json["check"]["skipped"][0]["layer"], 1);
    // Warnings of the model count under --strict, those of the check do not.
    let folder = tempfile::tempdir().unwrap();
    let zero = ["k", "v"].map(|s| (format!("model.layers.1.self_attn.{s}_scale"), 0.0));
    let warned = fixture_with(folder.path(), "llmc-gqa-kv", &zero);
    assert_eq!(code(&warned, &[]), Some(0));
    assert_eq!(code(&warned, &["--strict"]), Some(1));
    assert_eq!(code(&data("llmc-gqa-kv"), &["--strict"]), Some(0));
}

#[test]
fn shared_caches_windows_and_sinks_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let config = |config: &mut Value| {
        config["layer_types"] = serde_json::json!(["full_attention", "sliding_attention", "full_attention"]);
        config["sliding_window"] = 16.into();
        config["use_sliding_window"] = true.into();
        config["num_kv_shared_layers"] = 1.into();
        config["attn_logit_softcapping"] = 20.0.into();
        config["alibi"] = true.into();
    };
    let sinks = ("model.layers.0.self_attn.sinks".to_owned(), vec![4], vec![0.5, -1.0, 2.0, 0.0]);
    let model = rewritten(folder.path(), "llmc-gqa-kv", &config, vec![sinks]);
    // Layer 2 reads the cache of layer 0, so it has neither keys nor values.
    let file = folder.path().join("shared.safetensors");
    let made: Vec<_> = tensors(&activations("llmc-gqa-kv"))
        .into_iter()
        .filter(|(name, _)| !["attn_out", "2.k", "2.v"].iter().any(|end| name.ends_with(end)))
        .map(|(name, (shape, bytes))| (name, shape, bf16(&bytes)))
        .collect();
    support::write(&file, &made);
    for file in [Some(file.as_path()), None] {
        let (found, json) = check_with(&model, file, &["--device", "gaudi2"]);
        assert_eq!(json["layers"][2]["cache_owner"], 0);
        assert!(found["notes"].to_string().contains("not modelled: ALiBi"), "{}", found["notes"]);
        assert_eq!(layers(&found).len(), 3);
        for layer in layers(&found) {
            assert!(error(&layer["prefill"]["scales"], "rel_l2_error") < 0.006);
            assert!(error(&layer["decode"]["scales"], "rel_l2_error") < 0.08);
        }
        assert_eq!(layers(&found)[2]["cache"], layers(&found)[0]["cache"]);
    }
    // The same without them gives other outputs.
    let (plain, _) = check("llmc-gqa-kv", &["--device", "gaudi2"]);
    let (changed, _) = check_with(&model, Some(&activations("llmc-gqa-kv")), &["--device", "gaudi2"]);
    for (a, b) in layers(&plain).iter().zip(layers(&changed)) {
        assert_ne!(a["prefill"]["scales"]["digest"], b["prefill"]["scales"]["digest"]);
    }
    let skip = ["--device", "gaudi2", "--kv-cache-dtype-skip-layers", "sliding_window"];
    let (found, _) = check_with(&model, None, &skip);
    let dtypes: Vec<_> = layers(&found).iter().map(|layer| layer["kv_cache_dtype"].as_str()).collect();
    assert_eq!(dtypes, [Some("fp8"), Some("bf16"), Some("fp8")]);
    assert!(error(&layers(&found)[1]["decode"]["scales"], "rel_l2_error") < 0.006);
}

#[test]
fn a_model_without_the_weight_that_mla_needs_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let model = support::without(folder.path(), "llmc-mla-kv", "kv_b_proj");
    let output = run("check", &model, &["--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(layers(&json["check"]).len(), 0);
    let verdict = json["check"]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("nothing was checked") && verdict.contains("kv_b_proj"), "{verdict}");
}

#[test]
fn the_page_has_every_error_and_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for (model, parts) in [("llmc-gqa-head", 2), ("llmc-mla-kv", 2), ("tiny-gqa", 0)] {
        let (found, _) = check(model, &["--device", "gaudi2", "--report", page.to_str().unwrap()]);
        let page = std::fs::read_to_string(&page).unwrap();
        for forbidden in
            ["<script", "http://", "https://", "<img", "<link", "url(", " href", " src", " style=\""]
        {
            assert!(!page.contains(forbidden), "{model} {forbidden}");
        }
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
        // A mark for each layer, variant and stage; a digest for each layer and variant; a panel for each part.
        assert_eq!(page.matches("class=\"point dequant\"").count(), 3 * 4 * 2, "{model}");
        assert_eq!(page.matches("class=\"panel codes\"").count(), parts, "{model}");
        for layer in layers(&found) {
            for variant in VARIANTS {
                assert!(page.contains(layer["decode"][variant]["digest"].as_str().unwrap()));
            }
        }
        let verdict = found["verdict"].as_str().unwrap();
        assert!(page.contains(&format!("<p class=\"words\">{verdict}</p>")), "{model}");
        support::assert_well_formed(&page);
    }
}

#[test]
fn the_text_has_a_row_for_each_layer_and_the_verdict() {
    let file = activations(GQA);
    let options = ["--device", "gaudi2", "--activations", file.to_str().unwrap()];
    let text = String::from_utf8(run("check", &data("llmc-gqa-kv"), &options).stdout).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("layer"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert!(rows[1..].iter().all(|row| row.split_whitespace().count() == 9), "{text}");
    assert!(text.is_ascii() && text.lines().last().unwrap().starts_with("verdict fine: "), "{text}");
    assert!(text.contains("activations    from the file given, 256 tokens"), "{text}");
    let text = String::from_utf8(run("check", &data("llmc-gqa-kv"), &["--mode", "fast"]).stdout).unwrap();
    assert!(text.contains("activations    synthetic, 160 tokens; fast arithmetic"), "{text}");
}

#[test]
fn damaged_configs_and_scales_give_a_result_or_an_error() {
    let values = |key: &str| -> Vec<Value> {
        let numbers =
            ["0", "1", "3", "7", "1000000", "4000000000", "-1", "1e308", "1e-308", "\"x\"", "null", "[]"];
        let numbers = numbers.iter().map(|text| serde_json::from_str(text).unwrap());
        if key == "rope_scaling" {
            [r#"{"factor": 1e308, "mscale_all_dim": 1e308}"#, r#"{"factor": -1, "mscale_all_dim": 1}"#, "3"]
                .iter()
                .map(|text| serde_json::from_str(text).unwrap())
                .collect()
        } else {
            numbers.collect()
        }
    };
    let cases = [
        ("llmc-gqa-kv", "head_dim"),
        ("llmc-gqa-kv", "num_attention_heads"),
        ("llmc-gqa-kv", "num_key_value_heads"),
        ("llmc-gqa-kv", "v_head_dim"),
        ("llmc-gqa-kv", "query_pre_attn_scalar"),
        ("llmc-gqa-kv", "attention_multiplier"),
        ("llmc-gqa-kv", "attn_logit_softcapping"),
        ("llmc-mla-kv", "kv_lora_rank"),
        ("llmc-mla-kv", "qk_rope_head_dim"),
        ("llmc-mla-kv", "qk_nope_head_dim"),
        ("llmc-mla-kv", "v_head_dim"),
        ("llmc-mla-kv", "num_attention_heads"),
        ("llmc-mla-kv", "rope_scaling"),
    ];
    let checked = |model: &std::path::Path, what: &str, files: &[Option<std::path::PathBuf>]| {
        for file in files {
            let mut options = vec!["--mode", "fast", "--json"];
            if let Some(file) = file {
                options.extend(["--activations", file.to_str().unwrap()]);
            }
            let output = run("check", model, &options);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0..=2)), "{what}: {said}");
        }
    };
    for (model, key) in cases {
        for value in values(key) {
            let folder = tempfile::tempdir().unwrap();
            let what = format!("{model} {key} {value}");
            let change = |config: &mut Value| config[key] = value.clone();
            let damaged = rewritten(folder.path(), model, &change, Vec::new());
            checked(&damaged, &what, &[Some(activations(model)), None]);
        }
    }
    for scale in [1e-44, 1e-38, 1e-36, 1e-20, 1e20, 1e36, 3e38] {
        for model in ["llmc-gqa-kv", "llmc-mla-kv"] {
            let folder = tempfile::tempdir().unwrap();
            let scales: Vec<_> = ["k", "v", "q", "prob"]
                .map(|s| (format!("model.layers.0.self_attn.{s}_scale"), scale))
                .to_vec();
            let damaged = fixture_with(folder.path(), model, &scales);
            checked(&damaged, &format!("{model} {scale}"), &[Some(activations(model)), None]);
        }
    }
}

#[test]
fn a_draft_layer_is_run_with_its_own_weight() {
    let folder = tempfile::tempdir().unwrap();
    let weights = tensors(&data("llmc-mla-kv").join("model.safetensors"));
    let (shape, bytes) = &weights["model.layers.1.self_attn.kv_b_proj.weight"];
    let made = vec![
        ("mtp.layers.0.self_attn.kv_b_proj.weight".to_owned(), shape.clone(), bf16(bytes)),
        ("mtp.layers.0.self_attn.k_scale".to_owned(), vec![1], vec![0.02]),
    ];
    let change = |config: &mut Value| config["num_nextn_predict_layers"] = 1.into();
    let model = rewritten(folder.path(), "llmc-mla-kv", &change, made);
    let (found, json) = check_with(&model, None, &["--device", "gaudi2"]);
    assert_eq!(json["layers"][3]["draft"], true);
    assert_eq!(layers(&found).len(), 4);
    assert!(error(&layers(&found)[3]["decode"]["scales"], "rel_l2_error") < 0.06);
    // Captured activations without the draft's skip it, and say so.
    let (found, _) = check_with(&model, Some(&activations("tiny-mla")), &["--device", "gaudi2"]);
    assert_eq!((layers(&found).len(), found["skipped"][0]["layer"].as_u64()), (3, Some(3)));
}
