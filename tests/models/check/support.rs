//! Running the program, and making models and activations for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;

/// The base models, whose activations were captured.
pub const GQA: &str = "tiny-gqa";
pub const MLA: &str = "tiny-mla";

/// A tensor's name, shape and float32 values.
pub type Made = (String, Vec<usize>, Vec<f32>);

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The captured activations of a model's base model.
pub fn activations(model: &str) -> PathBuf {
    data(&format!("activations-{}.safetensors", if model.contains("mla") { MLA } else { GQA }))
}

pub fn command(subcommand: &str, model: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
    command.arg(subcommand).arg(model).args(options).env_remove("VLLM_SCALE_ADJUSTMENT");
    command
}

pub fn run(subcommand: &str, model: &Path, options: &[&str]) -> Output {
    command(subcommand, model, options).output().unwrap()
}

/// Checks a fixture with the activations of its base model. Returns the `check` key, and the whole object.
pub fn check(model: &str, options: &[&str]) -> (Value, Value) {
    check_with(&data(model), Some(&activations(model)), options)
}

pub fn check_with(model: &Path, activations: Option<&Path>, options: &[&str]) -> (Value, Value) {
    let mut command = command("check", model, options);
    command.arg("--json");
    if let Some(file) = activations {
        command.arg("--activations").arg(file);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{} {options:?}: {said}", model.display());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    (json["check"].clone(), json)
}

pub fn error(errors: &Value, key: &str) -> f64 {
    errors[key].as_f64().unwrap_or(f64::NAN)
}

/// The shapes and bytes of a safetensors file.
pub fn tensors(path: &Path) -> BTreeMap<String, (Vec<usize>, Vec<u8>)> {
    let bytes = std::fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    tensors
        .iter()
        .map(|(name, view)| (name.to_owned(), (view.shape().to_vec(), view.data().to_vec())))
        .collect()
}

pub fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// bfloat16 bytes as float32.
pub fn bf16(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<2>().0.iter().map(|bytes| half::bf16::from_le_bytes(*bytes).to_f32()).collect()
}

pub fn digest(bytes: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

/// Writes float32 tensors.
pub fn write(path: &Path, made: &[Made]) {
    let bytes: Vec<Vec<u8>> =
        made.iter().map(|(.., values)| values.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
    let views = made
        .iter()
        .zip(&bytes)
        .map(|((name, shape, _), bytes)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// A copy of a fixture with other scales.
pub fn fixture_with(folder: &Path, model: &str, scales: &[(String, f32)]) -> PathBuf {
    let scales = scales.iter().map(|(name, scale)| (name.clone(), vec![1], vec![*scale])).collect();
    rewritten(folder, model, &|_| (), scales)
}

/// A copy of a fixture without the tensors that have a word in their names.
pub fn without(folder: &Path, model: &str, word: &str) -> PathBuf {
    copied(folder, model, &|_| (), &|name| !name.contains(word), Vec::new())
}

/// A copy of a fixture with another config and with tensors that replace those of their names.
pub fn rewritten(folder: &Path, model: &str, config: &dyn Fn(&mut Value), made: Vec<Made>) -> PathBuf {
    let names: Vec<String> = made.iter().map(|(name, ..)| name.clone()).collect();
    // A per-head scale that is replaced by one number keeps its name.
    copied(folder, model, config, &|name| !names.iter().any(|other| other == name), made)
}

fn copied(
    folder: &Path,
    model: &str,
    change: &dyn Fn(&mut Value),
    keep: &dyn Fn(&str) -> bool,
    made: Vec<Made>,
) -> PathBuf {
    let target = folder.join(model);
    std::fs::create_dir(&target).unwrap();
    let config = std::fs::read(data(model).join("config.json")).unwrap();
    let mut config = serde_json::from_slice(&config).unwrap();
    change(&mut config);
    std::fs::write(target.join("config.json"), config.to_string()).unwrap();
    let bytes = std::fs::read(data(model).join("model.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let new: Vec<Vec<u8>> =
        made.iter().map(|(.., values)| values.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
    let kept = tensors.iter().filter(|(name, _)| keep(name)).map(|(name, view)| (name.to_owned(), view));
    let added = made.iter().zip(&new).map(|((name, shape, _), bytes)| {
        (name.clone(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
    });
    let views: Vec<_> = kept.chain(added).collect();
    std::fs::write(target.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
    target
}

/// Every tag that opens is closed in order, and every `&` begins an entity.
pub fn assert_well_formed(page: &str) {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut open = Vec::new();
    while let Some((text, tag)) = rest.split_once('<') {
        let is_style = open.last() == Some(&"style");
        assert!(is_style || !text.contains('>'), "{text}");
        for (at, _) in text.match_indices('&') {
            assert!(["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|entity| text[at..].starts_with(entity)));
        }
        let (tag, after) = tag.split_once('>').unwrap();
        let name = tag.split(' ').next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if name == "meta" => {}
            None => open.push(name),
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}");
}
