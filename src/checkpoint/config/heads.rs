//! How many query heads and KV heads a layer has.

use serde_json::Value;

use super::layer_value::LayerConfig;
use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// Keys of the query heads of an encoder-decoder's decoder; what it calls by the common names is the encoder's.
const DECODER_HEADS: [&str; 3] =
    ["decoder_attention_heads", "decoder_num_attention_heads", "num_decoder_attention_heads"];

/// Keys of the query heads.
const QUERY_HEADS: [&str; 5] = ["num_attention_heads", "n_head", "n_heads", "num_heads", "num_query_heads"];

/// Keys of the KV heads.
const KV_HEADS: [&str; 6] = [
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "n_kv_heads",
    "num_attention_groups",
    "num_query_groups",
];

/// Refuses lists of heads that have no entry for some layer. One entry serves all; entries beyond the last layer are of
/// drafts.
pub(super) fn check_lists(config: &TextConfig<'_>, layers: usize) -> Result<(), CheckpointError> {
    for key in DECODER_HEADS.iter().chain(&QUERY_HEADS).chain(&KV_HEADS) {
        let entries = config.written(key).and_then(Value::as_array).map(Vec::len);
        if let Some(entries) = entries.filter(|entries| *entries != 1 && *entries < layers) {
            return Err(config.fail(key, format!("{entries} entries for {layers} layers")));
        }
    }
    Ok(())
}

/// The query heads of a layer; `None` where neither the config nor its class says it.
pub(super) fn query_heads(layer: &LayerConfig<'_>) -> Result<Option<usize>, CheckpointError> {
    // JetMoE's experts of the attention each have a query head for every KV head.
    if layer.config.is_one_of(&["jetmoe"])
        && let Some(kv_heads) = layer.count(&KV_HEADS)?
    {
        return Ok(Some(kv_heads * layer.count(&["num_experts_per_tok"])?.unwrap_or(2)));
    }
    Ok(layer.count(&DECODER_HEADS)?.or(layer.count(&QUERY_HEADS)?))
}

/// The KV heads of a layer with so many query heads: as many, where nothing says otherwise.
pub(super) fn kv_heads(layer: &LayerConfig<'_>, query_heads: usize) -> Result<usize, CheckpointError> {
    let config = layer.config;
    if let Some(heads) = multi_query(config)? {
        return Ok(heads);
    }
    if layer.value(&DECODER_HEADS).is_some() {
        return Ok(layer.count(&["decoder_num_key_value_heads"])?.unwrap_or(query_heads));
    }
    // A pruned model's blocks say how many query heads share one.
    if let Some(group) = layer.count(&["n_heads_in_group"])? {
        return Ok((query_heads / group).max(1));
    }
    if let Some(heads) = layer.count(&KV_HEADS)? {
        return Ok(heads);
    }
    let inner = config.object("attn_config")?.and_then(|c| c.get("kv_n_heads")).and_then(Value::as_u64);
    if let Some(heads) = inner.and_then(|heads| usize::try_from(heads).ok()).filter(|heads| *heads > 0) {
        return Ok(heads);
    }
    Ok(query_heads)
}

/// Models whose query heads share one KV head, or a few groups of them. Falcon's newer architecture counts its KV heads
/// and does not look at `multi_query`.
fn multi_query(config: &TextConfig<'_>) -> Result<Option<usize>, CheckpointError> {
    if config.bool("multi_query_attention")? == Some(true) {
        return config.count(&["multi_query_group_num"]);
    }
    let is_falcon = config.is_family(&["falcon", "RefinedWeb"]);
    if config.bool("multi_query")? != Some(true) || config.bool("new_decoder_architecture")? == Some(true) {
        return Ok(None);
    }
    let counts = KV_HEADS.iter().any(|key| config.written(key).is_some());
    if counts && !is_falcon {
        return Ok(None);
    }
    Ok(Some(config.count(&["multi_query_group_num"])?.unwrap_or(1)))
}
