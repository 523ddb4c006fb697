//! The matrix products: checks, packing, cutting into tasks, and running them.

use rayon::prelude::*;

use super::batch_memory::BatchMemory;
use super::emptied::emptied;
use super::error::MmeError;
use super::matrix::{Matrix, MatrixMut, Right};
use super::prepared::Prepared;
use super::rules::Rules;
use super::task::{Compute, Task};
use super::task_memory;
use super::width::PanelWidth;
use crate::generation::Generation;
use crate::simd::{Isa, Level};

/// Rows of A that go with one packing of B.
const TASK_ROWS: usize = 128;
/// The most panels of B in one task.
const TASK_PANELS: usize = 8;

/// One product of a batch: `out = a * b`.
#[derive(Debug)]
pub struct Product<'a> {
    /// `[M, K]`.
    pub a: Matrix<'a>,
    /// `[K, N]`, or `[N, K]` transposed.
    pub b: Right<'a>,
    /// `[M, N]`.
    pub out: MatrixMut<'a>,
}

/// The matrix engine of one device, computed by the kernels of one instruction set.
#[derive(Debug, Clone, Copy)]
pub struct Gemm {
    generation: Generation,
    level: Level,
}

impl Gemm {
    /// The engine of `generation` on the process's instruction set, [`Isa::active`].
    #[must_use]
    pub fn new(generation: Generation) -> Self {
        Self { generation, level: Level::active() }
    }

    /// The engine of `generation` on a given instruction set.
    ///
    /// # Errors
    /// This machine lacks it.
    pub fn with_isa(generation: Generation, isa: Isa) -> Result<Self, MmeError> {
        let level = Level::new(isa).ok_or(MmeError::Isa(isa))?;
        Ok(Self { generation, level })
    }

    /// The device whose rules it follows.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// `out = a * b`, as the device computes it, bit for bit: `a` is `[M, K]`, `b` is `[K, N]` (or transposed), `out`
    /// is `[M, N]` and holds the float32 accumulators. Both operands are FP8 or both are bfloat16. The result does
    /// not depend on the instruction set, on the number of threads, or on how `b` is cut into blocks. NaN is always
    /// `0x7FFF_FFFF`; with `K` of zero every result is +0.
    ///
    /// It runs on the threads of the current rayon pool.
    ///
    /// # Errors
    /// The shapes do not fit, the blocks of `b` differ, or the device cannot multiply these operands. `out` is
    /// then unchanged.
    pub fn exact(&self, a: Matrix<'_>, b: Right<'_>, out: MatrixMut<'_>) -> Result<(), MmeError> {
        self.exact_batch(&mut [Product { a, b, out }])
    }

