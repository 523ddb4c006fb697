//! The device that this process holds: one a process.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tracing::info;

use super::attention::Scratch;
use super::device_types::{generation_of, newest_generation, type_of};
use super::engine::Engine;
use super::error::HpuError;
use super::kernels::Kernels;
use super::options::HpuOptions;
use super::recipes::{RecipeFiles, Recipes};
use super::session::Session;
use super::synapse::{AcquiredDevice, Api};
use crate::Generation;

/// The device that this process holds. Acquiring and releasing one around each use gives zeros on some systems.
static HELD: Mutex<Weak<HeldDevice>> = Mutex::new(Weak::new());

/// An acquired device with everything that its handles share.
#[derive(Debug)]
pub(super) struct HeldDevice {
    pub(super) generation: Generation,
    pub(super) module: Option<u32>,
    version: String,
    pub(super) recipes: Recipes,
    kernels: Kernels,
    exclusive: Mutex<Exclusive>,
    pub(super) device: Arc<AcquiredDevice>,
}

/// The parts of a held device that one call at a time uses.
#[derive(Debug)]
struct Exclusive {
    engine: Engine,
    /// Planes that prefills put keys into, and those for values.
    scratch: (Scratch, Scratch),
}

impl HeldDevice {
    /// Loads the library and takes a device, or gives the one that this process holds already.
    pub(super) fn hold(options: &HpuOptions) -> Result<Arc<Self>, HpuError> {
        let asked = options.module()?;
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = held.upgrade() {
            return match asked {
                Some(asked) if device.module != Some(asked) => {
                    Err(HpuError::OtherModule { held: device.module, asked })
                }
                _ => Ok(device),
            };
        }
        let device = Arc::new(Self::acquire(options, asked)?);
        info!(%device, "device acquired");
        *held = Arc::downgrade(&device);
        Ok(device)
    }

    /// Takes the device of a module, or any free one of the newest generation.
    fn acquire(options: &HpuOptions, module: Option<u32>) -> Result<Self, HpuError> {
        let api = Api::open(options.library.as_deref())?;
        let device = Arc::new(match module {
            Some(module) => AcquiredDevice::acquire_module(&api, module)?,
            None => AcquiredDevice::acquire_type(&api, type_of(newest_generation(&api)?))?,
        });
        let device_type = device.device_type()?;
        let Some(generation) = generation_of(device_type) else {
            return Err(HpuError::Unsupported { name: device.name()?, device_type: device_type.0 });
        };
        let version = api.version()?;
        let files = options.recipe_cache.path().map(RecipeFiles::of);
        let recipes = Recipes::new(&api, device_type, &version, files);
        let kernels = Kernels::new(&api, device_type);
        let exclusive = Exclusive {
            engine: Engine::new(&device, &recipes, options.timeout)?,
            scratch: (Scratch::default(), Scratch::default()),
        };
        api.report()?;
        Ok(Self { generation, module, version, recipes, kernels, exclusive: Mutex::new(exclusive), device })
    }

    /// Reports what failed since the last call, then does `work` while nobody else does any.
    pub(super) fn locked<T, E: From<HpuError>>(
        &self,
        work: impl FnOnce(&mut Session<'_>, &mut (Scratch, Scratch)) -> Result<T, E>,
    ) -> Result<T, E> {
        self.device.api().report()?;
        // A panic leaves buffers that the next call fills anew.
        let mut exclusive = self.exclusive.lock().unwrap_or_else(PoisonError::into_inner);
        let Exclusive { engine, scratch } = &mut *exclusive;
        let mut session =
            Session { generation: self.generation, engine, recipes: &self.recipes, kernels: &self.kernels };
        work(&mut session, scratch)
    }
}

impl fmt::Display for HeldDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.generation)?;
        if let Some(module) = self.module {
            write!(f, "module {module}, ")?;
        }
        write!(f, "SynapseAI {} ({})", self.version, self.device.api().path().display())
    }
}
