//! A layer that reads a KV cache, with everything that may differ from layer to layer.

use super::attention::Attention;
use super::heads::{kv_heads, query_heads};
use super::kind::Kind;
use super::layer_value::LayerConfig;
use super::sizes::Sizes;
use super::sliding_rule::{LOCAL_ATTENTION, WINDOWS, window_tokens};
use super::softmax::softmax_scale;
use crate::checkpoint::{CheckpointError, FindingCode, Findings};

/// A layer that reads a KV cache.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheLayer {
    /// The layer's number in the model; draft layers are numbered on from the last one.
    pub index: usize,
    /// The kind of its cache.
    pub attention: Attention,
    /// The configuration's word for its kind of attention, such as `full_attention`.
    pub layer_type: String,
    /// Whether it is a draft (multi-token prediction) layer.
    pub is_draft: bool,
    /// The layer whose cache it reads, where that is not its own.
    pub owner: Option<usize>,
    /// Whether it attends to a sliding window only.
    pub is_sliding: bool,
    /// The tokens that a sliding layer sees, the query's own included; `None` where it sees all, or where the config does
    /// not say how many.
    pub sliding_window_tokens: Option<usize>,
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads.
    pub num_kv_heads: usize,
    /// Elements of a query or key head, the rope part included; `None` where the config does not give it.
    pub head_dim: Option<usize>,
    /// Elements of a value head.
    pub v_head_dim: Option<usize>,
    /// Elements of an MLA latent without its rope part.
    pub kv_lora_rank: Option<usize>,
    /// Elements of a query or key head without its rope part, where the config tells them apart.
    pub qk_nope_head_dim: Option<usize>,
    /// Elements of the rope part; zero or `None` where there is none.
    pub qk_rope_head_dim: Option<usize>,
    /// What multiplies the product of query and key before the softmax.
    pub softmax_scale: Option<f64>,
}

impl CacheLayer {
    /// Whether keys and values are the latent itself, with nothing that expands it (DeepSeek-V4).
    pub(crate) fn attends_to_its_latent(&self) -> bool {
        self.attention == Attention::Mla && self.qk_nope_head_dim.is_none() && self.head_dim.is_some()
    }

    /// A layer with so many heads and nothing else.
    #[cfg(test)]
    pub(crate) fn for_test(attention: Attention, num_heads: usize, num_kv_heads: usize) -> Self {
        Self {
            index: 0,
            attention,
            layer_type: "full_attention".to_owned(),
            is_draft: false,
            owner: None,
            is_sliding: false,
            sliding_window_tokens: None,
            num_heads,
            num_kv_heads,
            head_dim: None,
            v_head_dim: None,
            kv_lora_rank: None,
            qk_nope_head_dim: None,
            qk_rope_head_dim: None,
            softmax_scale: None,
        }
    }
}

/// Reads one layer. What had to be assumed because neither the config nor a known class says it goes to `assumed`.
pub(super) fn read_layer(
    layer: &LayerConfig<'_>,
    assumed: &mut Vec<String>,
    findings: &mut Findings,
) -> Result<CacheLayer, CheckpointError> {
    let num_heads = match query_heads(layer)? {
        Some(heads) => heads,
        None => assume_heads(layer, assumed)?,
    };
    let num_kv_heads = kv_heads(layer, num_heads)?;
    let sizes = Sizes::read(layer, num_heads)?;
    let window = window(layer, findings);
    let kind = layer.kind.kind;
    let is_sliding = kind == Kind::Sliding || (kind == Kind::Full && has_own_window(layer));
    Ok(CacheLayer {
        index: layer.index,
        attention: sizes.attention,
        layer_type: layer.kind.name.clone(),
        is_draft: false,
        owner: None,
        is_sliding,
        sliding_window_tokens: window.filter(|_| is_sliding),
        num_heads,
        num_kv_heads,
        head_dim: sizes.head_dim,
        v_head_dim: sizes.v_head_dim,
        kv_lora_rank: sizes.kv_lora_rank,
        qk_nope_head_dim: sizes.qk_nope_head_dim,
        qk_rope_head_dim: sizes.qk_rope_head_dim,
        softmax_scale: softmax_scale(layer, &sizes)?,
    })
}

/// Query heads that nothing counts: as many as fill the residual stream, or one.
fn assume_heads(layer: &LayerConfig<'_>, assumed: &mut Vec<String>) -> Result<usize, CheckpointError> {
    let hidden = layer.count(&["hidden_size", "d_model", "n_embd"])?;
    let head_dim = layer.count(&["head_dim"])?;
    let heads = hidden.zip(head_dim).map_or(1, |(hidden, dim)| (hidden / dim).max(1));
    assumed.push(format!("{heads} query heads"));
    Ok(heads)
}

/// The tokens of the layer's window. A window of an unknown form is worth a warning: inspection can do without it.
fn window(layer: &LayerConfig<'_>, findings: &mut Findings) -> Option<usize> {
    let (key, value) = layer.value(&WINDOWS)?;
    match window_tokens(value, layer.index) {
        Ok(tokens) if key == LOCAL_ATTENTION => tokens.map(|tokens| tokens / 2),
        Ok(tokens) => tokens,
        Err(value) => {
            let message = format!(
                "layer {}: {key} is {value}, which is no number of tokens; it is ignored",
                layer.index
            );
            findings.warn(FindingCode::WindowUnknown, Some(layer.index), message);
            None
        }
    }
}

/// Whether the layer has a window by an entry of its own, whatever the others do.
fn has_own_window(layer: &LayerConfig<'_>) -> bool {
    let own = layer.own.and_then(|own| WINDOWS.iter().find_map(|key| own.get(*key)));
    own.is_some_and(|value| matches!(window_tokens(value, layer.index), Ok(Some(_))))
}