    /// [`exact`](Self::exact) for many products at once, shared out over the threads together.
    ///
    /// # Errors
    /// As [`exact`](Self::exact) for any of the products. Every destination is then unchanged.
    pub fn exact_batch(&self, products: &mut [Product<'_>]) -> Result<(), MmeError> {
        self.batch(products, true)
    }

    /// `out = a * b` with operands as in [`exact`](Self::exact), accumulated in float32: not the device's bits.
    ///
    /// One product after the other is added to the sum, in order, with a fused multiplication where the instruction
    /// set has one. So each result is within `K * 2^-24` of the exact one, relative to the sum of the products'
    /// magnitudes, to first order; it may differ between instruction sets, but not between numbers of threads. NaN
    /// and Inf come out as IEEE 754 has them. Float32 denormals are kept, whatever the device.
    ///
    /// # Errors
    /// As [`exact`](Self::exact).
    pub fn fast(&self, a: Matrix<'_>, b: Right<'_>, out: MatrixMut<'_>) -> Result<(), MmeError> {
        self.fast_batch(&mut [Product { a, b, out }])
    }

    /// [`fast`](Self::fast) for many products at once, shared out over the threads together.
    ///
    /// # Errors
    /// As [`exact_batch`](Self::exact_batch).
    pub fn fast_batch(&self, products: &mut [Product<'_>]) -> Result<(), MmeError> {
        self.batch(products, false)
    }

    fn batch(&self, products: &mut [Product<'_>], exact: bool) -> Result<(), MmeError> {
        for product in &*products {
            check(self.generation, product)?;
        }
        let memory = BatchMemory::take();
        let mut prepared: Vec<Prepared<'_>> = memory.prepared;
        if prepared.len() < products.len() {
            prepared.resize_with(products.len(), Prepared::empty);
        }
        let of_products = &mut prepared[..products.len()];
        of_products.par_iter_mut().zip(&*products).try_for_each(|(prepared, product)| {
            prepared.set(self.generation, &product.a, &product.b, exact)
        })?;
        let width = self.level.run(PanelWidth);
        let panels: usize = of_products
            .iter()
            .map(|prepared| {
                let [rows, cols] = prepared.shape;
                rows.div_ceil(TASK_ROWS) * cols.div_ceil(width)
            })
            .sum();
        // Four tasks a thread keep all of them busy to the end; more panels a task spare setting up.
        let per_task = (panels / (4 * rayon::current_num_threads())).clamp(1, TASK_PANELS);
        let task_columns = per_task * width;
        let mut parts: Vec<&mut [f32]> = emptied(memory.parts);
        for product in products {
            push_parts(&mut product.out, task_columns, &mut parts);
        }
        let mut tasks: Vec<Task<'_, '_>> = emptied(memory.tasks);
        let mut rest = &mut parts[..];
        for prepared in &*of_products {
            push_tasks(prepared, task_columns, &mut rest, &mut tasks);
        }
        tasks
            .par_iter_mut()
            .for_each(|task| task_memory::with_task(|memory| self.level.run(Compute { task, memory })));
        BatchMemory {
            tasks: emptied(tasks),
            parts: emptied(parts),
            prepared: prepared.into_iter().map(Prepared::emptied).collect(),
        }
        .keep();
        Ok(())
    }
}

/// Whether the device can do a product and its shapes fit.
fn check(generation: Generation, product: &Product<'_>) -> Result<(), MmeError> {
    let (k, n) = product.b.shape()?;
    if product.a.cols() != k {
        return Err(MmeError::CommonDimension { a: product.a.cols(), b: k });
    }
    if (product.out.rows(), product.out.cols()) != (product.a.rows(), n) {
        return Err(MmeError::Destination {
            rows: product.a.rows(),
            cols: n,
            out_rows: product.out.rows(),
            out_cols: product.out.cols(),
        });
    }
    let first = product.b.blocks().first().map_or(product.a.format(), Matrix::format);
    Rules::of(generation, product.a.format(), first).map(|_| ())
}

/// Cuts the destination into the rows of tasks: for each task one after the other, first those of the first rows.
fn push_parts<'o>(out: &'o mut MatrixMut<'_>, task_columns: usize, parts: &mut Vec<&'o mut [f32]>) {
    let (rows, before) = (out.rows(), parts.len());
    let across = out.cols().div_ceil(task_columns);
    parts.resize_with(before + rows * across, Default::default);
    for (index, row) in out.rows_mut().enumerate() {
        let first_row = index / TASK_ROWS * TASK_ROWS;
        let task_rows = TASK_ROWS.min(rows - first_row);
        let of_rows = &mut parts[before + first_row * across..];
        for (number, part) in row.chunks_mut(task_columns).enumerate() {
            of_rows[number * task_rows + index - first_row] = part;
        }
    }
}

/// Makes the tasks of a product and takes their rows off `parts`.
fn push_tasks<'k, 'o>(
    prepared: &'k Prepared<'_>,
    task_columns: usize,
    parts: &mut &'k mut [&'o mut [f32]],
    tasks: &mut Vec<Task<'k, 'o>>,
) {
    let [rows, cols] = prepared.shape;
    for first_row in (0..rows).step_by(TASK_ROWS) {
        for first_column in (0..cols).step_by(task_columns) {
            let (out, rest) = std::mem::take(parts).split_at_mut(TASK_ROWS.min(rows - first_row));
            *parts = rest;
            tasks.push(Task {
                sum: prepared.sum,
                a: &prepared.a,
                first_row,
                b: &prepared.b,
                first_column,
                out,
            });
        }
    }
}
