//! The emulated device.

use half::bf16;

use super::common::operands::Operands;
use super::common::plane::EmulatedPlane;
use super::common::threads::Threads;
use super::exact::Exact;
use super::fast::Runner;
use crate::Generation;
use crate::device::context::attend_joined;
use crate::device::{
    AttentionProblem, AttentionWorkspace, Backend, Device, DeviceError, HeadScales, KeysAndValues,
    PlaneLayout, ProjectKernel,
};
use gaudi_numerics::Mode;

/// A device of one generation, computed on the CPU.
#[derive(Debug, Clone, Copy)]
pub struct Emulated {
    generation: Generation,
    mode: Mode,
    threads: Threads,
}

impl Emulated {
    /// The device of `generation`, on the threads of the current rayon pool.
    #[must_use]
    pub fn new(generation: Generation, mode: Mode) -> Self {
        Self { generation, mode, threads: Threads::Pool }
    }

    /// This device on the thread that calls it: for work so small that handing it to other threads takes longer. In
    /// [`Mode::Exact`] the matrix engine stays on the threads of the pool.
    #[must_use]
    pub fn on_calling_thread(self) -> Self {
        Self { threads: Threads::Calling, ..self }
    }

    /// How products are accumulated.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// What exact accumulation runs on.
    fn exact(&self) -> Exact {
        Exact::new(self.generation, self.threads)
    }

    /// What float accumulation runs on.
    fn fast(&self) -> Runner {
        Runner::new(self.threads)
    }
}

impl Device for Emulated {
    type Plane = EmulatedPlane;

    fn generation(&self) -> Generation {
        self.generation
    }

    fn backend(&self) -> Backend {
        Backend::Emulated(self.mode)
    }

    fn description(&self) -> String {
        format!("{}, emulated on the CPU ({})", self.generation, self.mode)
    }

    fn applies_scales(&self) -> bool {
        true
    }

    fn allocate(&self, layout: &PlaneLayout) -> Result<EmulatedPlane, DeviceError> {
        EmulatedPlane::allocate(layout)
    }

    fn write(
        &self,
        plane: &mut EmulatedPlane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        plane.write(self.generation, rows, slots, quant)
    }

    fn read(
        &self,
        plane: &EmulatedPlane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        plane.read(self.generation, slots, dequant, rows)
    }

    fn copy_blocks(&self, plane: &mut EmulatedPlane, pairs: &[(usize, usize)]) -> Result<(), DeviceError> {
        plane.copy_blocks(pairs);
        Ok(())
    }

    fn export_block(&self, plane: &EmulatedPlane, block: usize) -> Result<Vec<u8>, DeviceError> {
        Ok(plane.export_block(block))
    }

    fn import_block(&self, plane: &mut EmulatedPlane, block: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        plane.import_block(block, bytes);
        Ok(())
    }

    fn attend(
        &self,
        problem: &AttentionProblem<'_, EmulatedPlane>,
        workspace: &mut AttentionWorkspace,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let operands = match &problem.operands {
            KeysAndValues::Planes(planes) => Operands::Planes(planes),
            KeysAndValues::Tensors(tensors) => {
                Operands::of_tensors(self.generation, problem, tensors, &mut workspace.codes)?
            }
            KeysAndValues::ContextAndTensors { context, new } => {
                return attend_joined(self, problem, context, *new, workspace, out);
            }
        };
        match self.mode {
            Mode::Exact => self.exact().attend(problem, operands, out),
            Mode::Fast => self.fast().attend(self.generation, problem, operands, out),
        }
    }

    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        match self.mode {
            Mode::Exact => self.exact().project(kernel, out),
            Mode::Fast => self.fast().project(kernel, out),
        }
    }
}
