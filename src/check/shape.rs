//! The sizes of a layer as one rank computes it, and what changes its scores.

use std::ops::Range;

use super::CheckError;
use crate::attention::{AttentionOptions, MlaShape};
use crate::checkpoint::{
    Attention, AttentionConfig, CacheLayer, CheckpointError, ModelFolder, TensorParallel,
};

/// The heads of a layer that a rank has, of all that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heads {
    pub(crate) all: usize,
    pub(crate) local: Range<usize>,
}

/// What a layer is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LayerShape {
    Mha { heads: Heads, kv_heads: Heads, head_dim: usize, v_head_dim: usize },
    Mla { heads: Heads, kv_lora_rank: usize, nope_dim: usize, rope_dim: usize, v_head_dim: usize },
}

impl LayerShape {
    /// Reads the sizes of a layer off the config.
    pub(crate) fn read(
        folder: &ModelFolder,
        config: &AttentionConfig,
        layer: &CacheLayer,
        tensor_parallel: TensorParallel,
    ) -> Result<Self, CheckError> {
        let heads = query_heads(layer, tensor_parallel)?;
        let shape = folder.shape();
        let read = match layer.attention {
            Attention::Mha => {
                let joined = config.qk_nope_head_dim.zip(shape.qk_rope_head_dim).map(|(a, b)| a + b);
                let own = if layer.is_sliding { None } else { config.global_head_dim };
                let head_dim = own.or(joined).or(shape.head_dim).filter(|dim| *dim > 0);
                let head_dim = needed(folder, "head_dim", head_dim)?;
                let v_head_dim = config.v_head_dim.unwrap_or(head_dim);
                Self::Mha { heads, kv_heads: kv_heads(layer, tensor_parallel), head_dim, v_head_dim }
            }
            Attention::Mla => Self::Mla {
                heads,
                kv_lora_rank: needed(folder, "kv_lora_rank", shape.kv_lora_rank)?,
                nope_dim: needed(folder, "qk_nope_head_dim", config.qk_nope_head_dim)?,
                rope_dim: needed(folder, "qk_rope_head_dim", shape.qk_rope_head_dim)?,
                v_head_dim: needed(folder, "v_head_dim", config.v_head_dim)?,
            },
        };
        needed(folder, "num_attention_heads", Some(read.widest_row()))?;
        Ok(read)
    }

    /// Elements of a token in the largest operand.
    fn widest_row(&self) -> usize {
        match self {
            Self::Mha { heads, kv_heads, head_dim, v_head_dim } => {
                heads.all.max(kv_heads.all).saturating_mul(*head_dim.max(v_head_dim))
            }
            Self::Mla { heads, kv_lora_rank, nope_dim, rope_dim, v_head_dim } => {
                let widest = kv_lora_rank.max(nope_dim).max(v_head_dim) + rope_dim;
                heads.all.saturating_mul(widest)
            }
        }
    }

    /// The rank's query heads.
    pub(super) fn num_heads(&self) -> usize {
        match self {
            Self::Mha { heads, .. } | Self::Mla { heads, .. } => heads.local.len(),
        }
    }

    /// Elements of a token's output.
    pub(super) fn out_row(&self) -> usize {
        match self {
            Self::Mha { v_head_dim, .. } | Self::Mla { v_head_dim, .. } => self.num_heads() * v_head_dim,
        }
    }

    /// The rank's sizes as MLA attention takes them.
    pub(super) fn mla(&self) -> Option<MlaShape> {
        match self {
            Self::Mha { .. } => None,
            Self::Mla { heads, kv_lora_rank, nope_dim, rope_dim, v_head_dim } => Some(MlaShape {
                num_heads: heads.local.len(),
                kv_lora_rank: *kv_lora_rank,
                qk_nope_head_dim: *nope_dim,
                qk_rope_head_dim: *rope_dim,
                v_head_dim: *v_head_dim,
            }),
        }
    }
}

fn needed(folder: &ModelFolder, key: &str, value: Option<usize>) -> Result<usize, CheckpointError> {
    /// Elements of a token in any operand: no model comes near this, and a larger number is a damaged config.
    const MOST: usize = 1 << 20;
    let fail = |reason| CheckpointError::key(&folder.path().join("config.json"), key, reason);
    match value {
        None => Err(fail("is missing, and attention cannot be computed without it".to_owned())),
        Some(0) => Err(fail("is zero".to_owned())),
        Some(value) if value > MOST => {
            Err(fail(format!("an operand has {value} elements a token; at most {MOST} are allowed")))
        }
        Some(value) => Ok(value),
    }
}

fn query_heads(layer: &CacheLayer, tensor_parallel: TensorParallel) -> Result<Heads, CheckError> {
    let (all, TensorParallel { size, rank }) = (layer.num_heads, tensor_parallel);
    if !all.is_multiple_of(size) {
        return Err(CheckError::QueryHeads { size, layer: layer.index, num_heads: all });
    }
    let local = all / size;
    Ok(Heads { all, local: rank * local..(rank + 1) * local })
}

