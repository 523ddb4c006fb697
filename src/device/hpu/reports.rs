//! Reports of the machine's devices from a library, for which none is taken.

use std::path::PathBuf;

use super::device_types::{generation_of, newest_generation, type_of};
use super::error::HpuError;
use super::options::HpuOptions;
use super::synapse::{Api, Census};
use crate::Generation;

/// The devices of the machine as a library reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryReport {
    /// The file of the library.
    pub library: PathBuf,
    /// The version of the library, as it says it.
    pub version: String,
    /// How many Gaudi2 there are.
    pub gaudi2: u32,
    /// How many Gaudi3 there are.
    pub gaudi3: u32,
    /// The modules; `None` where the library cannot list them.
    pub modules: Option<Vec<ModuleReport>>,
}

/// A module of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleReport {
    /// The number of the module.
    pub module: u32,
    /// The generation of the device; `None` for a device that is not supported, or where the library cannot say.
    pub generation: Option<Generation>,
    /// Free and total memory in bytes, where the library can say.
    pub memory_bytes: Option<(u64, u64)>,
}

/// Asks the library that the options name for the devices of the machine.
///
/// # Errors
/// There is no library, or a call failed.
pub fn reported_modules(options: &HpuOptions) -> Result<LibraryReport, HpuError> {
    let api = Api::open(options.library.as_deref())?;
    let census = Census::of(&api);
    let modules = match census.modules()? {
        None => None,
        Some(modules) => Some(
            modules
                .into_iter()
                .map(|module| {
                    let generation = census.device_type(module)?.and_then(generation_of);
                    Ok(ModuleReport { module, generation, memory_bytes: census.memory_bytes(module)? })
                })
                .collect::<Result<_, HpuError>>()?,
        ),
    };
    Ok(LibraryReport {
        library: api.path().to_owned(),
        version: api.version()?,
        gaudi2: census.count(type_of(Generation::Gaudi2))?,
        gaudi3: census.count(type_of(Generation::Gaudi3))?,
        modules,
    })
}

/// The generation of the device that [`Hpu::open`](super::Hpu::open) would take with these options.
///
/// # Errors
/// There is no library or no such device, or a call failed.
pub fn reported_generation(options: &HpuOptions) -> Result<Generation, HpuError> {
    let api = Api::open(options.library.as_deref())?;
    let census = Census::of(&api);
    if let Some(module) = options.module()?
        && let Some(device_type) = census.device_type(module)?
    {
        let name = format!("module {module}");
        let unsupported = || HpuError::Unsupported { name, device_type: device_type.0 };
        return generation_of(device_type).ok_or_else(unsupported);
    }
    newest_generation(&api)
}
