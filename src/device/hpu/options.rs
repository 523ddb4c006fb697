//! Options: how a device is found and used.

use std::path::PathBuf;
use std::time::Duration;

use super::error::HpuError;
use super::recipes::RecipeFolder;

/// The environment variable that names a module, as the vendor's software has it.
pub const MODULE_ENV: &str = "HLS_MODULE_ID";

/// Options of [`Hpu::open`](super::Hpu::open): how a device is found and used.
#[derive(Debug, Clone)]
pub struct HpuOptions {
    /// The file of the library; where it is not given, `GAUDI_KV_SYNAPSE` or the usual places.
    pub library: Option<PathBuf>,
    /// The number of the module; where it is not given, `HLS_MODULE_ID`, or any free Gaudi.
    pub module_id: Option<u32>,
    /// The folder that recipes are kept in between processes.
    pub recipe_cache: RecipeFolder,
    /// How long data may be missing after the device has said that it is there. Work itself may take twenty times that.
    pub timeout: Duration,
}

impl Default for HpuOptions {
    fn default() -> Self {
        Self {
            library: None,
            module_id: None,
            recipe_cache: RecipeFolder::Default,
            timeout: Duration::from_secs(30),
        }
    }
}

impl HpuOptions {
    /// The module that these options or the environment name.
    pub(super) fn module(&self) -> Result<Option<u32>, HpuError> {
        if self.module_id.is_some() {
            return Ok(self.module_id);
        }
        let Some(value) = std::env::var_os(MODULE_ENV).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let value = value.to_string_lossy().into_owned();
        match value.parse() {
            Ok(module) => Ok(Some(module)),
            Err(_) => Err(HpuError::Variable { variable: MODULE_ENV, value }),
        }
    }
}
