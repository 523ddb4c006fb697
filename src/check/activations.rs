//! What a layer computes attention from: read from a file, or drawn.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use half::bf16;

use super::CheckError;
use super::shape::{Heads, LayerShape};
use super::tensor::read_bf16;
use crate::checkpoint::{CheckpointError, LayerPlan, Shard, TensorEntry};

/// Queries, keys and values of one layer's tokens, after rotary embedding.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Activations {
    /// `q` is `[tokens, heads, head_dim]`, `k` and `v` `[tokens, kv_heads, ..]`.
    Mha { tokens: usize, q: Vec<bf16>, k: Vec<bf16>, v: Vec<bf16> },
    /// `q_nope` and `q_pe` are `[tokens, heads, ..]`, `kv_c` `[tokens, kv_lora_rank]`, `k_pe` `[tokens, rope_dim]`.
    Mla { tokens: usize, q_nope: Vec<bf16>, q_pe: Vec<bf16>, kv_c: Vec<bf16>, k_pe: Vec<bf16> },
}

impl Activations {
    pub(super) fn tokens(&self) -> usize {
        match self {
            Self::Mha { tokens, .. } | Self::Mla { tokens, .. } => *tokens,
        }
    }
}

/// A safetensors file with `layers.N.{q,k,v}` or `layers.N.{q_nope,q_pe,kv_c,k_pe}`.
#[derive(Debug)]
pub(crate) struct ActivationFile {
    shard: Shard,
    /// By name, where in the shard.
    tensors: BTreeMap<String, usize>,
}

/// One operand: its name, its heads (a latent has none), the elements of a head.
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

impl ActivationFile {
    pub(crate) fn open(path: &Path) -> Result<Self, CheckError> {
        let shard = Shard::open(path)?;
        let tensors = shard.tensors().iter().enumerate().map(|(at, t)| (t.name.clone(), at)).collect();
        Ok(Self { shard, tensors })
    }

    /// Refuses a file that has nothing for any layer of the model.
    pub(super) fn check_layers(&self, plan: &LayerPlan) -> Result<(), CheckError> {
        if plan.cached.iter().any(|layer| self.has(layer.index)) {
            return Ok(());
        }
        let first = plan.cached.first().map_or(0, |layer| layer.index);
        let wanted = format!("layers.{first}.{{q,k,v}} or layers.{first}.{{q_nope,q_pe,kv_c,k_pe}}");
        Err(CheckError::NoActivations { path: self.shard.path().to_owned(), wanted })
    }

    /// The tensors that belong to no layer with a cache.
    pub(super) fn strangers(&self, plan: &LayerPlan) -> Vec<&str> {
        let belongs = |name: &str| layer_of(name).is_some_and(|layer| plan.get(layer).is_some());
        self.tensors.keys().map(String::as_str).filter(|name| !belongs(name)).collect()
    }

    /// Whether there is anything of that layer.
    pub(super) fn has(&self, layer: usize) -> bool {
        ["q", "q_nope", "q_pe", "k", "v", "kv_c", "k_pe"].iter().any(|operand| self.contains(layer, operand))
    }

    /// Whether there is an operand of that layer.
    pub(crate) fn contains(&self, layer: usize, operand: &str) -> bool {
        self.tensors.contains_key(&name_of(layer, operand))
    }

    /// The activations of a layer. Keys and values are those of the layer `owner`, whose cache it reads.
    pub(super) fn read(
        &self,
        layer: usize,
        owner: usize,
        shape: &LayerShape,
    ) -> Result<Activations, CheckError> {
        let [first, second] = Operand::cached(shape);
        match shape {
            LayerShape::Mha { heads, head_dim, .. } => {
                let query = Operand { name: "q", heads: Some(heads), dim: *head_dim };
                let (tokens, q) = self.operand(layer, &query, None)?;
                let (_, k) = self.operand(owner, &first, Some(tokens))?;
                let (_, v) = self.operand(owner, &second, Some(tokens))?;
                Ok(Activations::Mha { tokens, q, k, v })
            }
            LayerShape::Mla { heads, nope_dim, rope_dim, .. } => {
                let query = |name, dim| Operand { name, heads: Some(heads), dim };
                let (tokens, q_nope) = self.operand(layer, &query("q_nope", *nope_dim), None)?;
                let (_, q_pe) = self.operand(layer, &query("q_pe", *rope_dim), Some(tokens))?;
                let (_, kv_c) = self.operand(owner, &first, Some(tokens))?;
                let (_, k_pe) = self.operand(owner, &second, Some(tokens))?;
                Ok(Activations::Mla { tokens, q_nope, q_pe, kv_c, k_pe })
            }
        }
    }

    /// One operand with its shape checked, and only the heads of the rank. Returns the number of tokens too.
    fn operand(
        &self,
        layer: usize,
        operand: &Operand<'_>,
        tokens: Option<usize>,
    ) -> Result<(usize, Vec<bf16>), CheckError> {
        let (tokens, tensor) = self.find(layer, operand, tokens)?;
        let values = read_bf16(&self.shard, tensor)?;
        let values = match operand.heads {
            Some(Heads { all, local }) if local.len() < *all => take_heads(&values, *all, operand.dim, local),
            _ => values,
        };
        Ok((tokens, values))
    }

    /// The tensor of an operand once its shape is checked, `[tokens, heads, dim]` or `[tokens, dim]`. Returns the number
    /// of tokens too, which must be `tokens` where that is known.
    pub(crate) fn find(
        &self,
        layer: usize,
        operand: &Operand<'_>,
        tokens: Option<usize>,
    ) -> Result<(usize, &TensorEntry), CheckError> {
        let name = name_of(layer, operand.name);
        let fail = |reason: String| CheckpointError::tensor(self.shard.path(), &name, reason);
        let tensor = self.tensor(&name).ok_or_else(|| fail("is missing".to_owned()))?;
        let row: Vec<usize> = operand.heads.iter().map(|heads| heads.all).chain([operand.dim]).collect();
        let found = tensor.shape.split_first().filter(|(_, rest)| **rest == row[..]).map(|(first, _)| *first);
        match (found, tokens) {
            (Some(0), None) => Err(fail(format!("shape {:?}: holds no tokens", tensor.shape)).into()),
            (Some(found), None) => Ok((found, tensor)),
            (Some(found), Some(tokens)) if found == tokens => Ok((found, tensor)),
            _ => {
                let tokens = tokens.map_or("tokens".to_owned(), |tokens| tokens.to_string());
                let row: Vec<String> = row.iter().map(ToString::to_string).collect();
                let reason =
                    format!("shape {:?}; the model needs [{tokens}, {}]", tensor.shape, row.join(", "));
                Err(fail(reason).into())
            }
        }
    }

    /// The file.
    pub(crate) const fn shard(&self) -> &Shard {
        &self.shard
    }

    fn tensor(&self, name: &str) -> Option<&TensorEntry> {
        self.shard.tensors().get(*self.tensors.get(name)?)
    }
}

fn name_of(layer: usize, operand: &str) -> String {
    format!("layers.{layer}.{operand}")
}

/// The layer that a tensor is of.
pub(crate) fn layer_of(name: &str) -> Option<usize> {
    name.strip_prefix("layers.")?.split('.').next()?.parse().ok()
}

/// Some heads of `[rows, heads, dim]`.
pub(super) fn take_heads<T: Copy>(values: &[T], heads: usize, dim: usize, taken: &Range<usize>) -> Vec<T> {
    let rows = values.chunks_exact(heads * dim);
    rows.flat_map(|row| &row[taken.start * dim..taken.end * dim]).copied().collect()
}
