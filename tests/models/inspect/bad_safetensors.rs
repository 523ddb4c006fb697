//! Damaged weight files: exit code 2, and the file and the tensor are named.

use serde_json::json;

use crate::inspect::builder::{Checkpoint, safetensors_file};
use crate::inspect::program::{Run, inspect};

const FILE: &str = "model.safetensors";
const K: &str = "model.layers.0.self_attn.k_scale";

/// Inspects a folder whose one weight file has this content.
fn with_file(content: &[u8]) -> Run {
    let folder = Checkpoint::gqa(1).write();
    std::fs::write(folder.path().join(FILE), content).unwrap();
    inspect(folder.path(), &["--json"])
}

/// A header of one entry for `K`, or of anything else, with `data` bytes behind it.
fn with_header(header: &str, data: usize) -> Run {
    with_file(&safetensors_file(header, &vec![0; data]))
}

fn entry(dtype: &str, shape: &str, start: u64, end: u64) -> String {
    format!(r#"{{"{K}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}}}"#)
}

#[test]
fn a_good_file_by_the_same_means_is_read() {
    let run = with_file(&safetensors_file(&entry("F32", "[1]", 0, 4), &0.05_f32.to_le_bytes()));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.json()["layers"][0]["k"]["origin"], "loaded");
}

/// Nothing is aligned behind a header of odd length.
#[test]
fn unaligned_data_is_read_right() {
    for padding in 0..8 {
        let header = entry("F32", "[1]", 0, 4) + &" ".repeat(padding);
        let run = with_file(&safetensors_file(&header, &0.0546875_f32.to_le_bytes()));
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(run.json()["layers"][0]["k"]["checkpoint"], 0.0546875);
        let header = entry("F64", "[1]", 0, 8) + &" ".repeat(padding);
        let run = with_file(&safetensors_file(&header, &0.0546875_f64.to_le_bytes()));
        assert_eq!(run.json()["layers"][0]["k"]["checkpoint"], 0.0546875);
    }
}

#[test]
fn files_shorter_than_a_header_are_refused() {
    for length in 0..8 {
        with_file(&vec![0; length]).assert_refused(&[FILE, "too short"]);
    }
}

#[test]
fn truncated_headers_are_refused() {
    let file = safetensors_file(&entry("F32", "[1]", 0, 4), &[0; 4]);
    for length in [8, 9, 20, file.len() - 5] {
        with_file(&file[..length]).assert_refused(&[FILE, "truncated"]);
    }
}

#[test]
fn truncated_data_is_refused() {
    let file = safetensors_file(&entry("F32", "[1]", 0, 4), &[0; 4]);
    with_file(&file[..file.len() - 1]).assert_refused(&[FILE, K, "outside the file"]);
}

#[test]
fn a_header_length_past_the_end_is_refused() {
    let mut file = safetensors_file(&entry("F32", "[1]", 0, 4), &[0; 4]);
    file[..8].copy_from_slice(&99_999_999_u64.to_le_bytes());
    with_file(&file).assert_refused(&[FILE, "99999999"]);
}

#[test]
fn oversized_headers_are_refused() {
    for length in [100_000_001, u64::from(u32::MAX), 1 << 63, u64::MAX] {
        let mut file = safetensors_file(&entry("F32", "[1]", 0, 4), &[0; 4]);
        file[..8].copy_from_slice(&length.to_le_bytes());
        with_file(&file).assert_refused(&[FILE, &length.to_string()]);
    }
}

#[test]
fn offsets_outside_the_file_are_refused() {
    with_header(&entry("F32", "[1]", 4, 8), 4).assert_refused(&[FILE, K, "outside"]);
    with_header(&entry("F32", "[1]", 0, 4), 0).assert_refused(&[FILE, K, "outside"]);
    with_header(&entry("F32", "[1]", u64::MAX - 4, u64::MAX), 4).assert_refused(&[FILE, K]);
}

#[test]
fn offsets_that_run_backwards_are_refused() {
    with_header(&entry("F32", "[1]", 4, 0), 4).assert_refused(&[FILE, K, "backwards"]);
}

#[test]
fn overlapping_tensors_are_refused() {
    let header = r#"{"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                     "b.weight":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
    with_header(header, 8).assert_refused(&[FILE, "b.weight", "overlap"]);
}

#[test]
fn holes_are_refused() {
    with_header(&entry("F32", "[1]", 4, 8), 8).assert_refused(&[FILE, K, "hole"]);
}

#[test]
fn trailing_bytes_are_refused() {
    with_header(&entry("F32", "[1]", 0, 4), 5).assert_refused(&[FILE, "1 bytes"]);
    with_header("{}", 1).assert_refused(&[FILE, "1 bytes"]);
}

#[test]
fn repeated_tensors_are_refused() {
    let one = r#"{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    with_header(&format!(r#"{{"{K}":{one},"{K}":{one}}}"#), 4).assert_refused(&[FILE, K, "twice"]);
    with_header(r#"{"__metadata__":{},"__metadata__":{}}"#, 0).assert_refused(&[
        FILE,
        "__metadata__",
        "twice",
    ]);
}

