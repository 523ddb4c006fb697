//! The models in `tests/data`, to Gaudi2 and back.

use std::path::Path;

use safetensors::Dtype;
use serde_json::Value;

use crate::convert::oracle::{is_adjusted, table};
use crate::convert::support::{Ran, convert, data, names, program, read};

/// Those quantized to 448, with how many scales of weights and of the cache they have.
const MODELS: [(&str, u64, u64); 7] = [
    ("autoround-gqa", 21, 9),
    ("autoround-mla", 21, 9),
    ("llmc-gqa-head", 0, 6),
    ("llmc-gqa-kv", 0, 6),
    ("llmc-gqa-w8kv", 21, 6),
    ("llmc-mla-kv", 0, 6),
    ("modelopt-gqa", 21, 6),
];

fn linked(model: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(data().join(model), folder.path().join("src")).unwrap();
    folder
}

fn inspect(path: &Path, options: &[&str]) -> Value {
    Ran::of(program().args(["inspect", "--json", "--device", "gaudi2"]).args(options).arg(path)).json()
}

fn is_kv_scale(name: &str) -> bool {
    ["k_scale", "v_scale", "q_scale"].iter().any(|role| name.ends_with(role))
}

#[test]
fn every_tensor_is_what_the_oracle_says() {
    for (factor, times, top) in [("power-of-two", 0.5, 0x77), ("exact", 240.0 / 448.0, 0x77)] {
        let table = table(times, top);
        for (model, weight_scales, kv_scales) in MODELS {
            let folder = linked(model);
            let said = convert(folder.path(), &["--factor", factor]).assert_code(0).json();
            assert_eq!(
                (&said["weight_scales"], &said["kv_scales"]),
                (&weight_scales.into(), &kv_scales.into())
            );
            let old = read(&data().join(model).join("model.safetensors"));
            let new = read(&folder.path().join("dst/model.safetensors"));
            assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>(), "{model}");
            let mut inexact = 0u64;
            for (name, old) in &old {
                let new = &new[name];
                assert_eq!(old.shape, new.shape, "{model} {name}");
                if is_kv_scale(name) {
                    assert!(
                        old.floats().iter().zip(new.f32()).all(|(o, n)| is_adjusted(*o as f32, n)),
                        "{name}"
                    );
                } else if name.ends_with("weight_scale") || name.ends_with("input_scale") {
                    let is_exact = factor == "power-of-two";
                    assert_eq!(new.dtype, if is_exact { old.dtype } else { Dtype::F32 }, "{name}");
                    for (old, new) in old.floats().iter().zip(new.floats()) {
                        let expected = old / times;
                        assert!(
                            if is_exact { new == expected } else { new == f64::from(expected as f32) },
                            "{name}"
                        );
                    }
                } else if old.dtype == Dtype::F8_E4M3 {
                    let expected: Vec<u8> = old.bytes.iter().map(|code| table[usize::from(*code)]).collect();
                    assert_eq!(new.bytes, expected, "{model} {name}");
                    let values = old.bytes.iter().zip(&new.bytes);
                    inexact += values
                        .filter(|(o, n)| {
                            crate::convert::oracle::value(**o) * times != crate::convert::oracle::value(**n)
                        })
                        .count() as u64;
                } else {
                    assert_eq!(old, new, "{model} {name}");
                }
            }
            let weights = &said["weights"];
            let counted =
                ["rounded", "flushed", "saturated", "nan"].map(|key| weights[key].as_u64().unwrap());
            assert_eq!((counted.iter().sum::<u64>(), counted[2], counted[3]), (inexact, 0, 0), "{model}");
            assert_eq!(weights["exact"].as_u64().unwrap() + inexact, weights["codes"].as_u64().unwrap());
        }
    }
}

