//! Declaring the FP8 cache and its range in a model's configs.

use std::path::Path;

use serde_json::{Value, json};

use super::json_text::set;
use super::{CalibrateError, Range};
use crate::checkpoint::{CheckpointError, Flavor, ModelFolder, Strategy, read_file, read_object};

/// A config with its new text.
pub(super) struct ChangedConfig {
    pub(super) file_name: &'static str,
    pub(super) text: String,
}

/// What vLLM calls the method whose scheme this is.
const METHOD: &str = "compressed-tensors";
/// The keys under which `config.json` may hold a quantization config.
const CONFIG_KEYS: [&str; 3] = ["quantization_config", "compression_config", "quantization"];

/// What a config must say.
struct Declaration<'a> {
    strategy: Strategy,
    range: &'a Range,
}

/// Changes every config that describes the model's quantization, so that none contradicts another. A model without any
/// gets one in `config.json`.
pub(super) fn declare(
    folder: &ModelFolder,
    strategy: Strategy,
    range: &Range,
) -> Result<Vec<ChangedConfig>, CalibrateError> {
    let declaration = Declaration { strategy, range };
    let quant = folder.quant_config();
    if strategy == Strategy::AttnHead && quant.method.as_deref().is_some_and(|method| method != METHOD) {
        let method = quant.method.as_deref().unwrap_or_default();
        return Err(CalibrateError::PerHead(format!(
            "the model's quant_method is {method}, and only {METHOD} has such scales"
        )));
    }
    let path = folder.path().join("config.json");
    if !path.exists() {
        let reason =
            "holds no config.json, in which the KV cache is declared (params.json has no place for it)";
        return Err(
            CheckpointError::NotAModel { path: folder.path().to_owned(), reason: reason.to_owned() }.into()
        );
    }
    let config = read_text(&path)?;
    let fail = |key: &str| CheckpointError::key(&path, key, "cannot be changed: it is no object");
    let in_config = quant.source.as_deref().and_then(|source| source.strip_prefix("config.json: "));
    let place: Option<Vec<&str>> = in_config
        .map(|place| place.split('.').collect::<Vec<_>>())
        .filter(|place| place.last().is_some_and(|key| CONFIG_KEYS.contains(key)));
    let has_own_file = quant.source.as_deref().is_some_and(|source| !source.contains(": "));
    let mut changed = Vec::new();
    match place {
        Some(place) => {
            let text = declaration.add(&config, &place).ok_or_else(|| fail(&place.join(".")))?;
            changed.push(ChangedConfig { file_name: "config.json", text });
        }
        None if has_own_file => {}
        None => {
            let text = set(&config, &[], CONFIG_KEYS[0], &declaration.whole()).ok_or_else(|| fail(""))?;
            changed.push(ChangedConfig { file_name: "config.json", text });
        }
    }
    for file_name in ["hf_quant_config.json", "quantization_config.json"] {
        let path = folder.path().join(file_name);
        if !path.exists() {
            continue;
        }
        let (text, object) = (read_text(&path)?, read_object(&path)?.value);
        // ModelOpt's own file has most of the config one level down, and another key for the cache.
        let text = if object.get("quantization").is_some_and(Value::is_object) {
            set(&text, &["quantization"], "kv_cache_quant_algo", &json!("FP8"))
                .and_then(|text| declaration.add_flavor(&text, &[]))
        } else {
            declaration.add(&text, &[])
        };
        let text =
            text.ok_or_else(|| CheckpointError::key(&path, "", "cannot be changed: it is no object"))?;
        changed.push(ChangedConfig { file_name, text });
    }
    Ok(changed)
}

impl Declaration<'_> {
    /// The scheme in compressed-tensors' words.
    fn scheme(&self) -> Value {
        json!({"num_bits": 8, "type": "float", "strategy": self.strategy.name(), "dynamic": false, "symmetric": true})
    }

    /// A quantization config for a model without one.
    fn whole(&self) -> Value {
        let mut whole = json!({
            "quant_method": METHOD, "format": "dense", "quantization_status": "compressed", "config_groups": {},
            "ignore": [], "kv_cache_scheme": self.scheme()});
        if let Some(flavor) = self.range.fp8_dtype_flavor {
            whole[FLAVOR] = json!(flavor.name());
        }
        whole
    }

    fn add(&self, text: &str, place: &[&str]) -> Option<String> {
        let text = set(text, place, "kv_cache_scheme", &self.scheme())?;
        self.add_flavor(&text, place)
    }

    fn add_flavor(&self, text: &str, place: &[&str]) -> Option<String> {
        match self.range.fp8_dtype_flavor.map(Flavor::name) {
            Some(name) => set(text, place, FLAVOR, &json!(name)),
            None => Some(text.to_owned()),
        }
    }
}

const FLAVOR: &str = "fp8_dtype_flavor";

fn read_text(path: &Path) -> Result<String, CheckpointError> {
    // Opening the model has found it to be valid JSON.
    String::from_utf8(read_file(path)?).map_err(|e| CheckpointError::json(path, format!("is not UTF-8: {e}")))
}
