//! Writes one model of a group as a folder.

use std::fs;
use std::path::Path;

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::Value;

/// Writes `files` and `tensors` of a model into `folder`. A file is JSON, or `{"text": ".."}` where it is to hold what JSON
/// does not; a tensor is `[dtype, shape, value]`.
pub fn unpack(model: &Value, folder: &Path) {
    for (name, content) in model["files"].as_object().unwrap() {
        let text = content.get("text").and_then(Value::as_str).filter(|_| has_one_key(content));
        let text = text.map_or_else(|| content.to_string(), ToOwned::to_owned);
        fs::write(folder.join(name), text).unwrap();
    }
    for (file, tensors) in model["tensors"].as_object().into_iter().flatten() {
        let tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> =
            tensors.as_object().unwrap().iter().map(|(name, tensor)| read_tensor(name, tensor)).collect();
        let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap_or_else(|e| panic!("{name}: {e}")))
        });
        fs::write(folder.join(file), safetensors::serialize(views, None).unwrap()).unwrap();
    }
}

fn has_one_key(content: &Value) -> bool {
    content.as_object().is_some_and(|object| object.len() == 1)
}

fn read_tensor(name: &str, tensor: &Value) -> (String, Dtype, Vec<usize>, Vec<u8>) {
    let dtype: Dtype = serde_json::from_value(tensor[0].clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let shape: Vec<usize> = serde_json::from_value(tensor[1].clone()).unwrap();
    let bytes = bytes(dtype, shape.iter().product(), &tensor[2]);
    (name.to_owned(), dtype, shape, bytes)
}

/// The bytes of `count` elements: `{"bytes": hex}`, `{"bytes_repeat": hex}`, `{"random": ..}`, a list, or one number for all.
fn bytes(dtype: Dtype, count: usize, value: &Value) -> Vec<u8> {
    let size = count * dtype.bitsize() / 8;
    if let Some(hex) = value.get("bytes").or_else(|| value.get("bytes_repeat")) {
        return unhex(hex.as_str().unwrap()).into_iter().cycle().take(size).collect();
    }
    let values: Vec<f64> = match value {
        Value::Object(_) => random(count),
        Value::Array(items) => items.iter().map(|item| item.as_f64().unwrap()).collect(),
        one => vec![one.as_f64().unwrap(); count],
    };
    if values.iter().all(|x| *x == 0.0) {
        return vec![0; size];
    }
    values.iter().flat_map(|x| encode(dtype, *x)).collect()
}

fn encode(dtype: Dtype, x: f64) -> Vec<u8> {
    match dtype {
        Dtype::F64 => x.to_le_bytes().to_vec(),
        Dtype::F32 => (x as f32).to_le_bytes().to_vec(),
        Dtype::BF16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        Dtype::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        other => panic!("{other:?} is given as bytes"),
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Numbers between -3 and 3, the same each time.
fn random(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64 * 6.0 - 3.0
    };
    std::iter::repeat_with(next).take(count).collect()
}
