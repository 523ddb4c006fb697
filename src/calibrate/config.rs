//! Declaring the FP8 cache and its range in a model's configs.

use serde_json::{Value, json};

use super::{CalibrateError, Range};
use crate::checkpoint::{CheckpointError, ConfigPlace, FLAVOR_KEY, ModelFolder, Strategy, read_object};
use crate::rewrite::Edits;

/// What vLLM calls the method whose scheme this is.
const METHOD: &str = "compressed-tensors";
/// ModelOpt's own file has most of the config one level down, under this key.
const MODELOPT_KEY: &str = "quantization";

/// Changes every config that describes the model's quantization, so that none contradicts another. A model without any
/// gets one in `config.json`.
pub(super) fn declare(
    folder: &ModelFolder,
    strategy: Strategy,
    range: &Range,
) -> Result<Edits, CalibrateError> {
    let (root, quant) = (folder.path(), folder.quant_config());
    if strategy == Strategy::AttnHead && quant.method.as_deref().is_some_and(|method| method != METHOD) {
        let method = quant.method.as_deref().unwrap_or_default();
        return Err(CalibrateError::PerHead(format!(
            "the model's quant_method is {method}, and only {METHOD} has such scales"
        )));
    }
    if !root.join("config.json").exists() {
        let reason =
            "holds no config.json, in which the KV cache is declared (params.json has no place for it)";
        return Err(CheckpointError::NotAModel { path: root.to_owned(), reason: reason.to_owned() }.into());
    }
    let mut edits = Edits::default();
    if quant.places.is_empty() {
        let whole = ConfigPlace { file: "config.json".to_owned(), path: Vec::new() };
        edits.set(root, &whole, "quantization_config", &whole_config(strategy, range))?;
        return Ok(edits);
    }
    for place in &quant.places {
        match modelopts_own(folder, place)? {
            Some(inner) => edits.set(root, &inner, "kv_cache_quant_algo", &json!("FP8"))?,
            None => edits.set(root, place, "kv_cache_scheme", &scheme(strategy))?,
        }
    }
    if let Some(flavor) = range.fp8_dtype_flavor {
        edits.label(root, &quant.places, flavor)?;
    }
    Ok(edits)
}

/// Where ModelOpt's own file has the key of the cache; `None` of any other config.
fn modelopts_own(folder: &ModelFolder, place: &ConfigPlace) -> Result<Option<ConfigPlace>, CheckpointError> {
    if place.file == "config.json" {
        return Ok(None);
    }
    let object = read_object(&folder.path().join(&place.file))?.value;
    let is_modelopts = object.get(MODELOPT_KEY).is_some_and(Value::is_object);
    Ok(is_modelopts.then(|| ConfigPlace { file: place.file.clone(), path: vec![MODELOPT_KEY.to_owned()] }))
}

/// The scheme in compressed-tensors' words.
fn scheme(strategy: Strategy) -> Value {
    json!({"num_bits": 8, "type": "float", "strategy": strategy.name(), "dynamic": false, "symmetric": true})
}

/// A quantization config for a model without one.
fn whole_config(strategy: Strategy, range: &Range) -> Value {
    let mut whole = json!({
        "quant_method": METHOD, "format": "dense", "quantization_status": "compressed", "config_groups": {},
        "ignore": [], "kv_cache_scheme": scheme(strategy)});
    if let Some(flavor) = range.fp8_dtype_flavor {
        whole[FLAVOR_KEY] = json!(flavor.name());
    }
    whole
}
