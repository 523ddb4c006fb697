//! `kv_cache_scales.json` and its relatives: a number, or a pair, for each layer.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::scale::{SidecarNumber, SidecarScale, number};
use crate::checkpoint::json::{Document, kind};
use crate::checkpoint::scale_name::Role;
use crate::checkpoint::{CheckpointError, FindingCode, Findings};

/// Whether a JSON object is one of these tables, by its outermost keys.
pub(super) fn has_its_shape(value: &Value) -> bool {
    let lists = value.get("scales");
    lists.is_some_and(|lists| lists.get("k_scales").is_some() || lists.get("v_scales").is_some())
        || value.get("kv_cache").is_some_and(|table| table.get("scaling_factor").is_some())
}

/// Reads one of
/// - `{"kv_cache": {"dtype": .., "scaling_factor": {rank: {layer: s}}}}`, what vLLM takes as `quantization_param_path`,
/// - the same without `kv_cache`, with some layers left out, or with `[k, v]` for a layer (SGLang),
/// - `{"scales": {"k_scales": [..], "v_scales": [..]}}` (ONNX Runtime).
///
/// Ranks must agree on each layer they share; a disagreement is an error of the model.
pub(super) fn read(
    document: &Document,
    model_type: Option<&str>,
    findings: &mut Findings,
) -> Result<Vec<SidecarScale>, CheckpointError> {
    let object = document.value.as_object();
    if let Some(lists) = object.and_then(|o| o.get("scales")) {
        return read_lists(document, lists);
    }
    if let (Some(own), Some(model)) =
        (object.and_then(|o| o.get("model_type")).and_then(Value::as_str), model_type)
        && own != model
    {
        findings.warn(
            FindingCode::SidecarModelType,
            None,
            format!("{} was made for model type {own:?}, this model is {model:?}", document.file_name()),
        );
    }
    let wrapper = object.and_then(|o| o.get("kv_cache"));
    let holder = wrapper.and_then(Value::as_object).or(object);
    if let Some(dtype) = holder.and_then(|h| h.get("dtype")).filter(|d| !d.is_null()) {
        let name = dtype.as_str().unwrap_or_default().trim_start_matches("torch.");
        if !matches!(name, "float8_e4m3fn" | "fp8" | "fp8_e4m3" | "float8_e4m3") {
            let reason = format!("{dtype} is not the type of an FP8 cache; allowed is \"float8_e4m3fn\"");
            return Err(CheckpointError::key(&document.path, "kv_cache.dtype", reason));
        }
    }
    let Some(ranks) = holder.and_then(|h| h.get("scaling_factor")).and_then(Value::as_object) else {
        let reason = "is missing, and so are scales.k_scales and scales.v_scales";
        return Err(CheckpointError::key(&document.path, "kv_cache.scaling_factor", reason));
    };
    read_ranks(document, ranks, findings)
}

fn read_ranks(
    document: &Document,
    ranks: &Map<String, Value>,
    findings: &mut Findings,
) -> Result<Vec<SidecarScale>, CheckpointError> {
    let mut scales: Vec<SidecarScale> = Vec::new();
    let mut numbers: HashMap<(usize, Role), usize> = HashMap::new();
    for (rank, layers) in ranks {
        let key = format!("scaling_factor.{rank}");
        let Some(layers) = layers.as_object().filter(|_| rank.parse::<usize>().is_ok()) else {
            let reason = format!("{} where a rank's layers are needed", kind(layers));
            return Err(CheckpointError::key(&document.path, key, reason));
        };
        for (layer, value) in layers {
            let key = format!("{key}.{layer}");
            let fail = |reason: String| CheckpointError::key(&document.path, key.clone(), reason);
            let index: usize = layer.parse().map_err(|_| fail("is not a layer number".to_owned()))?;
            let name = format!("{}: {key}", document.file_name());
            for (role, value) in roles(value).map_err(fail)? {
                let new = SidecarScale {
                    name: name.clone(),
                    layer: index,
                    role,
                    number: SidecarNumber::Scale(value),
                };
                match numbers.get(&(index, role)).map(|number| &scales[*number]) {
                    None => {
                        numbers.insert((index, role), scales.len());
                        scales.push(new);
                    }
                    Some(first) if same_number(first, &new) => {}
                    Some(first) => findings.error(
                        FindingCode::RanksDisagree,
                        Some(index),
                        format!(
                            "{}: ranks disagree on layer {index}: {} and {}",
                            document.path.display(),
                            describe(first),
                            describe(&new)
                        ),
                    ),
                }
            }
        }
    }
    Ok(scales)
}

fn describe(scale: &SidecarScale) -> String {
    let (SidecarNumber::Scale(value) | SidecarNumber::Amax(value)) = scale.number;
    format!("{value} ({})", scale.name.rsplit(": ").next().unwrap_or_default())
}

fn same_number(a: &SidecarScale, b: &SidecarScale) -> bool {
    match (a.number, b.number) {
        (SidecarNumber::Scale(a), SidecarNumber::Scale(b))
        | (SidecarNumber::Amax(a), SidecarNumber::Amax(b)) => a == b,
        _ => false,
    }
}

/// One number serves key and value; a pair is key, then value.
fn roles(value: &Value) -> Result<Vec<(Role, f64)>, String> {
    if let Some(one) = number(value) {
        return Ok(vec![(Role::Kv, one)]);
    }
    if let Some([k, v]) = value.as_array().map(Vec::as_slice)
        && let (Some(k), Some(v)) = (number(k), number(v))
    {
        return Ok(vec![(Role::K, k), (Role::V, v)]);
    }
    Err(format!("{} where a number or a pair of numbers is needed", kind(value)))
}

fn read_lists(document: &Document, lists: &Value) -> Result<Vec<SidecarScale>, CheckpointError> {
    let mut scales = Vec::new();
    for (key, role) in [("k_scales", Role::K), ("v_scales", Role::V)] {
        let Some(list) = lists.get(key) else { continue };
        let items = list.as_array().ok_or_else(|| {
            CheckpointError::key(&document.path, format!("scales.{key}"), "is not a list".to_owned())
        })?;
        for (layer, value) in items.iter().enumerate() {
            // A layer without a cache has null.
            if value.is_null() {
                continue;
            }
            let key = format!("scales.{key}[{layer}]");
            let value = number(value).ok_or_else(|| {
                CheckpointError::key(
                    &document.path,
                    key.clone(),
                    format!("{} where a number is needed", kind(value)),
                )
            })?;
            let name = format!("{}: {key}", document.file_name());
            scales.push(SidecarScale { name, layer, role, number: SidecarNumber::Scale(value) });
        }
    }
    // Empty lists are those of a model without calibration.
    if lists.get("k_scales").is_none() && lists.get("v_scales").is_none() {
        return Err(CheckpointError::key(&document.path, "scales", "has neither k_scales nor v_scales"));
    }
    Ok(scales)
}
