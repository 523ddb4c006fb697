//! Ways to damage a folder: bytes, JSON values, and whole files.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::hostile::folders::Files;

/// One damage. Positions are taken modulo what is there.
#[derive(Debug, Clone)]
pub enum Mutation {
    FlipBit { file: usize, at: usize, bit: u8 },
    SetByte { file: usize, at: usize, to: u8 },
    Truncate { file: usize, to: usize },
    Insert { file: usize, at: usize, bytes: Vec<u8> },
    Remove { file: usize, at: usize, len: usize },
    RepeatRange { file: usize, from: usize, len: usize, to: usize },
    ReplaceJson { file: usize, node: usize, with: usize },
    RemoveKey { file: usize, node: usize },
    HeaderLength { file: usize, to: u64 },
    DropFile { file: usize },
    CopyFile { from: usize, to: usize },
}

/// Any of them, JSON-aware ones more often: random bytes seldom get past the parser.
pub fn mutations() -> impl Strategy<Value = Mutation> {
    let n = || any::<usize>();
    prop_oneof![
        2 => (n(), n(), 0..8u8).prop_map(|(file, at, bit)| Mutation::FlipBit { file, at, bit }),
        2 => (n(), n(), any::<u8>()).prop_map(|(file, at, to)| Mutation::SetByte { file, at, to }),
        1 => (n(), n()).prop_map(|(file, to)| Mutation::Truncate { file, to }),
        1 => (n(), n(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(file, at, bytes)| Mutation::Insert { file, at, bytes }),
        1 => (n(), n(), 1..64usize).prop_map(|(file, at, len)| Mutation::Remove { file, at, len }),
        1 => (n(), n(), 1..64usize, n()).prop_map(|(file, from, len, to)| Mutation::RepeatRange { file, from, len, to }),
        8 => (n(), n(), n()).prop_map(|(file, node, with)| Mutation::ReplaceJson { file, node, with }),
        2 => (n(), n()).prop_map(|(file, node)| Mutation::RemoveKey { file, node }),
        1 => (n(), any::<u64>()).prop_map(|(file, to)| Mutation::HeaderLength { file, to: to >> (to % 64) }),
        1 => n().prop_map(|file| Mutation::DropFile { file }),
        1 => (n(), n()).prop_map(|(from, to)| Mutation::CopyFile { from, to }),
    ]
}

/// Values that code stumbles over.
fn odd_values() -> Vec<Value> {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(2),
        json!(3),
        json!(7),
        json!(64),
        json!(1e300),
        json!(-0.0),
        json!(1e-300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(4_294_967_296u64),
        json!(""),
        json!("NaN"),
        json!("Infinity"),
        json!("fp8"),
        json!("FP8"),
        json!("NVFP4"),
        json!("int"),
        json!("float8_e4m3fnuz"),
        json!("attn_head"),
        json!("F32"),
        json!("F8_E4M3"),
        json!("BF16"),
        json!("F64"),
        json!("F4"),
        json!("I64"),
        json!("../x.safetensors"),
        json!("/etc/passwd"),
        json!("model.safetensors"),
        json!([]),
        json!([1]),
        json!([2, 1, 1]),
        json!([u64::MAX, 2]),
        json!([0, 4]),
        json!([4, 0]),
        json!([1, 2]),
        json!({}),
        json!({"a": 1}),
        deep,
        json!({"num_bits": 8, "type": "float"}),
        json!(["linear_attention", "mla"]),
        json!("*M*-"),
    ]
}

impl Mutation {
    /// Damages the files; what does not apply changes nothing.
    pub fn apply(&self, files: &mut Files) {
        let names: Vec<String> = files.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let name = |number: usize| names[number % names.len()].clone();
        match self {
            Self::FlipBit { file, at, bit } => {
                on_byte(files, &name(*file), *at, |byte| *byte ^= 1 << bit);
            }
            Self::SetByte { file, at, to } => on_byte(files, &name(*file), *at, |byte| *byte = *to),
            Self::Truncate { file, to } => on_bytes(files, &name(*file), |content| {
                let to = to % (content.len() + 1);
                content.truncate(to);
            }),
            Self::Insert { file, at, bytes } => on_bytes(files, &name(*file), |content| {
                let at = at % (content.len() + 1);
                content.splice(at..at, bytes.iter().copied());
            }),
            Self::Remove { file, at, len } => on_bytes(files, &name(*file), |content| {
                let at = at % (content.len() + 1);
                let end = content.len().min(at + len);
                content.drain(at..end);
            }),
            Self::RepeatRange { file, from, len, to } => on_bytes(files, &name(*file), |content| {
                let from = from % (content.len() + 1);
                let piece = content[from..content.len().min(from + len)].to_vec();
                let to = to % (content.len() + 1);
                content.splice(to..to, piece);
            }),
            Self::ReplaceJson { file, node, with } => {
                let values = odd_values();
                on_json(files, &name(*file), *node, |target| *target = values[with % values.len()].clone());
            }
            Self::RemoveKey { file, node } => on_json(files, &name(*file), *node, |target| {
                if let Value::Object(map) = target {
                    let key = map.keys().nth(node % map.len().max(1)).cloned();
                    key.map(|key| map.remove(&key));
                }
            }),
            Self::HeaderLength { file, to } => on_bytes(files, &name(*file), |content| {
                if content.len() >= 8 {
                    content[..8].copy_from_slice(&to.to_le_bytes());
                }
            }),
            Self::DropFile { file } => {
                files.remove(&name(*file));
            }
            Self::CopyFile { from, to } => {
                let content = files[&name(*from)].clone();
                files.insert(name(*to), content);
            }
        }
    }
}

fn on_bytes(files: &mut Files, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    if let Some(content) = files.get_mut(name) {
        change(content);
    }
}

fn on_byte(files: &mut Files, name: &str, at: usize, change: impl FnOnce(&mut u8)) {
    on_bytes(files, name, |content| {
        if !content.is_empty() {
            let at = at % content.len();
            change(&mut content[at]);
        }
    });
}

/// Changes one node of a JSON file, or of a safetensors header, whose length is kept true.
fn on_json(files: &mut Files, name: &str, node: usize, change: impl FnOnce(&mut Value)) {
    on_bytes(files, name, |content| {
        let (start, end) = match content.split_first_chunk::<8>() {
            Some((length, rest)) if name.ends_with(".safetensors") => {
                (8, 8 + rest.len().min(u64::from_le_bytes(*length) as usize))
            }
            _ => (0, content.len()),
        };
        let Ok(mut root) = serde_json::from_slice::<Value>(&content[start..end]) else { return };
        let count = count_nodes(&root);
        let mut left = node % count;
        if let Some(target) = nth_node(&mut root, &mut left) {
            change(target);
        }
        let text = serde_json::to_vec(&root).unwrap();
        if start == 8 {
            content[..8].copy_from_slice(&(text.len() as u64).to_le_bytes());
        }
        content.splice(start..end, text);
    });
}

fn count_nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count_nodes).sum(),
        Value::Object(map) => map.values().map(count_nodes).sum::<usize>(),
        _ => 0,
    }
}

fn nth_node<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth_node(item, left)),
        Value::Object(map) => map.values_mut().find_map(|item| nth_node(item, left)),
        _ => None,
    }
}
