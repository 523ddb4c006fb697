//! Which layers have a KV cache, where a rule says it and no list of names.

use std::collections::HashSet;

use serde_json::Value;

use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// The keys that the rules read.
const KEYS: [&str; 9] = [
    "full_attention_interval",
    "attn_layer_period",
    "attn_layer_indices",
    "full_attn_idxs",
    "hybrid_layer_ids",
    "linear_attn_config",
    "layer_group_size",
    "mamba_step",
    "mb_per_layer",
];

/// Whether each layer has a cache; `None` where nothing says so.
pub(super) fn cached_by_rule(
    config: &TextConfig<'_>,
    layers: usize,
) -> Result<Option<Vec<bool>>, CheckpointError> {
    // What the class alone says of these keys is in the list that it derives.
    if config.class().is_some_and(|class| class.layer_types(1).is_some())
        && KEYS.iter().all(|key| config.written(key).is_none())
    {
        return Ok(None);
    }
    for rule in [periodic, listed, linear_attention_config, grouped, stepped] {
        if let Some(has_cache) = rule(config, layers)? {
            return Ok(Some(has_cache));
        }
    }
    Ok(None)
}

type Rule = Result<Option<Vec<bool>>, CheckpointError>;

/// Qwen3-Next and Jamba: every so many layers.
fn periodic(config: &TextConfig<'_>, layers: usize) -> Rule {
    if let Some(interval) = config.count(&["full_attention_interval"])?.filter(|n| *n > 0) {
        return Ok(Some((0..layers).map(|i| (i + 1) % interval == 0).collect()));
    }
    if let Some(period) = config.count(&["attn_layer_period"])?.filter(|n| *n > 0) {
        let offset = config.count(&["attn_layer_offset"])?.unwrap_or(0);
        // Zamba has three layers of its own before the first period.
        if config.is_one_of(&["zamba"]) {
            let attends = |i: usize| i.checked_sub(3).map_or(i == 2, |i| i % period == offset % period);
            return Ok(Some((0..layers).map(attends).collect()));
        }
        return Ok(Some((0..layers).map(|i| i % period == offset % period).collect()));
    }
    Ok(None)
}

/// Bamba, LFM2, Zamba: the numbers of the layers that attend.
fn listed(config: &TextConfig<'_>, layers: usize) -> Rule {
    for key in ["attn_layer_indices", "full_attn_idxs", "hybrid_layer_ids"] {
        if let Some(listed) = config.counts(key)? {
            let listed: HashSet<usize> = listed.into_iter().collect();
            return Ok(Some((0..layers).map(|i| listed.contains(&i)).collect()));
        }
    }
    Ok(None)
}

/// Kimi Linear counts its layers from one, GLM-5 from zero: the lists of both kinds of layers together tell.
fn linear_attention_config(config: &TextConfig<'_>, layers: usize) -> Rule {
    let Some(lists) = config.object("linear_attn_config")? else { return Ok(None) };
    let read = |key: &str| -> Result<Option<HashSet<usize>>, CheckpointError> {
        let Some(list) = lists.get(key).filter(|list| !list.is_null()) else { return Ok(None) };
        let numbers = list
            .as_array()
            .and_then(|list| list.iter().map(|n| n.as_u64().and_then(|n| usize::try_from(n).ok())).collect());
        let fail = || config.fail(&format!("linear_attn_config.{key}"), "is no list of whole numbers");
        numbers.map(Some).ok_or_else(fail)
    };
    let Some(full) = read("full_attn_layers")? else { return Ok(None) };
    let linear = read("kda_layers")?.unwrap_or_default();
    let first = usize::from(!full.contains(&0) && !linear.contains(&0));
    Ok(Some((first..first + layers).map(|number| full.contains(&number)).collect()))
}

/// Bailing: the last layer of each group attends, and so do the layers behind the last whole group.
fn grouped(config: &TextConfig<'_>, layers: usize) -> Rule {
    let Some(group) = config.count(&["layer_group_size"])?.filter(|n| *n > 0) else { return Ok(None) };
    let whole = layers / group * group;
    Ok(Some((0..layers).map(|i| (i + 1) % group == 0 || i >= whole).collect()))
}

/// PLaMo 2 and Phi-4-flash: a state-space layer at one place of every step.
fn stepped(config: &TextConfig<'_>, layers: usize) -> Rule {
    let is_off = config.get("mamba_enabled").and_then(Value::as_bool) == Some(false);
    if let Some(step) = config.count(&["mamba_step"])?.filter(|n| *n > 0 && !is_off) {
        if layers <= step / 2 {
            return Ok(Some((0..layers).map(|i| i + 1 == layers).collect()));
        }
        return Ok(Some((0..layers).map(|i| i % step == step / 2).collect()));
    }
    let Some(step) = config.count(&["mb_per_layer"])?.filter(|n| *n > 0) else { return Ok(None) };
    Ok(Some((0..layers).map(|i| i % step != 0).collect()))
}
