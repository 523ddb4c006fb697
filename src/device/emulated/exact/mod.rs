//! The matrix engine's own arithmetic, bit for bit: attention over a paged cache or over tensors, and projections.

mod head_rows;
mod project;
mod query_rows;
mod softmax;
mod task;
mod workspace;

use std::sync::{Mutex, PoisonError};

use half::bf16;

use super::common::operands::{EmulatedProblem, Operands};
use super::common::threads::Threads;
use crate::Generation;
use crate::device::{DeviceError, HeadScales, ProjectKernel};
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

    /// Attention, a task for each sequence and KV head.
    pub(super) fn attend(
        self,
        problem: &EmulatedProblem<'_>,
        operands: Operands<'_>,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let (generation, kv_heads) = (self.gemm.generation(), problem.shape.num_kv_heads);
        let (key_dequant, value_dequant) = problem.product_dequants();
        let out = Mutex::new(out);
        self.threads.each(problem.sequences.len() * kv_heads, |number| {
            let (sequence, kv_head) = (&problem.sequences[number / kv_heads], number % kv_heads);
            let [key, value] = operands.rows(problem, sequence);
            let operand = |rows, dequant: &HeadScales| HeadOperand {
                rows: HeadRows::new(generation, rows, kv_head),
                dequant: dequant.of(kv_head),
            };
            let task = HeadTask {
                problem,
                sequence,
                kv_head,
                key: operand(key, key_dequant),
                value: operand(value, value_dequant),
            };
            workspace::with(|workspace| {
                task.run(self.gemm, workspace)?;
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                task.scatter(&workspace.out, &mut out);
                Ok(())
            })
        })
    }

    /// Projections, as [`Device::project`](crate::device::Device::project) has them.
    pub(super) fn project(self, kernel: &ProjectKernel<'_>, out: &mut [bf16]) -> Result<(), DeviceError> {
        workspace::with(|workspace| project::project(self.gemm, workspace, kernel, out))
    }
}
