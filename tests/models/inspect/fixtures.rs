//! The models in `tests/data`, whole: every key of the JSON against files that `tests/oracle/expected_inspect.py` makes
//! on its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::inspect::program::{command, run};
use crate::names::MODELS;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Numbers with a fraction as the float32 that they stand for, so that only their bits are compared.
fn as_float32(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            *value = json!(f64::from(number.as_f64().unwrap() as f32));
        }
        Value::Array(items) => items.iter_mut().for_each(as_float32),
        Value::Object(map) => map.values_mut().for_each(as_float32),
        _ => {}
    }
}

/// Takes out what is written for people and where the folder lies.
fn without_prose(report: &mut Value, model: &str) {
    report["model"]["path"] = json!(model);
    report["scale_adjustment"].as_object_mut().unwrap().remove("reason").unwrap();
    for weight in ["notes", "warnings", "errors"] {
        for finding in report[weight].as_array_mut().unwrap() {
            let message = finding.as_object_mut().unwrap().remove("message").unwrap();
            assert!(message.as_str().unwrap().len() > 10, "{message}");
        }
    }
}

#[track_caller]
fn assert_as_expected(model: &str, device: &str, verify: bool) {
    let mut program = command();
    program.args(["inspect", "--json", "--device", device]).arg(tests().join("data").join(model));
    if verify {
        program.arg("--verify-weights");
    }
    let run = run(&mut program);
    let name = format!("{model}.{device}{}.json", if verify { ".verify" } else { "" });
    let expected = std::fs::read(tests().join("expected").join(&name)).unwrap();
    let mut expected: Value = serde_json::from_slice(&expected).unwrap();
    let mut actual = run.json();
    without_prose(&mut actual, model);
    // What would compute is no finding about the model.
    let backend = actual.as_object_mut().and_then(|object| object.remove("backend"));
    assert_eq!(backend, Some(json!("emulated")), "{name}");
    as_float32(&mut actual);
    as_float32(&mut expected);
    assert_eq!(actual, expected, "{name}");
    assert_eq!(run.code, i32::from(expected["errors"] != json!([])), "{name}");
    assert_eq!(run.stderr, "", "{name}");
}

#[test]
fn all_models_on_gaudi2() {
    for model in MODELS {
        assert_as_expected(model, "gaudi2", false);
    }
}

#[test]
fn all_models_on_gaudi3() {
    for model in MODELS {
        assert_as_expected(model, "gaudi3", false);
    }
}

#[test]
fn the_mislabelled_model_is_found_out_by_its_weights() {
    for device in ["gaudi2", "gaudi3"] {
        assert_as_expected("autoround-mla-mislabelled", device, true);
    }
}

/// Every model in the folder is among those that are compared.
#[test]
fn no_model_is_left_out() {
    let folders = std::fs::read_dir(tests().join("data")).unwrap().map(|entry| entry.unwrap());
    let mut models: Vec<String> = folders
        .filter(|entry| entry.path().join("config.json").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    models.sort();
    assert_eq!(models, MODELS);
}

/// The expected files are what the oracle writes. Skipped, and said so, where there is no Python.
#[test]
fn expected_files_are_current() {
    let script = tests().join("oracle").join("expected_inspect.py");
    match Command::new("python3").arg(&script).arg("--check").output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("expected_files_are_current: skipped, no python3: {error}"),
    }
}
