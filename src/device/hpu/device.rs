//! The handle of a Gaudi, as the library's other layers use one.

use std::sync::Arc;

use half::bf16;

use super::error::HpuError;
use super::held::HeldDevice;
use super::kernels::KernelChoice;
use super::options::HpuOptions;
use super::plane::HpuPlane;
use super::probe::{ProbeAnswer, ProbeSession, ask_all};
use super::recipes::RecipeStatistics;
use super::{attention, project};
use crate::Generation;
use crate::device::context::attend_joined;
use crate::device::{
    AttentionProblem, AttentionWorkspace, Backend, Device, DeviceError, HeadScales, KeysAndValues,
    PlaneLayout, ProjectKernel,
};

/// The Gaudi that this process holds. Cheap to clone; released with the last clone and the last plane.
#[derive(Debug, Clone)]
pub struct Hpu {
    held: Arc<HeldDevice>,
}

impl Hpu {
    /// Loads the library and takes a device, or gives the one that this process holds already.
    ///
    /// # Errors
    /// There is no library or no device, it is not a Gaudi2 or Gaudi3, or the process holds another.
    pub fn open(options: &HpuOptions) -> Result<Self, HpuError> {
        Ok(Self { held: HeldDevice::hold(options)? })
    }

    /// The module of the device; `None` where it was not chosen by module.
    #[must_use]
    pub fn module(&self) -> Option<u32> {
        self.held.module
    }

    /// How many recipes were compiled, and how many were there already.
    #[must_use]
    pub fn recipe_statistics(&self) -> RecipeStatistics {
        self.held.recipes.statistics()
    }

    /// Which kernels move FP8 codes, and why. What has not been tried yet is tried now.
    ///
    /// # Errors
    /// A call failed for another reason than that the compiler has no such kernel.
    pub fn kernel_choices(&self) -> Result<Vec<KernelChoice>, HpuError> {
        self.held.locked(|session, _| session.kernels.choices(session.engine))
    }

    /// Asks the device what no document says: one answer a question, in the order of `docs/on-device.md`. A question that
    /// cannot be asked has the reason for its answer, and the others are asked all the same.
    ///
    /// # Errors
    /// Something failed before, or the device cannot say what it is.
    pub fn probe(&self) -> Result<Vec<ProbeAnswer>, HpuError> {
        let device = &self.held.device;
        self.held.locked(|session, _| {
            let (generation, api, device_type) = (session.generation, device.api(), device.device_type()?);
            Ok(ask_all(&mut ProbeSession { generation, api, device_type, engine: session.engine }))
        })
    }

    /// Free and total memory of the device in bytes.
    ///
    /// # Errors
    /// The device cannot say.
    pub fn memory_bytes(&self) -> Result<(u64, u64), HpuError> {
        Ok(self.held.device.memory_bytes()?)
    }
}

impl Device for Hpu {
    type Plane = HpuPlane;

    fn generation(&self) -> Generation {
        self.held.generation
    }

    fn backend(&self) -> Backend {
        Backend::Hpu
    }

    fn description(&self) -> String {
        self.held.to_string()
    }

    fn applies_scales(&self) -> bool {
        true
    }

    fn allocate(&self, layout: &PlaneLayout) -> Result<HpuPlane, DeviceError> {
        self.held.locked(|session, _| Ok(session.allocate(layout)?))
    }

    fn write(
        &self,
        plane: &mut HpuPlane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        self.held.locked(|session, _| session.write(plane, rows, slots, quant))
    }

    fn read(
        &self,
        plane: &HpuPlane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        self.held.locked(|session, _| session.read(plane, slots, dequant, rows))
    }

    fn copy_blocks(&self, plane: &mut HpuPlane, pairs: &[(usize, usize)]) -> Result<(), DeviceError> {
        self.held.locked(|session, _| Ok(session.copy_blocks(plane, pairs)?))
    }

    fn export_block(&self, plane: &HpuPlane, block: usize) -> Result<Vec<u8>, DeviceError> {
        self.held.locked(|session, _| Ok(session.export_block(plane, block)?))
    }

    fn import_block(&self, plane: &mut HpuPlane, block: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.held.locked(|session, _| Ok(session.import_block(plane, block, bytes)?))
    }

    fn attend(
        &self,
        problem: &AttentionProblem<'_, HpuPlane>,
        workspace: &mut AttentionWorkspace,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        match &problem.operands {
            KeysAndValues::Planes(planes) => {
                self.held.locked(|session, _| attention::over_planes(session, problem, planes, out))
            }
            KeysAndValues::Tensors(tensors) => self
                .held
                .locked(|session, scratch| attention::over_tensors(session, scratch, problem, tensors, out)),
            KeysAndValues::ContextAndTensors { context, new } => {
                attend_joined(self, problem, context, *new, workspace, out)
            }
        }
    }

    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        self.held.locked(|session, _| Ok(project::project(session, kernel, out)?))
    }
}
