//! Recipes with what their launches take.

use std::ffi::CString;

use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{GraphSpec, TensorRole, TensorSpec};
use crate::device::hpu::synapse::Recipe;

/// A persistent tensor of a recipe.
#[derive(Debug)]
pub(crate) struct PersistentTensor {
    pub(crate) name: CString,
    pub(crate) id: u64,
    pub(crate) spec: TensorSpec,
    /// The operand whose memory this is, for one that is changed in place.
    pub(crate) base: Option<String>,
}

/// A recipe and what its launch takes: persistent tensors and a workspace.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) recipe: Recipe,
    pub(crate) tensors: Vec<PersistentTensor>,
    pub(crate) workspace_bytes: usize,
}

impl Compiled {
    pub(crate) fn new(recipe: Recipe, graph: &GraphSpec) -> Result<Self, HpuError> {
        let specs: Vec<&TensorSpec> = graph.launched().collect();
        let names: Vec<CString> =
            specs.iter().map(|spec| CString::new(spec.name.as_str()).unwrap_or_default()).collect();
        let ids = recipe.tensor_ids(&names)?;
        let tensors = specs.into_iter().zip(names).zip(ids).map(|((spec, name), id)| {
            let base = match &spec.role {
                TensorRole::InPlaceOf(id) => Some(graph.spec(*id).name.clone()),
                _ => None,
            };
            PersistentTensor { name, id, spec: spec.clone(), base }
        });
        let tensors = tensors.collect();
        let workspace_bytes = recipe.workspace_bytes()?;
        Ok(Self { recipe, tensors, workspace_bytes })
    }

    /// The tensor of the result, where the recipe has one.
    pub(crate) fn output(&self) -> Option<&TensorSpec> {
        self.tensors.iter().map(|tensor| &tensor.spec).find(|spec| spec.role == TensorRole::Output)
    }
}
