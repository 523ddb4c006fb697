//! The elements of a layer's heads, or of its latent.

use super::attention::Attention;
use super::kind::Kind;
use super::layer_value::LayerConfig;
use crate::checkpoint::CheckpointError;

/// Keys of a head's elements.
const HEAD_DIMS: [&str; 9] = [
    "head_dim",
    "head_size",
    "attention_head_dim",
    "hidden_size_per_head",
    "kv_channels",
    "d_kv",
    "attention_head_size",
    "dim_per_head",
    "dim_head",
];

/// Keys of the width of the residual stream.
const HIDDEN: [&str; 6] = ["hidden_size", "n_embd", "d_model", "dim", "n_embed", "model_dim"];

/// The elements of the operands of one layer. Each is `None` where the config does not give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) attention: Attention,
    pub(super) head_dim: Option<usize>,
    pub(super) v_head_dim: Option<usize>,
    pub(super) kv_lora_rank: Option<usize>,
    pub(super) qk_nope_head_dim: Option<usize>,
    pub(super) qk_rope_head_dim: Option<usize>,
}

impl Sizes {
    /// Reads the sizes of a layer with so many query heads.
    pub(super) fn read(layer: &LayerConfig<'_>, query_heads: usize) -> Result<Self, CheckpointError> {
        match latent(layer, query_heads)? {
            Some(latent) => Ok(latent),
            None => heads(layer, query_heads),
        }
    }
}

/// The latent of an MLA layer. A rope part of zero elements is one that is not there (GLM-5).
fn latent(layer: &LayerConfig<'_>, query_heads: usize) -> Result<Option<Sizes>, CheckpointError> {
    let config = layer.config;
    if layer.kind.kind == Kind::Mha || config.bool("use_mla")? == Some(false) {
        return Ok(None);
    }
    let rope = config.count(&["qk_rope_head_dim"])?;
    if let Some(rank) = layer.count(&["kv_lora_rank"])? {
        let nope = layer.count(&["qk_nope_head_dim"])?;
        return Ok(Some(Sizes {
            attention: Attention::Mla,
            head_dim: nope.map(|nope| nope + rope.unwrap_or(0)),
            v_head_dim: layer
                .count(&["v_head_dim"])?
                .or(hidden(layer)?.map(|hidden| hidden / query_heads.max(1))),
            kv_lora_rank: Some(rank),
            qk_nope_head_dim: nope,
            qk_rope_head_dim: rope,
        }));
    }
    // DeepSeek-V4 keeps one latent whose last elements carry the rope; keys and values are that latent itself.
    if config.is_family(&["deepseek_v4"])
        && let (Some(dim), Some(rope)) = (layer.count(&["head_dim"])?, rope)
    {
        return Ok(Some(Sizes {
            attention: Attention::Mla,
            head_dim: Some(dim),
            v_head_dim: Some(dim),
            kv_lora_rank: dim.checked_sub(rope),
            qk_nope_head_dim: None,
            qk_rope_head_dim: Some(rope),
        }));
    }
    if layer.kind.kind == Kind::Mla {
        return Ok(Some(Sizes {
            attention: Attention::Mla,
            head_dim: None,
            v_head_dim: None,
            kv_lora_rank: None,
            qk_nope_head_dim: None,
            qk_rope_head_dim: rope,
        }));
    }
    Ok(None)
}

/// The width of the residual stream.
fn hidden(layer: &LayerConfig<'_>) -> Result<Option<usize>, CheckpointError> {
    layer.count(&HIDDEN)
}

fn heads(layer: &LayerConfig<'_>, query_heads: usize) -> Result<Sizes, CheckpointError> {
    let rope = layer.config.count(&["qk_rope_head_dim"])?;
    let nope = layer.count(&["qk_nope_head_dim"])?;
    let joined = nope.zip(rope).map(|(nope, rope)| nope + rope);
    let hidden = hidden(layer)?;
    let own = match joined {
        Some(joined) => Some(joined),
        None => layer.count(&HEAD_DIMS)?,
    };
    // Zamba attends to its input and the embedding side by side.
    let width =
        if layer.config.is_one_of(&["zamba", "zamba2"]) { hidden.map(|hidden| 2 * hidden) } else { hidden };
    let head_dim = own.or(width.map(|width| width / query_heads.max(1)).filter(|dim| *dim > 0));
    Ok(Sizes {
        attention: Attention::Mha,
        head_dim,
        v_head_dim: layer.count(&["v_head_dim"])?.or(head_dim),
        kv_lora_rank: None,
        qk_nope_head_dim: nope,
        qk_rope_head_dim: rope,
    })
}
