//! A file of captured activations.

use std::collections::BTreeMap;
use std::path::Path;

use half::bf16;

use super::error::ActivationError;
use super::layer::{Activations, take_heads};
use super::operand::Operand;
use super::shape::{Heads, LayerShape};
use super::tensor::read_bf16;
use crate::checkpoint::{CheckpointError, LayerPlan, Shard, TensorEntry};

/// A safetensors file with `layers.N.{q,k,v}` or `layers.N.{q_nope,q_pe,kv_c,k_pe}`.
#[derive(Debug)]
pub(crate) struct ActivationFile {
    shard: Shard,
    /// By name, where in the shard.
    tensors: BTreeMap<String, usize>,
}

impl ActivationFile {
    /// Opens a file; which layers it has is not looked at.
    pub(crate) fn open(path: &Path) -> Result<Self, ActivationError> {
        let shard = Shard::open(path)?;
        let tensors = shard.tensors().iter().enumerate().map(|(at, t)| (t.name.clone(), at)).collect();
        Ok(Self { shard, tensors })
    }

    /// Refuses a file that has nothing for any layer of the model.
    pub(crate) fn check_layers(&self, plan: &LayerPlan) -> Result<(), ActivationError> {
        if plan.cached.iter().any(|layer| self.has(layer.index)) {
            return Ok(());
        }
        let first = plan.cached.first().map_or(0, |layer| layer.index);
        let wanted = format!("layers.{first}.{{q,k,v}} or layers.{first}.{{q_nope,q_pe,kv_c,k_pe}}");
        Err(ActivationError::NoLayer { path: self.shard.path().to_owned(), wanted })
    }

    /// The tensors that belong to no layer with a cache.
    pub(crate) fn strangers(&self, plan: &LayerPlan) -> Vec<&str> {
        let belongs = |name: &str| layer_of(name).is_some_and(|layer| plan.get(layer).is_some());
        self.tensors.keys().map(String::as_str).filter(|name| !belongs(name)).collect()
    }

    /// Whether there is anything of that layer.
    pub(crate) fn has(&self, layer: usize) -> bool {
        ["q", "q_nope", "q_pe", "k", "v", "kv_c", "k_pe"].iter().any(|operand| self.contains(layer, operand))
    }

    /// Whether there is an operand of that layer.
    pub(crate) fn contains(&self, layer: usize, operand: &str) -> bool {
        self.tensors.contains_key(&name_of(layer, operand))
    }

    /// The activations of a layer. Keys and values are those of the layer `owner`, whose cache it reads.
    pub(crate) fn read(
        &self,
        layer: usize,
        owner: usize,
        shape: &LayerShape,
    ) -> Result<Activations, ActivationError> {
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
                let (_, kv_c) = self.operand(owner, &first, Some(tokens))?;
                if *rope_dim == 0 {
                    return Ok(Activations::Mla { tokens, q_nope, q_pe: Vec::new(), kv_c, k_pe: Vec::new() });
                }
                let (_, q_pe) = self.operand(layer, &query("q_pe", *rope_dim), Some(tokens))?;
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
    ) -> Result<(usize, Vec<bf16>), ActivationError> {
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
    ) -> Result<(usize, &TensorEntry), ActivationError> {
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

    /// The safetensors file itself.
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
