//! `gaudi-kv` with `--device hpu`.

#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::models::MODELS;
use crate::process::{clear, library};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Runs `gaudi-kv`, over the emulator unless the variables say otherwise.
pub fn program(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
    clear(command.args(arguments))
        .env("GAUDI_KV_RECIPE_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipes"));
    command.env_remove("VLLM_SCALE_ADJUSTMENT").envs(variables.iter().copied()).output().unwrap()
}

/// What it printed, where it did its work.
pub fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// A check over the emulated library and by the emulated device: all but the names of what computed, and the outputs.
fn compare(model: &str, generation: &str, options: &[&str]) {
    let (folder, model) = (tempfile::tempdir().unwrap(), data(model).to_string_lossy().into_owned());
    let outputs = ["emulated", "hpu"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
    let run = |device: &str, out: &str| {
        let arguments =
            [&["check", &model, "--json", "--device", device, "--outputs", out], options].concat();
        json(&program(&arguments, &[("SYNAPSE_EMU_DEVICE", generation)]))
    };
    let (mut emulated, mut hpu) = (run(generation, &outputs[0]), run("hpu", &outputs[1]));
    assert_eq!((&emulated["backend"], &hpu["backend"]), (&"emulated".into(), &"hpu".into()));
    assert_eq!((&emulated["check"]["mode"], &hpu["check"]["mode"]), (&"exact".into(), &"hpu".into()));
    for value in [&mut emulated, &mut hpu] {
        value["backend"] = Value::Null;
        value["check"]["mode"] = Value::Null;
    }
    assert!(emulated["check"]["layers"].as_array().is_some_and(|layers| !layers.is_empty()), "{model}");
    assert_eq!(emulated, hpu, "{model} {generation} {options:?}");
    let [emulated, hpu] = outputs.map(|path| std::fs::read(path).unwrap());
    assert!(emulated == hpu, "outputs of {model} on {generation}");
}

#[test]
fn every_fixture_on_gaudi2() {
    for model in MODELS {
        compare(model, "gaudi2", &["--kv-cache-dtype", "fp8"]);
    }
}

#[test]
fn every_fixture_on_gaudi3() {
    for model in MODELS {
        compare(model, "gaudi3", &["--kv-cache-dtype", "fp8"]);
    }
}

#[test]
fn captured_activations_and_other_caches() {
    let gqa = data("activations-tiny-gqa.safetensors").to_string_lossy().into_owned();
    compare("llmc-gqa-head", "gaudi2", &["--activations", &gqa]);
    compare("tiny-mla", "gaudi3", &["--kv-cache-dtype", "bf16"]);
    compare("tiny-mla", "gaudi2", &["--kv-cache-dtype", "fp8", "--q-missing", "one"]);
}

#[test]
fn an_inspection_asks_the_library_which_gaudi_it_is() {
    let model = data("llmc-gqa-kv").to_string_lossy().into_owned();
    for (device, module) in [("gaudi2", "hpu"), ("gaudi3", "hpu:0")] {
        let inspect = |wanted: &str| {
            let arguments = ["inspect", &model, "--json", "--device", wanted];
            json(&program(&arguments, &[("SYNAPSE_EMU_DEVICE", device)]))
        };
        let (mut named, mut asked) = (inspect(device), inspect(module));
        assert_eq!((&asked["device"], &asked["backend"]), (&device.into(), &"hpu".into()));
        assert_eq!(named["backend"], "emulated");
        (named["backend"], asked["backend"]) = (Value::Null, Value::Null);
        assert_eq!(named, asked);
    }
}

/// What it said where it could not do its work.
pub fn refused(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = program(arguments, variables);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn nothing_stands_in_for_a_gaudi_that_cannot_be_used() {
    let model = data("tiny-gqa").to_string_lossy().into_owned();
    let check = ["check", &model, "--device", "hpu"];
    let said = refused(&check, &[("GAUDI_KV_SYNAPSE", "/nowhere/libSynapse.so")]);
    assert!(said.contains("no SynapseAI library") && said.contains("/nowhere/libSynapse.so"), "{said}");
    let said = refused(&check, &[("SYNAPSE_EMU_FAULT", "fail=synLaunch:1")]);
    assert!(said.contains("synLaunch (recipe write) returned synFail (26)"), "{said}");
    let said = refused(&["check", &model, "--device", "hpu:5"], &[]);
    assert!(said.contains("module 5"), "{said}");
    let said = refused(&[&check[..], &["--mode", "exact"]].concat(), &[]);
    assert!(said.contains("--mode is for an emulated device"), "{said}");
    let said = refused(&["inspect", &model, "--device", "hpu:x"], &[]);
    assert!(said.contains("no number of a module"), "{said}");
}

#[test]
fn devices_are_listed() {
    let three = [("SYNAPSE_EMU_CARDS", "3"), ("SYNAPSE_EMU_DEVICE", "gaudi3")];
    let listed = json(&program(&["devices", "--json"], &three));
    let reported = &listed["library"];
    assert_eq!((&reported["gaudi2"], &reported["gaudi3"]), (&0.into(), &3.into()));
    assert_eq!(reported["modules"].as_array().unwrap().len(), 3);
    assert_eq!(reported["modules"][2]["module"], 2);
    assert_eq!(reported["modules"][2]["generation"], "gaudi3");
    assert_eq!(reported["modules"][2]["memory_total_bytes"], 4u64 << 30);
    assert!(listed["installed"].is_array() && listed["library_missing"].is_null());
    let output = program(&["devices", "--library", &library().to_string_lossy()], &three);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("0 devices of gaudi2, 3 of gaudi3"), "{text}");
    assert!(text.contains("2 gaudi3, 4096 of 4096 MiB free"), "{text}");
    // Named, and not there.
    let said = refused(&["devices", "--library", "/nowhere/libSynapse.so"], &[]);
    assert!(said.contains("/nowhere/libSynapse.so"), "{said}");
    // Not named, and not there.
    let output = program(&["devices", "--json"], &[("GAUDI_KV_SYNAPSE", "")]);
    if output.status.code() == Some(0) {
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let missing = listed["library_missing"].as_str().unwrap_or_default();
        assert!(listed["library"].is_object() || missing.contains("libSynapse.so"), "{listed}");
    }
}
