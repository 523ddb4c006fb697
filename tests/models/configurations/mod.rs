//! Configurations of every class of Hugging Face Transformers and of vLLM, with what those libraries make of them.
//!
//! The cases of `tests/data/model-types` were written by the libraries themselves; nothing of them comes from here.

mod computed;
mod engine;
mod transformers;

use std::path::{Path, PathBuf};

use gaudi_kv::checkpoint::ModelFolder;
use serde_json::Value;

fn data() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", "model-types"].iter().collect()
}

/// The lines of a file, each an object.
fn lines(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(data().join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The cases of a file that say what is right of each layer.
fn cases(file: &str) -> Vec<Value> {
    lines(file).into_iter().filter(|case| case.get("layers").is_some_and(Value::is_array)).collect()
}

/// Opens a folder that has the config and a weight file without tensors.
fn open(folder: &Path, config: &Value) -> Result<ModelFolder, String> {
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let mut file = 8u64.to_le_bytes().to_vec();
    file.extend_from_slice(b"{}      ");
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
    ModelFolder::open(folder).map_err(|error| error.to_string())
}
