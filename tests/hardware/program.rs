//! The program on a card: `check` on every fixture, and the probe.

#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::card::run;

fn gaudi_kv(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
    let recipes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hardware-recipes");
    run(command.args(arguments).env("GAUDI_KV_RECIPE_CACHE", recipes).env_remove("VLLM_SCALE_ADJUSTMENT"))
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "there is no card to test, or it fails: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The fixtures: folders with a model.
fn fixtures() -> Vec<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folders = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let mut models: Vec<String> = folders
        .filter(|folder| folder.join("config.json").is_file())
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect();
    models.sort();
    models
}

/// Whether errors are of the same size: within a tenth. Digests are of every bit, and left out.
fn is_near(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let mut keys = ours.keys().filter(|key| *key != "digest");
            ours.len() == theirs.len()
                && keys.all(|key| theirs.get(key).is_some_and(|theirs| is_near(&ours[key], theirs)))
        }
        (Value::Number(ours), Value::Number(theirs)) => match (ours.as_f64(), theirs.as_f64()) {
            (Some(ours), Some(theirs)) => (ours - theirs).abs() <= 0.1 * theirs.abs() + 1e-9,
            _ => false,
        },
        _ => ours == theirs,
    }
}

#[test]
#[ignore = "needs a Gaudi"]
fn every_fixture() {
    let models = fixtures();
    assert!(models.len() >= 12, "{models:?}");
    for model in models {
        let checked = |device: &str| {
            let arguments = ["check", &model, "--json", "--kv-cache-dtype", "fp8", "--device", device];
            json(&gaudi_kv(&arguments))
        };
        let ours = checked("hpu");
        assert_eq!((&ours["backend"], &ours["check"]["mode"]), (&"hpu".into(), &"hpu".into()));
        let theirs = checked(ours["device"].as_str().unwrap());
        let count = |report: &Value| report["check"]["warnings"].as_array().unwrap().len();
        assert_eq!(count(&ours), count(&theirs), "{}", ours["check"]["warnings"]);
        let layers = |report: &Value| report["check"]["layers"].as_array().unwrap().clone();
        let (ours, theirs) = (layers(&ours), layers(&theirs));
        assert!(!ours.is_empty() && ours.len() == theirs.len(), "{model}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours["cache"], theirs["cache"], "what {model} has in its cache");
            for pass in ["prefill", "decode"] {
                let (ours, theirs) = (&ours[pass], &theirs[pass]);
                assert!(is_near(ours, theirs), "{model}, {pass}: {ours}, emulated {theirs}");
            }
        }
        let different = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count();
        println!("{model}: {different} of {} layers differ in a figure", ours.len());
    }
}

#[test]
#[ignore = "needs a Gaudi"]
fn every_question_is_answered() {
    let answers = json(&gaudi_kv(&["devices", "--probe", "--json"]));
    let answers = answers.as_array().unwrap();
    assert!(!answers.is_empty());
    for answer in answers {
        println!("{}: {} ({})", answer["name"], answer["answer"], answer["observed"]);
        assert_ne!(answer["answer"], "not answered", "{answer}");
    }
}