#[test]
fn repeated_keys_of_a_tensor_are_refused() {
    let twice = r#"{"dtype":"F32","dtype":"F16","shape":[1],"data_offsets":[0,4]}"#;
    with_header(&format!(r#"{{"{K}":{twice}}}"#), 4).assert_refused(&[FILE, K, "dtype"]);
}

#[test]
fn a_size_that_does_not_match_the_shape_is_refused() {
    with_header(&entry("F32", "[2]", 0, 4), 4).assert_refused(&[FILE, K, "8 bytes"]);
    with_header(&entry("F32", "[0]", 0, 4), 4).assert_refused(&[FILE, K, "0 bytes"]);
    with_header(&entry("F64", "[1]", 0, 4), 4).assert_refused(&[FILE, K]);
}

#[test]
fn shapes_that_overflow_are_refused() {
    for shape in ["[18446744073709551615,2]", "[4294967296,4294967296]", "[9223372036854775808]"] {
        with_header(&entry("F32", shape, 0, 4), 4).assert_refused(&[FILE, K]);
    }
    with_header(&entry("F32", "[18446744073709551616]", 0, 4), 4).assert_refused(&[FILE, K]);
    with_header(&entry("F32", "[-1]", 0, 4), 4).assert_refused(&[FILE, K]);
    with_header(&entry("F4", "[1]", 0, 1), 1).assert_refused(&[FILE, K]);
}

#[test]
fn headers_that_are_no_json_are_refused() {
    for header in [
        "",
        "{",
        "null",
        "[]",
        "{\"a\":1}",
        "{\"a\":{}}",
        "{}{}",
        "{} x",
        "\u{0}{}",
        "{\"a\":{\"dtype\":\"F99\",\"shape\":[],\"data_offsets\":[0,0]}}",
    ] {
        with_header(header, 0).assert_refused(&[FILE, "header"]);
    }
}

#[test]
fn headers_that_are_no_utf8_are_refused() {
    let mut file = 4_u64.to_le_bytes().to_vec();
    file.extend_from_slice(b"{\"\xFF}");
    with_file(&file).assert_refused(&[FILE, "UTF-8"]);
}

#[test]
fn deeply_nested_headers_are_refused() {
    with_header(&"[".repeat(100_000), 0).assert_refused(&[FILE]);
    with_header(&("{\"a\":".repeat(100_000) + "1"), 0).assert_refused(&[FILE]);
    let metadata = format!("{{\"__metadata__\":{}", "[".repeat(100_000));
    with_header(&metadata, 0).assert_refused(&[FILE]);
}

#[test]
fn types_that_no_scale_has_are_refused() {
    for (dtype, bytes) in [("I8", 1), ("U8", 1), ("BOOL", 1), ("F8_E4M3", 1), ("I32", 4), ("I64", 8)] {
        with_header(&entry(dtype, "[1]", 0, bytes), bytes as usize).assert_refused(&[FILE, K, "F32, BF16"]);
    }
}

#[test]
fn shapes_that_no_scale_has_are_refused() {
    for (shape, elements) in [
        ("[0]", 0),
        ("[2]", 2),
        ("[3,1]", 3),
        ("[4,4]", 16),
        ("[1,4]", 4),
        ("[1,4,1]", 4),
        ("[1,1,1,1]", 1),
        ("[8]", 8),
    ] {
        let run = with_header(&entry("F32", shape, 0, elements * 4), elements as usize * 4);
        run.assert_refused(&[FILE, K, "layer 0", "shape"]);
    }
}

/// A damaged file of several is the one that is named.
#[test]
fn the_damaged_shard_is_named() {
    let folder = Checkpoint::gqa(1)
        .shard("model-00001-of-00002.safetensors")
        .scale(K, 0.05)
        .file("model-00002-of-00002.safetensors", safetensors_file("{}", &[0]))
        .write();
    inspect(folder.path(), &[]).assert_refused(&["model-00002-of-00002.safetensors"]);
}

/// Without an index nobody can say which of two counts.
#[test]
fn one_tensor_in_two_files_is_refused() {
    let model = Checkpoint::gqa(1)
        .shard("model-00001-of-00002.safetensors")
        .scale(K, 0.05)
        .shard("model-00002-of-00002.safetensors")
        .scale(K, 0.05);
    let files = &[K, "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    inspect(model.write().path(), &[]).assert_refused(files);
    let map = json!({"weight_map": {K: "model-00001-of-00002.safetensors",
                                    "model.embed_tokens.weight": "model.safetensors"}});
    // In an indexed shard it is in several files all the same only where the index names both.
    let run = inspect(model.json("model.safetensors.index.json", &map).write().path(), &["--json"]);
    assert_eq!(run.code, 0, "{run:?}");
}
