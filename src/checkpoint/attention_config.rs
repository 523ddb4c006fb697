//! What `config.json` says about how attention is computed, beyond the sizes that scales depend on.

use serde_json::Value;

use super::CheckpointError;
use super::model_config::TextConfig;

/// The sizes and numbers of a model's attention. Each is `None` where the config does not give it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttentionConfig {
    /// `model_type` of the text decoder.
    pub model_type: Option<String>,
    /// Elements of a query or key head of layers with full attention, where they differ from the others'.
    pub global_head_dim: Option<usize>,
    /// Elements of a query or key head without its rope part.
    pub qk_nope_head_dim: Option<usize>,
    /// Elements of a value head, where they differ from a key head's.
    pub v_head_dim: Option<usize>,
    /// The softmax scale is one over the square root of this (Gemma).
    pub query_pre_attn_scalar: Option<f64>,
    /// The softmax scale itself (Granite).
    pub attention_multiplier: Option<f64>,
    /// `factor` and `mscale_all_dim` of a yarn rope that scales the softmax too (DeepSeek).
    pub yarn_softmax: Option<(f64, f64)>,
    /// `attn_logit_softcapping`.
    pub logits_soft_cap: Option<f64>,
    /// The keys that a sliding layer sees, the query's own included.
    pub sliding_window: Option<usize>,
    /// Parts of the attention that the config declares and nothing here describes further.
    pub other_parts: Vec<&'static str>,
}

impl AttentionConfig {
    pub(crate) fn read(config: &TextConfig<'_>) -> Result<Self, CheckpointError> {
        Ok(Self {
            model_type: config.str("model_type").map(ToOwned::to_owned),
            global_head_dim: positive(config, "global_head_dim")?,
            qk_nope_head_dim: positive(config, "qk_nope_head_dim")?,
            v_head_dim: positive(config, "v_head_dim")?,
            query_pre_attn_scalar: number(config, "query_pre_attn_scalar")?,
            attention_multiplier: number(config, "attention_multiplier")?,
            yarn_softmax: yarn_softmax(config),
            logits_soft_cap: number(config, "attn_logit_softcapping")?,
            sliding_window: positive(config, "sliding_window")?,
            other_parts: other_parts(config)?,
        })
    }
}

fn positive(config: &TextConfig<'_>, key: &str) -> Result<Option<usize>, CheckpointError> {
    Ok(config.count(&[key])?.filter(|n| *n > 0))
}

/// A positive number. Zero and `false` are ways to say none.
fn number(config: &TextConfig<'_>, key: &str) -> Result<Option<f64>, CheckpointError> {
    match config.get(key) {
        None | Some(Value::Bool(false)) => Ok(None),
        Some(value) => match value.as_f64().filter(|x| x.is_finite() && *x >= 0.0) {
            Some(x) => Ok((x > 0.0).then_some(x)),
            None => Err(config.fail(key, format!("{value} is not a positive number"))),
        },
    }
}

/// Where the rope declares `mscale_all_dim`: under `rope_scaling`, or under `rope_parameters`, its newer name.
fn yarn_softmax(config: &TextConfig<'_>) -> Option<(f64, f64)> {
    let declared = |key| {
        let rope = config.get(key)?;
        Some((rope.get("factor")?.as_f64()?, rope.get("mscale_all_dim")?.as_f64()?))
    };
    let found = declared("rope_scaling").or_else(|| declared("rope_parameters"));
    found.filter(|(factor, mscale)| factor.is_finite() && mscale.is_finite() && *mscale != 0.0)
}

fn other_parts(config: &TextConfig<'_>) -> Result<Vec<&'static str>, CheckpointError> {
    let inner = |key: &str| config.get("attn_config").and_then(|c| c.get(key)).and_then(Value::as_bool);
    let is_alibi = config.bool("alibi")? == Some(true)
        || inner("alibi") == Some(true)
        || config.str("position_embedding_type") == Some("alibi");
    Ok([
        (is_alibi, "ALiBi"),
        (config.get("attention_chunk_size").is_some(), "attention in chunks (attention_chunk_size)"),
        (config.get("index_topk").is_some(), "the choice of tokens by an indexer (index_topk)"),
    ]
    .into_iter()
    .filter_map(|(is_there, what)| is_there.then_some(what))
    .collect())
}