/// As per-head scales are sliced: a rank's part, or one head where there are more ranks than heads.
fn kv_heads(layer: &CacheLayer, tensor_parallel: TensorParallel) -> Heads {
    let (all, TensorParallel { size, rank }) = (layer.num_kv_heads, tensor_parallel);
    let local = if size <= all {
        rank * (all / size)..(rank + 1) * (all / size)
    } else {
        let head = (rank / (size / all)).min(all - 1);
        head..head + 1
    };
    Heads { all, local }
}

/// What changes a layer's scores, with the softmax scale in float64 for the reference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scoring {
    pub(super) softmax_scale: f64,
    pub(super) options: AttentionOptions,
}

impl Scoring {
    /// From the config, and the sinks from the weights where there are any.
    pub(super) fn new(
        config: &AttentionConfig,
        shape: &LayerShape,
        is_sliding: bool,
        sinks: Option<Vec<f32>>,
    ) -> Self {
        let softmax_scale = softmax_scale(config, shape);
        let options = AttentionOptions {
            logits_soft_cap: config.logits_soft_cap.map(|cap| cap as f32),
            sliding_window: config.sliding_window.filter(|_| is_sliding),
            sinks,
            ..AttentionOptions::new(softmax_scale as f32)
        };
        Self { softmax_scale, options }
    }
}

fn softmax_scale(config: &AttentionConfig, shape: &LayerShape) -> f64 {
    match shape {
        LayerShape::Mla { nope_dim, rope_dim, .. } => {
            let mscale = config.yarn_softmax.map_or(1.0, |(factor, mscale)| yarn_mscale(factor, mscale));
            ((nope_dim + rope_dim) as f64).sqrt().recip() * mscale * mscale
        }
        LayerShape::Mha { head_dim, .. } => {
            let is_one = config.model_type.as_deref().is_some_and(has_scale_one);
            match (config.query_pre_attn_scalar, config.attention_multiplier) {
                (Some(scalar), _) => scalar.sqrt().recip(),
                (None, Some(multiplier)) => multiplier,
                (None, None) if is_one => 1.0,
                (None, None) => (*head_dim as f64).sqrt().recip(),
            }
        }
    }
}

/// Models that normalize query and key instead of scaling their product.
fn has_scale_one(model_type: &str) -> bool {
    ["gemma3n", "gemma4"].iter().any(|family| model_type.starts_with(family))
}

/// DeepSeek's `yarn_get_mscale`.
fn yarn_mscale(factor: f64, mscale: f64) -> f64 {
    if factor <= 1.0 { 1.0 } else { 0.1 * mscale * libm::log(factor) + 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mla() -> LayerShape {
        let heads = Heads { all: 4, local: 0..4 };
        LayerShape::Mla { heads, kv_lora_rank: 512, nope_dim: 128, rope_dim: 64, v_head_dim: 128 }
    }

    fn mha() -> LayerShape {
        let heads = Heads { all: 4, local: 0..4 };
        LayerShape::Mha { heads: heads.clone(), kv_heads: heads, head_dim: 64, v_head_dim: 64 }
    }

    #[test]
    fn softmax_scales_of_real_models() {
        let config = AttentionConfig::default();
        assert_eq!(softmax_scale(&config, &mha()), 0.125);
        assert!((softmax_scale(&config, &mla()) - 0.072_168_783_6).abs() < 1e-9);
        // DeepSeek-V3: factor 40, mscale_all_dim 1.0; vLLM's scaling is 0.1352...
        let deepseek = AttentionConfig { yarn_softmax: Some((40.0, 1.0)), ..AttentionConfig::default() };
        assert!((softmax_scale(&deepseek, &mla()) - 0.135_233_8).abs() < 1e-6);
        let gemma2 = AttentionConfig { query_pre_attn_scalar: Some(144.0), ..AttentionConfig::default() };
        assert!((softmax_scale(&gemma2, &mha()) - 1.0 / 12.0).abs() < 1e-12);
        let granite = AttentionConfig { attention_multiplier: Some(0.0078125), ..AttentionConfig::default() };
        assert_eq!(softmax_scale(&granite, &mha()), 0.0078125);
        let gemma4 = AttentionConfig { model_type: Some("gemma4_text".into()), ..AttentionConfig::default() };
        assert_eq!(softmax_scale(&gemma4, &mha()), 1.0);
    }

    #[test]
    fn ranks_share_heads_as_their_scales_do() {
        let layer = CacheLayer {
            index: 0,
            attention: Attention::Mha,
            is_draft: false,
            owner: None,
            is_sliding: false,
            num_heads: 8,
            num_kv_heads: 2,
        };
        let of = |size, rank| {
            let tensor_parallel = TensorParallel { size, rank };
            (query_heads(&layer, tensor_parallel).unwrap().local, kv_heads(&layer, tensor_parallel).local)
        };
        assert_eq!(of(1, 0), (0..8, 0..2));
        assert_eq!(of(2, 1), (4..8, 1..2));
        assert_eq!(of(4, 2), (4..6, 1..2));
        assert_eq!(of(8, 3), (3..4, 0..1));
        assert!(query_heads(&layer, TensorParallel { size: 3, rank: 0 }).is_err());
    }
}
