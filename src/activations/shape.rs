//! The sizes of a layer's attention as one rank computes it.

use std::ops::Range;

use super::error::ActivationError;
use crate::checkpoint::{Attention, CacheLayer, CheckpointError, ModelFolder, TensorParallel};

/// The heads of a layer that a rank has, of all that there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heads {
    pub(crate) all: usize,
    pub(crate) local: Range<usize>,
}

/// The sizes of a layer's attention: heads, and the elements of each operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LayerShape {
    Mha { heads: Heads, kv_heads: Heads, head_dim: usize, v_head_dim: usize },
    Mla { heads: Heads, kv_lora_rank: usize, nope_dim: usize, rope_dim: usize, v_head_dim: usize },
}

impl LayerShape {
    /// The sizes of a layer as one rank computes it.
    pub(crate) fn read(
        folder: &ModelFolder,
        layer: &CacheLayer,
        tensor_parallel: TensorParallel,
    ) -> Result<Self, ActivationError> {
        let heads = query_heads(layer, tensor_parallel)?;
        let read = match layer.attention {
            Attention::Mha => {
                let head_dim = needed(folder, "head_dim", layer.head_dim)?;
                let v_head_dim = layer.v_head_dim.unwrap_or(head_dim);
                Self::Mha { heads, kv_heads: kv_heads(layer, tensor_parallel), head_dim, v_head_dim }
            }
            Attention::Mla => Self::Mla {
                heads,
                kv_lora_rank: needed(folder, "kv_lora_rank", layer.kv_lora_rank)?,
                nope_dim: if layer.attends_to_its_latent() {
                    0
                } else {
                    needed(folder, "qk_nope_head_dim", layer.qk_nope_head_dim)?
                },
                // Written as zero, there is no rope part; not written, its size is not known.
                rope_dim: match layer.qk_rope_head_dim {
                    Some(0) => 0,
                    rope => needed(folder, "qk_rope_head_dim", rope)?,
                },
                v_head_dim: needed(folder, "v_head_dim", layer.v_head_dim)?,
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
                let widest = kv_lora_rank.max(nope_dim).max(v_head_dim).saturating_add(*rope_dim);
                heads.all.saturating_mul(widest)
            }
        }
    }

    /// The rank's query heads.
    pub(crate) fn num_heads(&self) -> usize {
        match self {
            Self::Mha { heads, .. } | Self::Mla { heads, .. } => heads.local.len(),
        }
    }

    /// Elements of a token's output.
    pub(crate) fn out_row(&self) -> usize {
        match self {
            Self::Mha { v_head_dim, .. } | Self::Mla { v_head_dim, .. } => self.num_heads() * v_head_dim,
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

fn query_heads(layer: &CacheLayer, tensor_parallel: TensorParallel) -> Result<Heads, ActivationError> {
    let (all, TensorParallel { size, rank }) = (layer.num_heads, tensor_parallel);
    if !all.is_multiple_of(size) {
        return Err(ActivationError::QueryHeads { size, layer: layer.index, num_heads: all });
    }
    let local = all / size;
    Ok(Heads { all, local: rank * local..(rank + 1) * local })
}

/// A rank's KV heads, sliced as per-head scales are: its part, or one head where there are more ranks than heads.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_heads_as_their_scales_do() {
        let layer = CacheLayer::for_test(Attention::Mha, 8, 2);
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
