//! Projections: a bfloat16 product for each head, with the weights packed as keys are.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::Runner;
use super::arch::Work;
use super::lanes::{Lanes, Line, steps};
use super::pack::{TILE_KEYS, Tile};
use super::product::{Left, Sink, product};
use super::workspace::{self, Workspace, take};
use crate::device::{DeviceError, ProjectKernel};

/// Rows of a task at most: the weights are packed once for all of them.
const TASK_ROWS: usize = 256;

/// Some of the rows of some of the heads.
pub(super) struct Projection<'k> {
    kernel: &'k ProjectKernel<'k>,
    heads: Range<usize>,
    rows: Range<usize>,
}

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
                self.backend.work(Work::Project(&task, workspace));
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

impl Projection<'_> {
    /// Computes `[rows, heads, n]` bfloat16 words into the workspace.
    #[inline(always)]
    pub(super) fn run<L: Lanes>(&self, l: L, workspace: &mut Workspace) {
        let ProjectKernel { heads, k, .. } = *self.kernel;
        let (n, depth) = (self.kernel.out_dim(), steps::<L>(k));
        let (rows, weights): (&[u16], &[u16]) =
            (self.kernel.rows.reinterpret_cast(), self.kernel.weights.reinterpret_cast());
        let stride = self.heads.len() * n;
        let cells = take(&mut workspace.cells, self.rows.len() * depth, 0);
        let panel = take(&mut workspace.panel, depth, [Line::ZERO; 4]);
        let zeros = &*take(&mut workspace.no_words, k, 0);
        let projected = take(&mut workspace.projected, self.rows.len() * stride, 0);
        for (number, head) in self.heads.clone().enumerate() {
            for (to, row) in cells.chunks_exact_mut(depth).zip(self.rows.clone()) {
                to_cells::<L>(&rows[(row * heads + head) * k..][..k], to);
            }
            // The weights of the columns from one on: zeros behind the last.
            let tile = |first: usize| {
                std::array::from_fn(|column| match first + column {
                    at if at < n => &weights[(head * n + at) * k..][..k],
                    _ => zeros,
                })
            };
            let left = Left { cells, stride: depth, rows: self.rows.len() };
            for first in (0..n).step_by(TILE_KEYS) {
                let columns = TILE_KEYS.min(n - first);
                let weights = Tile { now: tile(first), used: columns, next: Some(tile(first + TILE_KEYS)) };
                l.pack_key_words(&weights, k, panel);
                let mut to = Words { words: &mut projected[number * n + first..], stride, columns };
                product(l, left, (panel, columns.div_ceil(16)), &mut to);
            }
        }
    }
}

/// A row of words as whole cells.
#[inline(always)]
pub(super) fn to_cells<L: Lanes>(words: &[u16], cells: &mut [u32]) {
    if L::PAIRS {
        let (pairs, last) = words.as_chunks::<2>();
        cells.iter_mut().zip(pairs).for_each(|(to, w)| *to = u32::from(w[0]) | u32::from(w[1]) << 16);
        if let ([last], Some(to)) = (last, cells.last_mut()) {
            *to = u32::from(*last);
        }
    } else {
        cells.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from(*word) << 16);
    }
}

/// Takes a tile as bfloat16 words.
struct Words<'a> {
    words: &'a mut [u16],
    stride: usize,
    /// How many of the 64 are wanted.
    columns: usize,
}

impl<L: Lanes> Sink<L> for Words<'_> {
    #[inline(always)]
    fn take(&mut self, l: L, row: usize, line: usize, sum: L::V) {
        let rounded = l.round_bf16(sum);
        let first = 16 * line;
        if first >= self.columns {
            return;
        }
        let to = &mut self.words[row * self.stride + first..];
        if self.columns - first >= 16 {
            l.store_words(rounded, to);
        } else {
            let mut words = [0; 16];
            l.store_words(rounded, &mut words);
            let columns = self.columns - first;
            to[..columns].copy_from_slice(&words[..columns]);
        }
    }
}
