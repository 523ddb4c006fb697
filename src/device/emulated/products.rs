//! Matrix products in the mode of the device.

use super::Mode;
use crate::Generation;
use crate::mme::{Gemm, Matrix, MatrixMut, MmeError, Product, Right};

/// The matrix engine, exact or with float accumulation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Products {
    gemm: Gemm,
    mode: Mode,
}

impl Products {
    pub(super) fn new(generation: Generation, mode: Mode) -> Self {
        Self { gemm: Gemm::new(generation), mode }
    }

    pub(super) fn generation(&self) -> Generation {
        self.gemm.generation()
    }

    /// `a * b` as float32 accumulators, `[m, n]`.
    pub(super) fn multiply(&self, a: Matrix<'_>, b: Right<'_>, out: &mut [f32]) -> Result<(), MmeError> {
        let (rows, (_, cols)) = (a.rows(), b.shape()?);
        self.multiply_all(&mut [Product { a, b, out: MatrixMut::new(out, rows, cols)? }])
    }

    /// Several products at once.
    pub(super) fn multiply_all(&self, products: &mut [Product<'_>]) -> Result<(), MmeError> {
        match self.mode {
            Mode::Exact => self.gemm.exact_batch(products),
            Mode::Fast => self.gemm.fast_batch(products),
        }
    }
}
