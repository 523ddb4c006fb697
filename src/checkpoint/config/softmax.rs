//! The softmax scale of a layer: what multiplies the product of query and key.

use serde_json::Value;

use super::attention::Attention;
use super::layer_value::LayerConfig;
use super::model_type::ModelType;
use super::sizes::Sizes;
use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// The softmax scale of a layer; `None` where the size of its heads is not known.
pub(super) fn softmax_scale(layer: &LayerConfig<'_>, sizes: &Sizes) -> Result<Option<f64>, CheckpointError> {
    let config = layer.config;
    // Families that no table has yet normalize query and key as the one they come from.
    if config.class().is_none() && config.is_family(&["gemma4"]) {
        return Ok(Some(1.0));
    }
    if let Some((factor, power)) = config.class().and_then(ModelType::softmax_scale) {
        return Ok(sizes.head_dim.map(|dim| factor * (dim as f64).powf(power)));
    }
    if let Some(scalar) = number(layer, "query_pre_attn_scalar")? {
        return Ok(Some(scalar.sqrt().recip()));
    }
    if let Some(scale) = written_scale(layer)? {
        return Ok(Some(scale));
    }
    let Some(dim) = sizes.head_dim.map(|dim| dim as f64) else { return Ok(None) };
    let scales_softmax = match config.class() {
        Some(class) => class.has_yarn_softmax(),
        None => sizes.attention == Attention::Mla,
    };
    let mscale = if scales_softmax || config.written("yarn").is_some() { yarn_mscale(config) } else { 1.0 };
    Ok(Some(dim.sqrt().recip() * mscale * mscale))
}

/// The scale itself, where the config gives it.
fn written_scale(layer: &LayerConfig<'_>) -> Result<Option<f64>, CheckpointError> {
    for key in ["attention_multiplier", "softmax_scale"] {
        if let Some(scale) = number(layer, key)? {
            return Ok(Some(scale));
        }
    }
    let inner = layer.config.object("attn_config")?.and_then(|c| c.get("softmax_scale"));
    Ok(inner.and_then(Value::as_f64).filter(|scale| scale.is_finite() && *scale > 0.0))
}

fn number(layer: &LayerConfig<'_>, key: &str) -> Result<Option<f64>, CheckpointError> {
    layer.value(&[key]).map_or(Ok(None), |(key, value)| layer.config.as_positive(&key, value))
}

/// What a yarn rope multiplies the scale with, twice: `rope_scaling` or `rope_parameters` with `mscale_all_dim`, or the
/// `yarn` of Mistral's own files with `apply_scale`.
fn yarn_mscale(config: &TextConfig<'_>) -> f64 {
    let finite = |value: Option<&Value>| value.and_then(Value::as_f64).filter(|x| x.is_finite());
    let declared = ["rope_scaling", "rope_parameters"].into_iter().find_map(|key| {
        let rope = config.get(key)?;
        Some((
            finite(rope.get("factor"))?,
            finite(rope.get("mscale_all_dim")).filter(|mscale| *mscale != 0.0)?,
        ))
    });
    let own = || {
        let yarn = config.get("yarn").filter(|yarn| yarn.get("apply_scale") == Some(&Value::Bool(true)))?;
        Some((finite(yarn.get("factor"))?, 1.0))
    };
    match declared.or_else(own) {
        Some((factor, mscale)) if factor > 1.0 => 0.1 * mscale * libm::log(factor) + 1.0,
        _ => 1.0,
    }
}
