//! The sizes of a layer's attention, in the shape of their JSON.

use serde::Serialize;

use crate::checkpoint::{Attention, CacheLayer};

/// The kind and the sizes of one layer's attention. Numbers that neither the config nor its class gives are null.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LayerSizes {
    /// The configuration's word for the kind of attention, such as `full_attention`.
    pub layer_type: String,
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads; an MLA layer keeps one latent, whatever this says.
    pub num_kv_heads: usize,
    /// Elements of a query or key head, the rope part included.
    pub head_dim: Option<usize>,
    /// Elements of a value head.
    pub v_head_dim: Option<usize>,
    /// Elements of an MLA latent without its rope part. Left out for other layers, as is the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv_lora_rank: Option<usize>,
    /// Elements of the rope part of an MLA latent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qk_rope_head_dim: Option<usize>,
    /// The tokens that a layer with a sliding window sees; null where it sees all.
    pub sliding_window: Option<usize>,
    /// What multiplies the product of query and key before the softmax.
    pub softmax_scale: Option<f64>,
}

impl LayerSizes {
    pub(super) fn of(layer: &CacheLayer) -> Self {
        let of_latent = |size: Option<usize>| size.filter(|_| layer.attention == Attention::Mla);
        Self {
            layer_type: layer.layer_type.clone(),
            num_heads: layer.num_heads,
            num_kv_heads: layer.num_kv_heads,
            head_dim: layer.head_dim,
            v_head_dim: layer.v_head_dim,
            kv_lora_rank: of_latent(layer.kv_lora_rank),
            qk_rope_head_dim: of_latent(layer.qk_rope_head_dim),
            sliding_window: layer.sliding_window_tokens,
            softmax_scale: layer.softmax_scale,
        }
    }
}
