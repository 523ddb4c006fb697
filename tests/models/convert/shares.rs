//! `--shards I/N`: several processes make one result.

use std::fs;

use crate::convert::support::{Model, contents, convert, names, program};

fn model() -> Model {
    let shard = |model: Model, i: usize| {
        model
            .shard(&format!("model-{i}.safetensors"))
            .all_codes(&format!("model.layers.{i}.mlp.up_proj.weight"))
            .f32(&format!("model.layers.{i}.mlp.up_proj.weight_scale"), &[1], &[0.5])
            .bf16(&format!("model.layers.{i}.self_attn.k_scale"), &[1], &[0.5])
    };
    (0..4).fold(Model::gqa(), shard).index().file("tokenizer.json", "{}")
}

#[test]
fn the_last_share_makes_the_result_appear() {
    let alone = model().write();
    let expected = convert(alone.path(), &[]).assert_code(0).json();
    let shared = model().write();
    for share in ["2/3", "1/3"] {
        let said = convert(shared.path(), &["--shards", share]).assert_code(0).json();
        assert_eq!(said["outcome"], "part-done", "{said}");
        assert_eq!(names(shared.path()), [".dst.gaudi-kv-partial", "src"]);
    }
    let said = convert(shared.path(), &["--shards", "3/3"]).assert_code(0).json();
    assert_eq!(names(shared.path()), ["dst", "src"]);
    assert_eq!(contents(&shared.path().join("dst")), contents(&alone.path().join("dst")));
    for key in ["outcome", "weights", "weight_scales", "kv_scales", "labelled"] {
        assert_eq!(said[key], expected[key], "{key}");
    }
}

#[test]
fn shares_may_run_at_once() {
    let folder = model().write();
    let start = |share: &str| {
        let mut command = program();
        command.arg("convert").arg(folder.path().join("src")).arg(folder.path().join("dst"));
        command.args(["--to", "gaudi2", "--json", "--shards", share]).stdout(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let runs: Vec<_> = ["1/4", "2/4", "3/4", "4/4"].map(start).into_iter().collect();
    let outputs: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().unwrap()).collect();
    assert!(outputs.iter().all(|output| output.status.success()));
    let done = outputs
        .iter()
        .filter(|output| String::from_utf8_lossy(&output.stdout).contains("\"outcome\": \"converted\""));
    assert_eq!(done.count(), 1);
    assert_eq!(names(folder.path()), ["dst", "src"]);
}

#[test]
fn shares_that_do_not_fit_are_refused() {
    let folder = model().write();
    convert(folder.path(), &["--shards", "1/2"]).assert_code(0);
    convert(folder.path(), &["--shards", "1/3"]).assert_says(2, &["other options"]);
    convert(folder.path(), &["--shards", "2/2", "--factor", "exact"]).assert_says(2, &["other options"]);
    for bad in ["0/2", "3/2", "x", "1"] {
        convert(folder.path(), &["--shards", bad]).assert_code(2);
    }
    // A source that has changed meanwhile is converted anew.
    fs::write(folder.path().join("src/tokenizer.json"), "{\"new\": 1}").unwrap();
    let said = convert(folder.path(), &["--shards", "2/2"]).assert_code(0).json();
    if said["outcome"] == "part-done" {
        convert(folder.path(), &["--shards", "1/2"]).assert_code(0);
    }
    assert_eq!(fs::read(folder.path().join("dst/tokenizer.json")).unwrap(), b"{\"new\": 1}");
}
