//! The tensors of a layer's activations, by name and shape.

use super::shape::{Heads, LayerShape};

/// A tensor of a layer's activations: its name, its heads (a latent has none) and the elements of a head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) name: &'static str,
    pub(crate) heads: Option<&'a Heads>,
    pub(crate) dim: usize,
}

impl<'a> Operand<'a> {
    /// What a layer's cache stores: keys and values, or both parts of a latent.
    pub(crate) const fn cached(shape: &'a LayerShape) -> [Self; 2] {
        match shape {
            LayerShape::Mha { kv_heads, head_dim, v_head_dim, .. } => [
                Self { name: "k", heads: Some(kv_heads), dim: *head_dim },
                Self { name: "v", heads: Some(kv_heads), dim: *v_head_dim },
            ],
            LayerShape::Mla { kv_lora_rank, rope_dim, .. } => [
                Self { name: "kv_c", heads: None, dim: *kv_lora_rank },
                Self { name: "k_pe", heads: None, dim: *rope_dim },
            ],
        }
    }
}
