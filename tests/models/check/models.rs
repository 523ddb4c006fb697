//! Kinds of models: ranks, shared caches, windows, drafts, files for some layers.

use serde_json::Value;

use crate::check::layers;
use crate::check::support::{
    self, GQA, activations, bf16, check, check_with, data, error, f32s, rewritten, run, tensors,
};

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
