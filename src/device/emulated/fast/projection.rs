//! One task of a projection: a bfloat16 product for each of its heads, with the weights packed as keys are.

use std::ops::Range;

use half::slice::HalfFloatSliceExt;

use super::lanes::{Lanes, Line, steps};
use super::pack::{TILE_KEYS, Tile};
use super::product::{Left, Sink, product};
use super::workspace::{Workspace, take};
use crate::device::ProjectKernel;

/// The projection of some of the rows by some of the heads.
pub(super) struct Projection<'k> {
    pub(super) kernel: &'k ProjectKernel<'k>,
    pub(super) heads: Range<usize>,
    pub(super) rows: Range<usize>,
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
