//! The recipes of a device, each compiled once.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use habana_sys::synDeviceType;
use tracing::{debug, info};

use super::build::compile;
use super::error::HpuError;
use super::graph::{Graph, Place, Spec};
use super::recipe_files::RecipeFiles;
use super::synapse::{Api, Recipe};

/// How recipes were come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecipeStatistics {
    /// Compiled.
    pub compiled: u64,
    /// Read from a file.
    pub from_disk: u64,
    /// In memory already: every use but the first.
    pub from_memory: u64,
}

/// A persistent tensor of a recipe.
#[derive(Debug)]
pub(super) struct Persistent {
    pub(super) name: CString,
    pub(super) id: u64,
    pub(super) spec: Spec,
    /// The operand whose memory this is, for one that is changed in place.
    pub(super) base: Option<String>,
}

/// A recipe and what its launch takes.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) recipe: Recipe,
    pub(super) tensors: Vec<Persistent>,
    pub(super) workspace_bytes: usize,
}

impl Compiled {
    pub(super) fn new(recipe: Recipe, graph: &Graph) -> Result<Self, HpuError> {
        let specs: Vec<&Spec> = graph.launched().collect();
        let names: Vec<CString> =
            specs.iter().map(|spec| CString::new(spec.name.as_str()).unwrap_or_default()).collect();
        let ids = recipe.tensor_ids(&names)?;
        let tensors = specs.into_iter().zip(names).zip(ids).map(|((spec, name), id)| {
            let base = match &spec.place {
                Place::InPlaceOf(id) => Some(graph.spec(*id).name.clone()),
                _ => None,
            };
            Persistent { name, id, spec: spec.clone(), base }
        });
        let tensors = tensors.collect();
        let workspace_bytes = recipe.workspace_bytes()?;
        Ok(Self { recipe, tensors, workspace_bytes })
    }

    /// The result, where the recipe has one.
    pub(super) fn output(&self) -> Option<&Spec> {
        self.tensors.iter().map(|tensor| &tensor.spec).find(|spec| spec.place == Place::Output)
    }
}

/// The recipes in use.
#[derive(Debug)]
pub(super) struct Recipes {
    api: Arc<Api>,
    device_type: synDeviceType,
    /// Everything but the graph that a recipe depends on.
    environment: String,
    files: Option<RecipeFiles>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    by_key: HashMap<String, Arc<Compiled>>,
    statistics: RecipeStatistics,
}

impl Recipes {
    /// No recipe yet. `version` is the library's.
    pub(super) fn new(
        api: &Arc<Api>,
        device_type: synDeviceType,
        version: &str,
        files: Option<RecipeFiles>,
    ) -> Self {
        let environment = format!(
            "gaudi-kv {}\nlibrary {version}\ndevice type {}\n",
            env!("CARGO_PKG_VERSION"),
            device_type.0
        );
        Self { api: Arc::clone(api), device_type, environment, files, state: Mutex::default() }
    }

    /// The recipe of a graph: from memory, from a file, or compiled.
    pub(super) fn get(&self, graph: &Graph) -> Result<Arc<Compiled>, HpuError> {
        let key = format!("{}{}", self.environment, graph.text());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = state.by_key.get(&key).cloned() {
            state.statistics.from_memory += 1;
            return Ok(compiled);
        }
        let recipe = self.files.as_ref().and_then(|files| files.load(&self.api, &key, graph.family));
        let compiled = match recipe {
            Some(recipe) => {
                state.statistics.from_disk += 1;
                debug!(family = graph.family, "recipe read from a file");
                Compiled::new(recipe, graph)?
            }
            None => {
                let start = Instant::now();
                let recipe = compile(&self.api, self.device_type, graph)?;
                state.statistics.compiled += 1;
                info!(family = graph.family, took = ?start.elapsed(), "recipe compiled");
                if let Some(files) = &self.files {
                    files.store(&recipe, &key);
                }
                Compiled::new(recipe, graph)?
            }
        };
        let compiled = Arc::new(compiled);
        state.by_key.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }

    pub(super) fn statistics(&self) -> RecipeStatistics {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).statistics
    }
}
