//! A Gaudi's arithmetic on the CPU.

mod attention;
mod fast;
mod head_rows;
mod memory;
mod products;
mod project;
mod query;
mod softmax;
mod storage;
mod threads;
mod workspace;

use std::sync::{Mutex, PoisonError};

use half::bf16;

use super::{
    Backend, DecodeKernel, Device, DeviceError, HeadScales, PlaneLayout, PrefillKernel, ProjectKernel,
    StorageDtype, Values,
};
use crate::Generation;

use attention::{Attend, Side};
use fast::Runner;
pub use gaudi_numerics::Mode;
use head_rows::{HeadRows, QuantizedRows};
use products::Products;
#[cfg(feature = "hpu")]
pub(super) use query::quant_by_amax;
pub use storage::EmulatedPlane;
use threads::Threads;

/// A device of one generation, computed on the CPU.
#[derive(Debug, Clone, Copy)]
pub struct Emulated {
    generation: Generation,
    mode: Mode,
    products: Products,
    threads: Threads,
}

impl Emulated {
    /// The device of `generation`, on the threads of the current rayon pool.
    #[must_use]
    pub fn new(generation: Generation, mode: Mode) -> Self {
        Self { generation, mode, products: Products::new(generation, mode), threads: Threads::Pool }
    }

    /// The same device on the thread that calls it: for work so small that handing it to other threads takes longer. In
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

    /// Runs tasks, one for each sequence and KV head, and puts their rows where they belong.
    fn run_tasks<'t>(
        &self,
        count: usize,
        task: impl Fn(usize) -> Attend<'t> + Sync,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let out = Mutex::new(out);
        self.threads.each(count, |number| {
            workspace::with(|workspace| {
                let task = task(number);
                task.run(&self.products, workspace)?;
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                task.scatter(&workspace.out, &mut out);
                Ok(())
            })
        })
    }

    /// A decode by the matrix engine's products, in the mode of the device.
    fn decode_by_products(
        &self,
        kernel: &DecodeKernel<'_, EmulatedPlane>,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let (layout, kv_heads) = (kernel.key_layout, kernel.key_layout.heads);
        let is_fp8 = layout.dtype == StorageDtype::Fp8;
        let task = |number: usize| {
            let (sequence, kv_head) = (&kernel.sequences[number / kv_heads], number % kv_heads);
            let rows = |layout: &PlaneLayout, plane, dim| {
                HeadRows::of_plane(self.generation, layout, plane, kernel.blocks_of(sequence), kv_head, dim)
            };
            let key_dequant = kernel.key_dequant.of(kv_head);
            let value = match &kernel.values {
                Values::Plane { layout, plane, dequant } => {
                    Side { rows: rows(layout, plane, layout.dim), dequant: dequant.of(kv_head) }
                }
                Values::KeyPrefix { dim } => {
                    Side { rows: rows(layout, kernel.key, *dim), dequant: key_dequant }
                }
            };
            Attend {
                q: kernel.q,
                dim: layout.dim,
                num_heads: kernel.num_heads,
                group: kernel.num_heads / kv_heads,
                kv_head,
                first_token: sequence.first_token,
                tokens: sequence.tokens,
                context_tokens: sequence.context_tokens,
                query_scale: is_fp8.then_some(kernel.query_scale),
                key: Side { rows: rows(layout, kernel.key, layout.dim), dequant: key_dequant },
                value,
                prob: is_fp8.then_some(kernel.prob),
                modifiers: &kernel.modifiers,
            }
        };
        self.run_tasks(kernel.sequences.len() * kv_heads, task, out)
    }

    /// A prefill by the matrix engine's products, in the mode of the device.
    fn prefill_by_products(
        &self,
        kernel: &PrefillKernel<'_>,
        k: &QuantizedRows<'_>,
        v: &QuantizedRows<'_>,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let task = |kv_head| Attend {
            q: kernel.q,
            dim: kernel.dim,
            num_heads: kernel.num_heads,
            group: kernel.num_heads / kernel.num_kv_heads,
            kv_head,
            first_token: 0,
            tokens: kernel.q.len() / (kernel.num_heads * kernel.dim),
            context_tokens: kernel.k.len() / (kernel.num_kv_heads * kernel.dim),
            query_scale: kernel.fp8.map(|f| f.query_scale),
            key: Side {
                rows: k.head(kv_head),
                dequant: kernel.fp8.map_or(1.0, |f| f.key.dequant.of(kv_head)),
            },
            value: Side {
                rows: v.head(kv_head),
                dequant: kernel.fp8.map_or(1.0, |f| f.value.dequant.of(kv_head)),
            },
            prob: kernel.fp8.map(|f| f.prob),
            modifiers: &kernel.modifiers,
        };
        self.run_tasks(kernel.num_kv_heads, task, out)
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
            QuantizedRows::new(self.generation, values, kernel.num_kv_heads, dim, scales)
        };
        let k = quantized(kernel.k, kernel.dim, kernel.fp8.map(|f| &f.key.quant))?;
        let v = quantized(kernel.v, kernel.value_dim, kernel.fp8.map(|f| &f.value.quant))?;
        match self.mode {
            Mode::Exact => self.prefill_by_products(kernel, &k, &v, out),
            Mode::Fast => self.fast().prefill(self.generation, kernel, (k.elements(), v.elements()), out),
        }
    }

    fn decode(&self, kernel: &DecodeKernel<'_, EmulatedPlane>, out: &mut [f32]) -> Result<(), DeviceError> {
        match self.mode {
            Mode::Exact => self.decode_by_products(kernel, out),
            Mode::Fast => self.fast().decode(self.generation, kernel, out),
        }
    }

    fn project(&self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        match self.mode {
            Mode::Exact => {
                workspace::with(|workspace| project::project(&self.products, workspace, kernel, out))
            }
            Mode::Fast => self.fast().project(kernel, out),
        }
    }
}
