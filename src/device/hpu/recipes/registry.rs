//! The recipes of a device, each compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use habana_sys::synDeviceType;
use tracing::{debug, info};

use super::compile::compile;
use super::compiled::Compiled;
use super::files::RecipeFiles;
use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::GraphSpec;
use crate::device::hpu::synapse::Api;

/// How many recipes were compiled, read from files, and found in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecipeStatistics {
    /// Recipes that were compiled.
    pub compiled: u64,
    /// Recipes that were read from a file.
    pub from_disk: u64,
    /// Recipes that were in memory already: every use but the first.
    pub from_memory: u64,
}

/// The recipes of a device, each compiled or read once.
#[derive(Debug)]
pub(crate) struct Recipes {
    api: Arc<Api>,
    device_type: synDeviceType,
    /// Everything but the graph that a recipe depends on.
    environment: String,
    files: Option<RecipeFiles>,
    table: Mutex<RecipeTable>,
}

/// The recipes in memory, and how they were come by.
#[derive(Debug, Default)]
struct RecipeTable {
    by_key: HashMap<String, Arc<Compiled>>,
    statistics: RecipeStatistics,
}

impl Recipes {
    /// Recipes of a device, none yet. `version` is the library's.
    pub(crate) fn new(
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
        Self { api: Arc::clone(api), device_type, environment, files, table: Mutex::default() }
    }

    /// Gives the recipe of a graph: from memory, from a file, or compiled.
    pub(crate) fn get(&self, graph: &GraphSpec) -> Result<Arc<Compiled>, HpuError> {
        let key = format!("{}{}", self.environment, graph.text());
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = table.by_key.get(&key).cloned() {
            table.statistics.from_memory += 1;
            return Ok(compiled);
        }
        let recipe = self.files.as_ref().and_then(|files| files.load(&self.api, &key, graph.family));
        let compiled = match recipe {
            Some(recipe) => {
                table.statistics.from_disk += 1;
                debug!(family = graph.family, "recipe read from a file");
                Compiled::new(recipe, graph)?
            }
            None => {
                let start = Instant::now();
                let recipe = compile(&self.api, self.device_type, graph)?;
                table.statistics.compiled += 1;
                info!(family = graph.family, took = ?start.elapsed(), "recipe compiled");
                if let Some(files) = &self.files {
                    files.store(&recipe, &key);
                }
                Compiled::new(recipe, graph)?
            }
        };
        let compiled = Arc::new(compiled);
        table.by_key.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }

    pub(crate) fn statistics(&self) -> RecipeStatistics {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).statistics
    }
}
