//! Parts of the attention that a configuration declares and nothing here computes.

use serde_json::Value;

use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// What the config declares, each in a few words that name the key.
pub(super) fn unmodelled_parts(config: &TextConfig<'_>) -> Result<Vec<&'static str>, CheckpointError> {
    let inner = |key: &str| config.get("attn_config").and_then(|c| c.get(key)).and_then(Value::as_bool);
    let is_alibi = config.bool("alibi")? == Some(true)
        || inner("alibi") == Some(true)
        || config.is_one_of(&["bloom"])
        || (config.is_one_of(&["mpt"]) && inner("alibi") != Some(false))
        || config.str("position_embedding_type") == Some("alibi");
    let more_than_once = |key: &str| config.get(key).and_then(Value::as_u64).is_some_and(|times| times > 1);
    let is_sparse = config
        .get("sparse_attention_config")
        .and_then(|sparse| sparse.get("use_sparse_attention"))
        .and_then(Value::as_bool);
    Ok([
        (is_alibi, "ALiBi"),
        (config.get("attention_chunk_size").is_some(), "attention in chunks (attention_chunk_size)"),
        (config.get("index_topk").is_some(), "the choice of tokens by an indexer (index_topk)"),
        (is_sparse == Some(true), "attention to chosen blocks (sparse_attention_config)"),
        (config.get("compress_ratios").is_some(), "keys compressed over tokens (compress_ratios)"),
        (
            config.get("relative_attention_num_buckets").is_some(),
            "a learned bias for distances (relative_attention_num_buckets)",
        ),
        (
            ["loop_num", "num_loops", "total_ut_steps", "n_recurrent_loops", "H_cycles"].into_iter().any(more_than_once),
            "layers that run several times (loop_num, num_loops, total_ut_steps, n_recurrent_loops, H_cycles)",
        ),
    ]
    .into_iter()
    .filter_map(|(is_there, what)| is_there.then_some(what))
    .collect())
}
