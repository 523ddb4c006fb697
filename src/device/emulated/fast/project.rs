//! Projections, cut into tasks.

use std::sync::{Mutex, PoisonError};

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::Runner;
use super::job::Job;
use super::projection::Projection;
use super::workspace;
use crate::device::{DeviceError, ProjectKernel};

/// Rows of a task at most: the weights are packed once for all of them.
const TASK_ROWS: usize = 256;

impl Runner {
    /// [`Device::project`](crate::device::Device::project) with float accumulation.
    pub(in super::super) fn project(
        self,
        kernel: &ProjectKernel<'_>,
        out: &mut [bf16],
    ) -> Result<(), DeviceError> {
        let (rows, heads, n) = (kernel.num_rows(), kernel.heads, kernel.out_dim());
        let threads = self.threads.count();
        let wanted = if threads == 1 { 1 } else { 2 * threads };
        // Rows that are split pack the weights of their heads twice.
        let task_heads = heads.div_ceil(wanted.div_ceil(rows.div_ceil(TASK_ROWS).max(1)));
        let pieces = wanted.div_ceil(heads.div_ceil(task_heads));
        let task_rows = rows.div_ceil(pieces).clamp(1, TASK_ROWS);
        let (across, down) = (heads.div_ceil(task_heads), rows.div_ceil(task_rows));
        let out = Mutex::new(out);
        self.threads.each(across * down, |number| {
            let (head, row) = (number % across * task_heads, number / across * task_rows);
            let task = Projection {
                kernel,
                heads: head..(head + task_heads).min(heads),
                rows: row..(row + task_rows).min(rows),
            };
            workspace::with(|workspace| {
                self.level.run_with_bf16(Job::Projection(&task, workspace));
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                let width = task.heads.len() * n;
                for (row, from) in task.rows.clone().zip(workspace.projected.chunks_exact(width)) {
                    let at = (row * heads + task.heads.start) * n;
                    out[at..at + width].reinterpret_cast_mut().copy_from_slice(from);
                }
            });
            Ok(())
        })
    }
}
