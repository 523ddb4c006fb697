//! The matrix products: checks, packing, cutting into tasks, choice of kernel.

use rayon::prelude::*;

use super::arch::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::arch::{avx2::Avx2, avx512::Avx512};
use super::decode::Decoder;
use super::kernel::{self, Kernel, Sum};
use super::memory::{self, BatchMemory, TaskMemory, emptied};
use super::pack::{PackedA, Rows, Source, decoders};
use super::reference::Rules;
use super::{Matrix, MatrixMut, MmeError, Right, rules};
use crate::Generation;
use crate::fp8::Isa;

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
    backend: Backend,
}

/// The kernels of an instruction set that this machine has.
#[derive(Debug, Clone, Copy)]
enum Backend {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Backend {
    fn new(isa: Isa) -> Option<Self> {
        match isa {
            Isa::Scalar => Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::new().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::new().map(Self::Avx512),
            // The portable kernel is what NEON runs.
            _ => isa.is_available().then_some(Self::Portable),
        }
    }

    /// Columns of a panel.
    fn width(self) -> usize {
        use super::simd::Simd;
        4 * match self {
            Self::Portable => Portable::LANES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Avx2::LANES,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Avx512::LANES,
        }
    }

    fn run(self, kernel: &mut Kernel<'_, '_>, memory: &mut TaskMemory) {
        match self {
            Self::Portable => kernel::run(Portable, kernel, memory),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => simd.run(kernel, memory),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(simd) => simd.run(kernel, memory),
        }
    }
}

/// What is prepared once for a product.
pub(super) struct Prepared<'a> {
    sum: Sum,
    /// Rows and columns of the destination.
    shape: [usize; 2],
    a: PackedA,
    b: Source<'a>,
}

impl Prepared<'_> {
    /// Of no product.
    fn empty() -> Self {
        let [_, decoder] = decoders(Rules::Gaudi3, None);
        Self {
            sum: Sum::Float,
            shape: [0; 2],
            a: PackedA::default(),
            b: Source { rows: Rows::default(), by_column: false, depth: 0, decoder },
        }
    }

    /// Its memory, for another product.
    fn emptied(self) -> Prepared<'static> {
        let Self { sum, shape, a, b } = self;
        Prepared { sum, shape, a, b: Source { rows: b.rows.emptied(), ..b } }
    }

    /// Bytes of the packed operand.
    pub(super) fn bytes(&self) -> usize {
        self.a.bytes()
    }
}

impl Gemm {
    /// The engine of `generation` on the process's instruction set, [`Isa::active`].
    #[must_use]
    pub fn new(generation: Generation) -> Self {
        let backend = Backend::new(Isa::active()).unwrap_or(Backend::Portable);
        Self { generation, backend }
    }

    /// The same on a given instruction set.
    ///
    /// # Errors
    /// This machine lacks it.
    pub fn with_isa(generation: Generation, isa: Isa) -> Result<Self, MmeError> {
        let backend = Backend::new(isa).ok_or(MmeError::Isa(isa))?;
        Ok(Self { generation, backend })
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
        of_products
            .par_iter_mut()
            .zip(&*products)
            .try_for_each(|(prepared, product)| self.prepare(&product.a, &product.b, exact, prepared))?;
        let panels: usize = of_products
            .iter()
            .map(|prepared| {
                let [rows, cols] = prepared.shape;
                rows.div_ceil(TASK_ROWS) * cols.div_ceil(self.backend.width())
            })
            .sum();
        // Four tasks a thread keep all of them busy to the end; more panels a task spare setting up.
        let per_task = (panels / (4 * rayon::current_num_threads())).clamp(1, TASK_PANELS);
        let task_columns = per_task * self.backend.width();
        let mut parts: Vec<&mut [f32]> = emptied(memory.parts);
        for product in products {
            push_parts(&mut product.out, task_columns, &mut parts);
        }
        let mut tasks: Vec<Kernel<'_, '_>> = emptied(memory.tasks);
        let mut rest = &mut parts[..];
        for prepared in &*of_products {
            push_tasks(prepared, task_columns, &mut rest, &mut tasks);
        }
        tasks.par_iter_mut().for_each(|kernel| memory::with_task(|memory| self.backend.run(kernel, memory)));
        BatchMemory {
            tasks: emptied(tasks),
            parts: emptied(parts),
            prepared: prepared.into_iter().map(Prepared::emptied).collect(),
        }
        .keep();
        Ok(())
    }

    fn prepare<'a>(
        &self,
        a: &Matrix<'a>,
        b: &Right<'a>,
        exact: bool,
        prepared: &mut Prepared<'a>,
    ) -> Result<(), MmeError> {
        let first = b.blocks().first().map_or(a.format(), Matrix::format);
        let rules = if exact { rules(self.generation, a.format(), first)? } else { Rules::Gaudi3 };
        let [decoder_a, decoder_b] = decoders(rules, a.format().zip(first));
        prepared.sum = if exact {
            Sum::Exact { rules, checked: !Decoder::products_are_normal(&decoder_a, &decoder_b) }
        } else {
            Sum::Float
        };
        prepared.shape = [a.rows(), b.shape()?.1];
        prepared.a.set(rules, &decoder_a, a);
        prepared.b.rows.set(b.blocks());
        (prepared.b.by_column, prepared.b.depth) = (matches!(b, Right::NByK(_)), a.cols());
        prepared.b.decoder = decoder_b;
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
    rules(generation, product.a.format(), first).map(|_| ())
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
    tasks: &mut Vec<Kernel<'k, 'o>>,
) {
    let [rows, cols] = prepared.shape;
    for first_row in (0..rows).step_by(TASK_ROWS) {
        for first_column in (0..cols).step_by(task_columns) {
            let (out, rest) = std::mem::take(parts).split_at_mut(TASK_ROWS.min(rows - first_row));
            *parts = rest;
            tasks.push(Kernel {
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
