//! What cannot be read or does not fit, and what a program exits with.

use serde_json::Value;

use crate::check::layers;
use crate::check::support::{
    self, MLA, Made, activations, bf16, data, fixture_with, rewritten, run, tensors,
};

/// A change of one tensor of a file.
fn change(name: &'static str, of: &'static dyn Fn(&mut Made)) -> impl Fn(&mut Vec<Made>) {
    move |made| of(made.iter_mut().find(|(other, ..)| other == name).unwrap())
}

/// Leaves a tensor so many tokens.
fn cut((_, shape, values): &mut Made, tokens: usize) {
    values.truncate(tokens * values.len() / shape[0]);
    shape[0] = tokens;
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
    let garbage = folder.path().join("garbage.safetensors");
    std::fs::write(&garbage, b"not a safetensors file").unwrap();
    let cases = [
        (folder.path().join("absent.safetensors"), "absent.safetensors"),
        (garbage, "garbage.safetensors"),
        (folder.path().to_path_buf(), "not a regular file"),
        (write("missing", &|made| made.retain(|(name, ..)| name != "layers.1.v")), "layers.1.v"),
        (write("empty", &|made| made.clear()), "layers.0.{q,k,v}"),
        (write("heads", &change("layers.2.k", &|(_, shape, _)| *shape = vec![512, 1, 32])), "layers.2.k"),
        (write("tokens", &change("layers.0.v", &|made| cut(made, 255))), "layers.0.v"),
        (write("rank", &change("layers.0.q", &|(_, shape, _)| *shape = vec![256, 128])), "layers.0.q"),
        (write("none", &change("layers.0.q", &|made| cut(made, 0))), "layers.0.q"),
        (write("nan", &change("layers.1.k", &|(.., values)| values[77] = f32::NAN)), "layers.1.k"),
        (write("large", &change("layers.1.q", &|(.., values)| values[5] = f32::MAX)), "layers.1.q"),
        (activations("tiny-mla"), "layers.0.q"),
    ];
    for (file, named) in cases {
        let output = run("check", &data("llmc-gqa-kv"), &["--activations", file.to_str().unwrap(), "--json"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{}: {said}", file.display());
        assert!(said.contains(named), "{}: {said}", file.display());
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn activations_of_a_type_that_is_no_float_are_named() {
    let folder = tempfile::tempdir().unwrap();
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
