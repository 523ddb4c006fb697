//! A Gaudi, through SynapseAI.
//!
//! [`Hpu`] runs caches and attention as compiled graphs on a device. What each computes is what
//! [`emulated`](super::emulated) defines in its exact mode, step by step; `docs/on-device.md` lists the graphs, the shapes
//! that they are compiled for, and how data is known to have arrived. Nothing here falls back to the CPU.

mod attention;
mod buckets;
mod build;
mod caches;
mod engine;
mod error;
mod graph;
mod kernels;
mod link;
mod listing;
mod open;
mod plane;
mod probe;
mod project;
mod recipe_files;
mod recipes;
mod synapse;

pub use error::{CallFailure, HpuError};
pub use kernels::KernelChoice;
pub use listing::{LibraryReport, ModuleReport, reported_generation, reported_modules};
pub use open::{HpuOptions, MODULE_ENV};
pub use plane::HpuPlane;
pub use probe::ProbeAnswer;
pub use recipe_files::{RECIPE_CACHE_ENV, RecipeFolder};
pub use recipes::RecipeStatistics;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use half::bf16;

use super::{
    Backend, DecodeKernel, Device, DeviceError, HeadScales, PlaneLayout, PrefillKernel, ProjectKernel,
};
use crate::Generation;

use attention::Scratch;
use caches::Caches;
use engine::Engine;
use kernels::Kernels;
use probe::Bench;
use recipes::Recipes;

/// The Gaudi that this process holds. Cheap to clone; released with the last clone and the last plane.
#[derive(Debug, Clone)]
pub struct Hpu {
    shared: Arc<Shared>,
}

/// What all clones share.
#[derive(Debug)]
struct Shared {
    generation: Generation,
    module: Option<u32>,
    version: String,
    recipes: Recipes,
    kernels: Kernels,
    state: Mutex<State>,
    device: Arc<synapse::Device>,
}

/// What only one call may use at a time.
#[derive(Debug)]
struct State {
    engine: Engine,
    /// Of keys and of values.
    scratch: (Scratch, Scratch),
}

impl Hpu {
    /// Loads the library and takes a device, or gives the one that this process holds already.
    ///
    /// # Errors
    /// There is no library or no device, it is not a Gaudi2 or Gaudi3, or the process holds another.
    pub fn open(options: &HpuOptions) -> Result<Self, HpuError> {
        open::open(options)
    }

    /// The module of the device, where it was chosen by module.
    #[must_use]
    pub fn module(&self) -> Option<u32> {
        self.shared.module
    }

    /// How many recipes were compiled, and how many were there already.
    #[must_use]
    pub fn recipe_statistics(&self) -> RecipeStatistics {
        self.shared.recipes.statistics()
    }

    /// Which kernels move FP8 codes, and why. What has not been tried yet is tried now.
    ///
    /// # Errors
    /// A call failed for another reason than that the compiler has no such kernel.
    pub fn kernel_choices(&self) -> Result<Vec<KernelChoice>, HpuError> {
        self.locked(|caches, _| caches.kernels.choices(caches.engine))
    }

    /// Asks the device what no document says: one answer a question, in the order of `docs/on-device.md`. A question that
    /// cannot be asked has the reason for its answer, and the others are asked all the same.
    ///
    /// # Errors
    /// Something failed before, or the device cannot say what it is.
    pub fn probe(&self) -> Result<Vec<ProbeAnswer>, HpuError> {
        let shared = &*self.shared;
        let api = shared.device.api();
        api.report()?;
        let device_type = shared.device.device_type()?;
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bench = Bench { generation: shared.generation, api, device_type, engine: &mut state.engine };
        Ok(probe::answers(&mut bench))
    }

    /// Free and total memory of the device in bytes.
    ///
    /// # Errors
    /// The device cannot say.
    pub fn memory_bytes(&self) -> Result<(u64, u64), HpuError> {
        Ok(self.shared.device.memory_bytes()?)
    }

    /// Reports what failed since the last call, then does `work` while nobody else does any.
    fn locked<T, E: From<HpuError>>(
        &self,
        work: impl FnOnce(&mut Caches<'_>, &mut (Scratch, Scratch)) -> Result<T, E>,
    ) -> Result<T, E> {
        let shared = &*self.shared;
        shared.device.api().report()?;
        // A panic leaves buffers that the next call fills anew.
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { engine, scratch } = &mut *state;
        let mut caches = Caches {
            generation: shared.generation,
            engine,
            recipes: &shared.recipes,
            kernels: &shared.kernels,
        };
        work(&mut caches, scratch)
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.generation)?;
        if let Some(module) = self.module {
            write!(f, "module {module}, ")?;
        }
        write!(f, "SynapseAI {} ({})", self.version, self.device.api().path().display())
    }
}

impl Device for Hpu {
    type Plane = HpuPlane;

    fn generation(&self) -> Generation {
        self.shared.generation
    }

    fn backend(&self) -> Backend {
        Backend::Hpu
    }

    fn description(&self) -> String {
        self.shared.to_string()
    }

    fn applies_scales(&self) -> bool {
        true
    }

    fn allocate(&self, layout: &PlaneLayout) -> Result<HpuPlane, DeviceError> {
        self.locked(|caches, _| Ok(caches.allocate(layout)?))
    }

    fn write(
        &self,
        layout: &PlaneLayout,
        plane: &mut HpuPlane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        self.locked(|caches, _| caches.write(layout, plane, rows, slots, quant))
    }

    fn read(
        &self,
        layout: &PlaneLayout,
        plane: &HpuPlane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        self.locked(|caches, _| caches.read(layout, plane, slots, dequant, rows))
    }

    fn copy_blocks(
        &self,
        layout: &PlaneLayout,
        plane: &mut HpuPlane,
        pairs: &[(usize, usize)],
    ) -> Result<(), DeviceError> {
        self.locked(|caches, _| Ok(caches.copy_blocks(layout, plane, pairs)?))
    }

    fn export_block(
        &self,
        layout: &PlaneLayout,
        plane: &HpuPlane,
        block: usize,
    ) -> Result<Vec<u8>, DeviceError> {
        self.locked(|caches, _| Ok(caches.export_block(layout, plane, block)?))
    }

    fn import_block(
        &self,
        layout: &PlaneLayout,
        plane: &mut HpuPlane,
        block: usize,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.locked(|caches, _| Ok(caches.import_block(layout, plane, block, bytes)?))
    }

    fn prefill(&self, kernel: &PrefillKernel<'_>, out: &mut [f32]) -> Result<(), DeviceError> {
        self.locked(|caches, scratch| attention::prefill(caches, scratch, kernel, out))
    }

    fn decode(&self, kernel: &DecodeKernel<'_, HpuPlane>, out: &mut [f32]) -> Result<(), DeviceError> {
        self.locked(|caches, _| attention::decode(caches, kernel, out))
    }

    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        self.locked(|caches, _| Ok(project::project(caches, kernel, out)?))
    }
}
