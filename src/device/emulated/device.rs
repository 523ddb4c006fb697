//! The emulated device.

use half::bf16;

use super::common::plane::EmulatedPlane;
use super::common::quantized_tensor::QuantizedTensor;
use super::common::threads::Threads;
use super::exact::Exact;
use super::fast::Runner;
use crate::Generation;
use crate::device::{
    Backend, DecodeKernel, Device, DeviceError, HeadScales, PlaneLayout, PrefillKernel, ProjectKernel,
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
        layout: &PlaneLayout,
        plane: &mut EmulatedPlane,
        rows: &[bf16],
        slots: &[usize],
        quant: &HeadScales,
    ) -> Result<(), DeviceError> {
        plane.write(self.generation, layout, rows, slots, quant)
    }

    fn read(
        &self,
        layout: &PlaneLayout,
        plane: &EmulatedPlane,
        slots: &[usize],
        dequant: &HeadScales,
        rows: &mut [bf16],
    ) -> Result<(), DeviceError> {
        plane.read(self.generation, layout, slots, dequant, rows)
    }

    fn copy_blocks(
        &self,
        layout: &PlaneLayout,
        plane: &mut EmulatedPlane,
        pairs: &[(usize, usize)],
    ) -> Result<(), DeviceError> {
        plane.copy_blocks(layout, pairs);
        Ok(())
    }

    fn export_block(
        &self,
        layout: &PlaneLayout,
        plane: &EmulatedPlane,
        block: usize,
    ) -> Result<Vec<u8>, DeviceError> {
        Ok(plane.export_block(layout, block))
    }

    fn import_block(
        &self,
        layout: &PlaneLayout,
        plane: &mut EmulatedPlane,
        block: usize,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        plane.import_block(layout, block, bytes);
        Ok(())
    }

    fn prefill(&self, kernel: &PrefillKernel<'_>, out: &mut [f32]) -> Result<(), DeviceError> {
        let quantized = |values, dim, scales: Option<&HeadScales>| {
            QuantizedTensor::new(self.generation, values, kernel.num_kv_heads, dim, scales)
        };
        let k = quantized(kernel.k, kernel.dim, kernel.fp8.map(|f| &f.key.quant))?;
        let v = quantized(kernel.v, kernel.value_dim, kernel.fp8.map(|f| &f.value.quant))?;
        match self.mode {
            Mode::Exact => self.exact().prefill(kernel, (k.elements(), v.elements()), out),
            Mode::Fast => self.fast().prefill(self.generation, kernel, (k.elements(), v.elements()), out),
        }
    }

    fn decode(&self, kernel: &DecodeKernel<'_, EmulatedPlane>, out: &mut [f32]) -> Result<(), DeviceError> {
        match self.mode {
            Mode::Exact => self.exact().decode(kernel, out),
            Mode::Fast => self.fast().decode(self.generation, kernel, out),
        }
    }

    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        match self.mode {
            Mode::Exact => self.exact().project(kernel, out),
            Mode::Fast => self.fast().project(kernel, out),
        }
    }
}
