//! Inspections through C, against the files that `tests/oracle/expected_inspect.py` makes on its own.

use std::fs;

use safetensors::tensor::{Dtype, TensorView, serialize_to_file};
use serde_json::{Value, json};

use crate::compiler::{Program, data, succeed};

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
            finding.as_object_mut().unwrap().remove("message").unwrap();
        }
    }
}

/// The numbers behind a word, up to the next word.
fn numbers<'a>(words: &mut impl Iterator<Item = &'a str>, count: usize) -> Vec<f32> {
    let numbers = words.take(count).map(|word| hexadecimal(word) as f32);
    numbers.collect()
}

/// A number as `%a` prints it: `0x1.8p+1`.
fn hexadecimal(text: &str) -> f64 {
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let places = i32::try_from(fraction.len()).unwrap();
    digits as f64 * 2f64.powi(exponent.parse::<i32>().unwrap() - 4 * places)
}

fn listed(value: &Value) -> Vec<f32> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(|item| item.as_f64().unwrap() as f32).collect(),
        one => vec![one.as_f64().unwrap() as f32],
    }
}

/// One line of the program against one scale of the expected file.
fn assert_scale(line: &str, layer: &Value, role: usize, what: &str) {
    const ORIGINS: [&str; 6] = ["none", "loaded", "duplicated", "inherited", "defaulted", "dynamic"];
    let scale = &layer[["k", "v", "q", "prob"][role]];
    let mut words = line.split(' ');
    assert_eq!(words.next().unwrap(), layer["layer"].to_string(), "{what}");
    assert_eq!(words.next().unwrap(), (role + 1).to_string(), "{what}");
    let origin = ORIGINS[words.next().unwrap().parse::<usize>().unwrap()];
    assert_eq!(origin, scale["origin"].as_str().unwrap_or("none"), "{what}");
    for part in ["checkpoint", "quant", "dequant"] {
        assert_eq!(words.next().unwrap(), part, "{what}");
        let expected = listed(&scale[part]);
        assert_eq!(numbers(&mut words, expected.len()), expected, "{what} {part}");
    }
    assert_eq!(words.next().unwrap(), scale["tensor"].as_str().unwrap_or("-"), "{what}");
    assert_eq!(words.next(), None, "{what}");
}

pub fn all() {
    let program = Program::c("inspect.c");
    let mut compared = 0;
    for entry in data("expected").read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let parts: Vec<_> = name.split('.').collect();
        let (model, generation, flags) = match parts[..] {
            [model, generation, "json"] => (model, generation, "0"),
            [model, generation, "verify", "json"] => (model, generation, "1"),
            _ => panic!("{name}"),
        };
        let mut command = program.command(&[]);
        command.arg(data("data").join(model)).arg(generation.strip_prefix("gaudi").unwrap()).arg(flags);
        let output = String::from_utf8(succeed(&mut command).stdout).unwrap();
        let mut lines = output.lines();
        let mut found: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
        let expected = std::fs::read(data("expected").join(&name)).unwrap();
        let mut expected: Value = serde_json::from_slice(&expected).unwrap();
        without_prose(&mut found, model);
        assert_eq!(found.as_object_mut().unwrap().remove("backend"), Some(json!("emulated")), "{name}");
        as_float32(&mut found);
        as_float32(&mut expected);
        assert_eq!(found, expected, "{name}");
        for layer in expected["layers"].as_array().unwrap() {
            (0..4).for_each(|role| assert_scale(lines.next().unwrap(), layer, role, &name));
        }
        assert_eq!(lines.next(), None, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 26);
}

/// A scale of a type that none has, and one whose shape does not fit: the error names file, tensor and layer.
pub fn blamed() {
    const TENSOR: &str = "model.layers.1.self_attn.k_scale";
    let program = Program::c("blame.c");
    for (dtype, shape, layer) in [(Dtype::I32, 1, -1), (Dtype::F32, 3, 1)] {
        let model = tempfile::tempdir().unwrap();
        fs::copy(data("data/llmc-gqa-kv/config.json"), model.path().join("config.json")).unwrap();
        let bytes = vec![0; 4 * shape];
        let tensor = TensorView::new(dtype, vec![shape], &bytes).unwrap();
        let file = model.path().join("model.safetensors");
        serialize_to_file([(TENSOR, tensor)], None, &file).unwrap();
        let output = succeed(program.command(&[]).arg(model.path())).stdout;
        let expected = format!("GAUDI_KV_INVALID_MODEL {layer} {TENSOR} {}", file.display());
        assert_eq!(String::from_utf8(output).unwrap(), expected);
    }
}
