//! The attention module of each layer, under whose name its scales are written.

use std::collections::{BTreeMap, BTreeSet};

use super::CalibrateError;
use crate::checkpoint::{ModelFolder, NameClass, attention_tensor, classify};

/// The attention module of each layer: `model.layers.0.self_attn`.
#[derive(Debug)]
pub(super) struct AttentionModules {
    modules: BTreeMap<usize, BTreeSet<String>>,
}

impl AttentionModules {
    /// Finds the modules by the names of their weights.
    pub(super) fn find(folder: &ModelFolder) -> Self {
        let plan = folder.layers();
        let mut modules: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let names = folder.shards().iter().flat_map(|shard| shard.tensors()).map(|tensor| &tensor.name);
        for name in names.filter(|name| classify(name) == NameClass::Other) {
            let Some((layer, part)) = attention_tensor(name) else { continue };
            let Some(layer) = plan.number(layer) else { continue };
            modules.entry(layer).or_default().insert(name[..name.len() - part.len() - 1].to_owned());
        }
        Self { modules }
    }

    /// The one module of a layer.
    pub(super) fn module(&self, layer: usize) -> Result<&str, CalibrateError> {
        let fail = |reason: String| CalibrateError::Name { layer, reason };
        let mut found = self.modules.get(&layer).into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(module), None) => Ok(module),
            (None, _) => Err(fail("the model has no weights under a known attention module".to_owned())),
            (Some(first), Some(second)) => {
                Err(fail(format!("its weights lie in several modules, such as {first} and {second}")))
            }
        }
    }
}