#[test]
fn files_are_carried_over_and_the_label_is_the_only_edit() {
    for (model, ..) in MODELS {
        let folder = linked(model);
        convert(folder.path(), &[]).assert_code(0);
        let (old, new) = (data().join(model), folder.path().join("dst"));
        assert_eq!(names(&old), names(&new), "{model}");
        for name in names(&old).iter().filter(|name| *name != "model.safetensors") {
            let [before, after] = [&old, &new].map(|path| std::fs::read_to_string(path.join(name)).unwrap());
            let added =
                [8, 4, 2].map(|indent| format!(",\n{:indent$}\"fp8_dtype_flavor\": \"float8_e4m3fnuz\"", ""));
            let stripped = added.iter().fold(after.clone(), |text, line| text.replacen(line, "", 1));
            assert_eq!(stripped, before, "{model} {name}");
            let holds_quantization = before.contains("quant_method") || before.contains("quant_algo");
            assert_eq!(after != before, holds_quantization, "{model} {name}");
        }
        assert_eq!(names(folder.path()), ["dst", "src"], "{model}");
    }
}

/// The multipliers of a Gaudi2 come out the same, to the bit where a float32 scale can give it, and so does attention.
#[test]
fn check_gives_the_same_outputs_as_adjusting_at_load_time() {
    assert_same_outputs("fast");
}

#[test]
fn so_it_does_with_exact_arithmetic() {
    assert_same_outputs("exact");
}

fn assert_same_outputs(mode: &str) {
    let mut off = 0;
    for (model, ..) in MODELS {
        let folder = linked(model);
        convert(folder.path(), &[]).assert_code(0);
        let checked = ["src", "dst"].map(|name| {
            let path = folder.path().join(name);
            let run =
                Ran::of(program().args(["check", "--json", "--device", "gaudi2", "--mode", mode]).arg(path));
            run.assert_code(0).json()
        });
        let enabled = checked.each_ref().map(|c| c["scale_adjustment"]["enabled"].as_bool().unwrap());
        assert_eq!(enabled, [true, false], "{model}");
        for layer in 0..3 {
            let [old, new] = checked.each_ref().map(|c| &c["layers"][layer]);
            let mut is_same = true;
            for (role, part) in ["k", "v", "q"].iter().flat_map(|r| [(r, "quant"), (r, "dequant")]) {
                let [old, new] = [old, new].map(|l| floats(&l[role][part]));
                for (old, new) in old.iter().zip(&new) {
                    assert!(
                        (old.to_bits() as i32 - new.to_bits() as i32).abs() <= 1,
                        "{model} {role} {old} {new}"
                    );
                }
                is_same &= old == new;
            }
            off += u32::from(!is_same);
            let [old, new] = checked.each_ref().map(|c| &c["check"]["layers"][layer]);
            assert_eq!(old["cache"]["digest"], new["cache"]["digest"], "{model} {layer}");
            for phase in ["prefill", "decode"].iter().filter(|_| is_same) {
                let [old, new] = [old, new].map(|c| &c[phase]["scales"]["digest"]);
                assert_eq!(old, new, "{model} {layer} {phase}");
            }
        }
    }
    // Of 48 scales, one lies where no float32 gives the same multiplier.
    assert_eq!(off, 1);
}

fn floats(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(items) => items.iter().map(|x| x.as_f64().unwrap() as f32).collect(),
        other => other.as_f64().map(|x| x as f32).into_iter().collect(),
    }
}

#[test]
fn inspect_finds_nothing_to_say_about_a_result() {
    for (model, ..) in MODELS {
        let folder = linked(model);
        convert(folder.path(), &[]).assert_code(0);
        let report = inspect(&folder.path().join("dst"), &["--verify-weights"]);
        assert_eq!(report["scale_adjustment"]["fp8_max_quant"], 240, "{model}");
        assert_eq!(report["warnings"], Value::Array(vec![]), "{model}");
        assert_eq!(report["errors"], Value::Array(vec![]), "{model}");
        let dtypes = read(&folder.path().join("dst/model.safetensors"));
        assert!(dtypes.iter().filter(|(name, _)| is_kv_scale(name)).all(|(_, t)| t.dtype == Dtype::F32));
    }
}

