//! Tasks: blocks of a product, computed over the columns of a panel at once.

use super::exact::exact_rows;
use super::float::float_rows;
use super::ops::ProductOps;
use super::packed_a::{CHUNK, PackedA};
use super::source::Source;
use super::sum::Sum;
use super::task_memory::TaskMemory;
use crate::simd::Work;

/// A block of the product: some rows of A by some columns of B.
pub(super) struct Task<'k, 'o> {
    pub(super) sum: Sum,
    pub(super) a: &'k PackedA,
    pub(super) first_row: usize,
    pub(super) b: &'k Source<'k>,
    pub(super) first_column: usize,
    /// The block of the destination, row by row.
    pub(super) out: &'k mut [&'o mut [f32]],
}

/// Computes a block in the memory of a thread.
pub(super) struct Compute<'t, 'k, 'o> {
    pub(super) task: &'t mut Task<'k, 'o>,
    pub(super) memory: &'t mut TaskMemory,
}

impl<S: ProductOps> Work<S, ()> for Compute<'_, '_, '_> {
    #[inline(always)]
    fn run(self, simd: S) {
        let Self { task, memory } = self;
        let width = 4 * S::LANES;
        let rows = task.out.len();
        let columns = task.out.first().map_or(0, |row| row.len());
        let TaskMemory { chunk, tile, scalar_lanes } = memory;
        chunk.set_width(width);
        tile.resize(rows * width, 0.0);
        scalar_lanes.resize(rows, 0);
        for start in (0..columns).step_by(width) {
            let used = width.min(columns - start);
            tile.fill(0.0);
            scalar_lanes.fill(0);
            for (index, k) in (0..task.a.depth).step_by(CHUNK).enumerate() {
                chunk.pack(simd, task.b, k, task.first_column + start, used);
                let mut row = 0;
                while row < rows {
                    let c = &mut tile[row * width..];
                    let first = task.first_row + row;
                    match task.sum {
                        Sum::Float if S::ROWS > 1 && row + 4 <= rows => {
                            float_rows::<S, 4>(simd, task.a, first, index, chunk, c);
                            row += 4;
                        }
                        Sum::Float if row + 2 <= rows => {
                            float_rows::<S, 2>(simd, task.a, first, index, chunk, c);
                            row += 2;
                        }
                        Sum::Float => {
                            float_rows::<S, 1>(simd, task.a, first, index, chunk, c);
                            row += 1;
                        }
                        Sum::Exact { rules, checked } if S::ROWS > 1 && row + 2 <= rows => {
                            let a = [task.a.row(first, index), task.a.row(first + 1, index)];
                            exact_rows::<S, 2>(simd, rules, checked, chunk, a, c, &mut scalar_lanes[row..]);
                            row += 2;
                        }
                        Sum::Exact { rules, checked } => {
                            let a = [task.a.row(first, index)];
                            exact_rows::<S, 1>(simd, rules, checked, chunk, a, c, &mut scalar_lanes[row..]);
                            row += 1;
                        }
                    }
                }
            }
            for (out, c) in task.out.iter_mut().zip(tile.chunks_exact(width)) {
                out[start..start + used].copy_from_slice(&c[..used]);
            }
        }
    }
}
