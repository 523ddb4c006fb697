//! The matrix engine's own arithmetic, bit for bit: attention over a paged cache or over tensors, and projections.

mod head_rows;
mod project;
mod query_rows;
mod softmax;
mod task;
mod workspace;

use std::sync::{Mutex, PoisonError};

use half::bf16;

use super::common::element_slice::ElementSlice;
use super::common::plane::EmulatedPlane;
use super::common::sequence_rows::SequenceRows;
use super::common::threads::Threads;
use crate::Generation;
use crate::device::{
    DecodeKernel, DeviceError, PlaneLayout, PrefillKernel, ProjectKernel, StorageDtype, Values,
};
use crate::mme::Gemm;

use head_rows::HeadRows;
use task::{HeadOperand, HeadTask};

/// Exact products, on threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exact {
    gemm: Gemm,
    threads: Threads,
}

impl Exact {
    pub(super) fn new(generation: Generation, threads: Threads) -> Self {
        Self { gemm: Gemm::new(generation), threads }
    }

    /// Runs tasks, one for each sequence and KV head, and puts their rows where they belong.
    fn run_tasks<'t>(
        self,
        count: usize,
        task: impl Fn(usize) -> HeadTask<'t> + Sync,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let out = Mutex::new(out);
        self.threads.each(count, |number| {
            workspace::with(|workspace| {
                let task = task(number);
                task.run(self.gemm, workspace)?;
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                task.scatter(&workspace.out, &mut out);
                Ok(())
            })
        })
    }

    /// Attention of several sequences over cache planes, as [`Device::decode`](crate::device::Device::decode) has it.
    pub(super) fn decode(
        self,
        kernel: &DecodeKernel<'_, EmulatedPlane>,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let (layout, kv_heads) = (kernel.key_layout, kernel.key_layout.heads);
        let is_fp8 = layout.dtype == StorageDtype::Fp8;
        let generation = self.gemm.generation();
        let task = |number: usize| {
            let (sequence, kv_head) = (&kernel.sequences[number / kv_heads], number % kv_heads);
            let rows = |layout: &PlaneLayout, plane, dim| {
                let rows = SequenceRows::of_plane(plane, layout, dim, kernel.blocks_of(sequence));
                HeadRows::new(generation, rows, kv_head)
            };
            let key_dequant = kernel.key_dequant.of(kv_head);
            let value = match &kernel.values {
                Values::Plane { layout, plane, dequant } => {
                    HeadOperand { rows: rows(layout, plane, layout.dim), dequant: dequant.of(kv_head) }
                }
                Values::KeyPrefix { dim } => {
                    HeadOperand { rows: rows(layout, kernel.key, *dim), dequant: key_dequant }
                }
            };
            HeadTask {
                q: kernel.q,
                dim: layout.dim,
                num_heads: kernel.num_heads,
                group: kernel.num_heads / kv_heads,
                kv_head,
                first_token: sequence.first_token,
                tokens: sequence.tokens,
                context_tokens: sequence.context_tokens,
                query_scale: is_fp8.then_some(kernel.query_scale),
                key: HeadOperand { rows: rows(layout, kernel.key, layout.dim), dequant: key_dequant },
                value,
                prob: is_fp8.then_some(kernel.prob),
                modifiers: &kernel.modifiers,
            }
        };
        self.run_tasks(kernel.sequences.len() * kv_heads, task, out)
    }

    /// Attention of one sequence, as [`Device::prefill`](crate::device::Device::prefill) has it, over keys and values that
    /// are quantized where they are to be.
    pub(super) fn prefill(
        self,
        kernel: &PrefillKernel<'_>,
        (k, v): (ElementSlice<'_>, ElementSlice<'_>),
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let (generation, heads) = (self.gemm.generation(), kernel.num_kv_heads);
        let key = SequenceRows::of_tensor(k, heads, kernel.dim);
        let value = SequenceRows::of_tensor(v, heads, kernel.value_dim);
        let task = |kv_head| HeadTask {
            q: kernel.q,
            dim: kernel.dim,
            num_heads: kernel.num_heads,
            group: kernel.num_heads / heads,
            kv_head,
            first_token: 0,
            tokens: kernel.q.len() / (kernel.num_heads * kernel.dim),
            context_tokens: kernel.k.len() / (heads * kernel.dim),
            query_scale: kernel.fp8.map(|f| f.query_scale),
            key: HeadOperand {
                rows: HeadRows::new(generation, key, kv_head),
                dequant: kernel.fp8.map_or(1.0, |f| f.key.dequant.of(kv_head)),
            },
            value: HeadOperand {
                rows: HeadRows::new(generation, value, kv_head),
                dequant: kernel.fp8.map_or(1.0, |f| f.value.dequant.of(kv_head)),
            },
            prob: kernel.fp8.map(|f| f.prob),
            modifiers: &kernel.modifiers,
        };
        self.run_tasks(heads, task, out)
    }

    /// Projections, as [`Device::project`](crate::device::Device::project) has them.
    pub(super) fn project(self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        workspace::with(|workspace| project::project(self.gemm, workspace, kernel, out))
    }
}
