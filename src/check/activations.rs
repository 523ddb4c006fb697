//! What a layer computes attention from: read from a file, or drawn.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use half::bf16;

use super::CheckError;
use super::shape::LayerShape;
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
pub(super) struct ActivationFile {
    shard: Shard,
    /// By name, where in the shard.
    tensors: BTreeMap<String, usize>,
}

/// One operand: its name, its heads (all, and the rank's), the elements of a head.
struct Operand<'a> {
    name: &'static str,
    heads: Option<(usize, &'a Range<usize>)>,
    dim: usize,
}

impl ActivationFile {
    pub(super) fn open(path: &Path) -> Result<Self, CheckError> {
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

    /// Whether there is a query of that layer.
    pub(super) fn has(&self, layer: usize) -> bool {
        ["q", "q_nope", "q_pe", "k", "v", "kv_c", "k_pe"]
            .iter()
            .any(|operand| self.tensors.contains_key(&name_of(layer, operand)))
    }

    /// The activations of a layer. Keys and values are those of the layer `owner`, whose cache it reads.
    pub(super) fn read(
        &self,
        layer: usize,
        owner: usize,
        shape: &LayerShape,
    ) -> Result<Activations, CheckError> {
        match shape {
            LayerShape::Mha { heads, kv_heads, head_dim, v_head_dim } => {
                let query = Operand { name: "q", heads: Some((heads.all, &heads.local)), dim: *head_dim };
                let kv = |name, dim| Operand { name, heads: Some((kv_heads.all, &kv_heads.local)), dim };
                let (tokens, q) = self.operand(layer, &query, None)?;
                let (_, k) = self.operand(owner, &kv("k", *head_dim), Some(tokens))?;
                let (_, v) = self.operand(owner, &kv("v", *v_head_dim), Some(tokens))?;
                Ok(Activations::Mha { tokens, q, k, v })
            }
            LayerShape::Mla { heads, kv_lora_rank, nope_dim, rope_dim, .. } => {
                let query = |name, dim| Operand { name, heads: Some((heads.all, &heads.local)), dim };
                let latent = |name, dim| Operand { name, heads: None, dim };
                let (tokens, q_nope) = self.operand(layer, &query("q_nope", *nope_dim), None)?;
                let (_, q_pe) = self.operand(layer, &query("q_pe", *rope_dim), Some(tokens))?;
                let (_, kv_c) = self.operand(owner, &latent("kv_c", *kv_lora_rank), Some(tokens))?;
                let (_, k_pe) = self.operand(owner, &latent("k_pe", *rope_dim), Some(tokens))?;
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
        let name = name_of(layer, operand.name);
        let fail = |reason: String| CheckpointError::tensor(self.shard.path(), &name, reason);
        let tensor = self.tensor(&name).ok_or_else(|| fail("is missing".to_owned()))?;
        let row: Vec<usize> = operand.heads.iter().map(|(all, _)| *all).chain([operand.dim]).collect();
        let found = tensor.shape.split_first().filter(|(_, rest)| **rest == row[..]).map(|(first, _)| *first);
        match (found, tokens) {
            (Some(found), None) if found > 0 => {}
            (Some(found), Some(tokens)) if found == tokens => {}
            _ => {
                let tokens = tokens.map_or("tokens".to_owned(), |tokens| tokens.to_string());
                let row: Vec<String> = row.iter().map(ToString::to_string).collect();
                let reason =
                    format!("shape {:?}; the model needs [{tokens}, {}]", tensor.shape, row.join(", "));
                return Err(fail(reason).into());
            }
        }
        let values = read_bf16(&self.shard, tensor)?;
        let values = match &operand.heads {
            Some((all, local)) if local.len() < *all => take_heads(&values, *all, operand.dim, local),
            _ => values,
        };
        Ok((tensor.shape[0], values))
    }

    fn tensor(&self, name: &str) -> Option<&TensorEntry> {
        self.shard.tensors().get(*self.tensors.get(name)?)
    }
}

fn name_of(layer: usize, operand: &str) -> String {
    format!("layers.{layer}.{operand}")
}

fn layer_of(name: &str) -> Option<usize> {
    name.strip_prefix("layers.")?.split('.').next()?.parse().ok()
}

/// Some heads of `[rows, heads, dim]`.
pub(super) fn take_heads<T: Copy>(values: &[T], heads: usize, dim: usize, taken: &Range<usize>) -> Vec<T> {
    let rows = values.chunks_exact(heads * dim);
    rows.flat_map(|row| &row[taken.start * dim..taken.end * dim]).copied().collect()
}