#[test]
fn a_result_needs_nothing_and_the_way_back_restores_it() {
    for (model, ..) in MODELS {
        let folder = linked(model);
        convert(folder.path(), &[]).assert_code(0);
        let back = tempfile::tempdir().unwrap();
        std::fs::rename(folder.path().join("dst"), back.path().join("src")).unwrap();
        let again = convert(back.path(), &[]).assert_code(0).json();
        assert_eq!(again["outcome"], "nothing-to-do");
        assert_eq!(names(back.path()), ["src"]);
        convert(back.path(), &["--to", "gaudi3"]).assert_code(0);
        let old = read(&data().join(model).join("model.safetensors"));
        let new = read(&back.path().join("dst/model.safetensors"));
        for (name, old) in &old {
            let new = &new[name];
            if is_kv_scale(name) {
                for (old, new) in old.floats().iter().zip(new.f32()) {
                    assert!((old - f64::from(new)).abs() <= 3e-7 * old, "{model} {name}");
                }
            } else if old.dtype == Dtype::F8_E4M3 {
                let differ = old.bytes.iter().zip(&new.bytes).filter(|(o, n)| o != n);
                assert!(
                    differ.clone().all(|(o, n)| o & 0x7F < 0x10 && o & 1 == 1 && n.abs_diff(*o) == 1),
                    "{name}"
                );
            } else {
                assert_eq!(old, new, "{model} {name}");
            }
        }
        let flavor = inspect(&back.path().join("dst"), &[])["quantization"]["fp8_dtype_flavor"].clone();
        assert_eq!(flavor, "float8_e4m3fn");
    }
}

/// Weights that reach 240 cannot be doubled; a Gaudi3 reads them as they are, and only KV scales gain.
#[test]
fn a_checkpoint_made_for_240_keeps_its_weights_on_the_way_to_gaudi3() {
    for model in ["autoround-gqa-gaudi2", "autoround-mla-gaudi2"] {
        let folder = linked(model);
        let run = convert(folder.path(), &["--to", "gaudi3"]);
        let said = run.assert_says(0, &["stay as they are"]).json();
        assert_eq!((&said["weights"]["codes"], &said["kv_scales"]), (&0.into(), &9.into()));
        let old = read(&data().join(model).join("model.safetensors"));
        for (name, new) in read(&folder.path().join("dst/model.safetensors")) {
            if is_kv_scale(&name) {
                assert!(is_adjusted(new.f32()[0], old[&name].f32()[0]), "{name}");
            } else {
                assert_eq!(new, old[&name], "{name}");
            }
        }
        let exact = linked(model);
        let said = convert(exact.path(), &["--to", "gaudi3", "--factor", "exact"]).assert_code(0).json();
        assert_eq!(said["weights"]["saturated"], 0);
        let new = read(&exact.path().join("dst/model.safetensors"));
        let table = table(448.0 / 240.0, 0x7E);
        for (name, old) in old.iter().filter(|(_, t)| t.dtype == Dtype::F8_E4M3) {
            let expected: Vec<u8> = old.bytes.iter().map(|code| table[usize::from(*code)]).collect();
            assert_eq!(new[name].bytes, expected, "{name}");
        }
    }
}

#[test]
fn what_needs_nothing_is_said_to_need_nothing() {
    for (model, to, reason) in [
        ("autoround-gqa-gaudi2", "gaudi2", "float8_e4m3fnuz (240)"),
        ("autoround-gqa", "gaudi3", "no fp8_dtype_flavor"),
        ("tiny-gqa", "gaudi2", "neither FP8 (e4m3) weights nor KV scales"),
    ] {
        let folder = linked(model);
        let run = convert(folder.path(), &["--to", to]);
        assert_eq!(run.assert_says(0, &[reason]).json()["outcome"], "nothing-to-do");
        assert_eq!(names(folder.path()), ["src"]);
    }
}

#[test]
fn the_mislabelled_model_is_refused_with_the_reason() {
    for to in ["gaudi2", "gaudi3"] {
        let folder = linked("autoround-mla-mislabelled");
        let run = convert(folder.path(), &["--to", to]);
        run.assert_says(1, &["float8_e4m3fnuz promises values up to 240", "126146 FP8 codes lie above 0x77"]);
        assert_eq!((run.stdout().as_str(), names(folder.path())), ("", vec!["src".to_owned()]));
    }
}
