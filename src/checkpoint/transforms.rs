//! Rotations that a quantization config applies to keys and queries while the model runs.

use serde_json::{Map, Value};

use super::{FindingCode, Findings};

/// Warns where scales are those of rotated keys: `transform_config` of compressed-tensors with a location in the attention,
/// or Quark's third rotation.
pub(super) fn warn_of_rotation(config: &Map<String, Value>, source: &str, findings: &mut Findings) {
    let mut warn = |what: String| {
        let message = format!(
            "{source}: {what}, so the KV scales are those of rotated keys; an engine that does not rotate them would use \
             scales of other numbers"
        );
        findings.warn(FindingCode::RotatedCache, None, message);
    };
    let schemes = config.get("transform_config").and_then(|transforms| transforms.get("config_groups"));
    for (name, scheme) in schemes.and_then(Value::as_object).into_iter().flatten() {
        let places = scheme.get("apply").and_then(Value::as_array).into_iter().flatten();
        let mut locations = places.filter_map(|place| place.get("location")?.as_str());
        if let Some(location) = locations.find(|location| matches!(*location, "k_cache" | "q_attn")) {
            let kind = scheme.get("type").and_then(Value::as_str).unwrap_or("?");
            warn(format!("transform_config.config_groups.{name} applies a transform ({kind}) at {location}"));
        }
    }
    let algorithms = match config.get("algo_config") {
        Some(Value::Array(algorithms)) => algorithms.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    if algorithms.iter().any(|algorithm| algorithm.get("r3") == Some(&Value::Bool(true))) {
        warn("algo_config has the rotation r3".to_owned());
    }
}
