//! Taking a device: one a process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use habana_sys::synDeviceType;
use tracing::info;

use super::attention::Scratch;
use super::engine::Engine;
use super::error::HpuError;
use super::kernels::Kernels;
use super::recipe_files::{RecipeFiles, RecipeFolder};
use super::recipes::Recipes;
use super::synapse::{Api, Census, Device};
use super::{Hpu, Shared, State};
use crate::Generation;

/// The environment variable that names a module, as the vendor's software has it.
pub const MODULE_ENV: &str = "HLS_MODULE_ID";

/// The device that this process holds. Acquiring and releasing one around each use gives zeros on some systems.
static HELD: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

/// How a device is found and used.
#[derive(Debug, Clone)]
pub struct HpuOptions {
    /// The library; where it is not given, `GAUDI_KV_SYNAPSE` or the usual places.
    pub library: Option<PathBuf>,
    /// The module; where it is not given, `HLS_MODULE_ID`, or any free Gaudi.
    pub module_id: Option<u32>,
    /// Where recipes are kept between processes.
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

/// The generation of a device type.
pub(super) fn generation_of(device_type: synDeviceType) -> Option<Generation> {
    match device_type {
        synDeviceType::synDeviceGaudi2 => Some(Generation::Gaudi2),
        synDeviceType::synDeviceGaudi3 => Some(Generation::Gaudi3),
        _ => None,
    }
}

/// The module that options or the environment name.
pub(super) fn chosen_module(options: &HpuOptions) -> Result<Option<u32>, HpuError> {
    if options.module_id.is_some() {
        return Ok(options.module_id);
    }
    let Some(value) = std::env::var_os(MODULE_ENV).filter(|value| !value.is_empty()) else { return Ok(None) };
    let value = value.to_string_lossy().into_owned();
    match value.parse() {
        Ok(module) => Ok(Some(module)),
        Err(_) => Err(HpuError::Variable { variable: MODULE_ENV, value }),
    }
}

pub(super) fn open(options: &HpuOptions) -> Result<Hpu, HpuError> {
    let asked = chosen_module(options)?;
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shared) = held.upgrade() {
        return match asked {
            Some(asked) if shared.module != Some(asked) => {
                Err(HpuError::OtherModule { held: shared.module, asked })
            }
            _ => Ok(Hpu { shared }),
        };
    }
    let api = Api::open(options.library.as_deref())?;
    let device = Arc::new(acquire(&api, asked)?);
    let device_type = device.device_type()?;
    let Some(generation) = generation_of(device_type) else {
        return Err(HpuError::Unsupported { name: device.name()?, device_type: device_type.0 });
    };
    let version = api.version()?;
    let files = options.recipe_cache.path().map(RecipeFiles::of);
    let recipes = Recipes::new(&api, device_type, &version, files);
    let kernels = Kernels::new(&api, device_type);
    let state = State {
        engine: Engine::new(&device, &recipes, options.timeout)?,
        scratch: (Scratch::default(), Scratch::default()),
    };
    api.report()?;
    let shared =
        Shared { generation, module: asked, version, recipes, kernels, state: Mutex::new(state), device };
    info!(device = %shared, "device acquired");
    let shared = Arc::new(shared);
    *held = Arc::downgrade(&shared);
    Ok(Hpu { shared })
}

fn acquire(api: &Arc<Api>, module: Option<u32>) -> Result<Device, HpuError> {
    Ok(match module {
        Some(module) => Device::acquire_module(api, module)?,
        None => Device::acquire_type(api, first_type(api)?)?,
    })
}

/// The type of the machine's devices, the newest where there are several.
pub(super) fn first_type(api: &Arc<Api>) -> Result<synDeviceType, HpuError> {
    let census = Census::of(api);
    for device_type in [synDeviceType::synDeviceGaudi3, synDeviceType::synDeviceGaudi2] {
        if census.count(device_type)? > 0 {
            return Ok(device_type);
        }
    }
    Err(HpuError::NoDevice { library: api.path().to_owned() })
}
