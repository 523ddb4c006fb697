//! Matrix products in the mode of the device.

use super::Mode;
use crate::Generation;
use crate::mme::{Gemm, Matrix, MatrixMut, MmeError, Right};

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
        let out = MatrixMut::new(out, rows, cols)?;
        match self.mode {
            Mode::Exact => self.gemm.exact(a, b, out),
            Mode::Fast => self.gemm.fast(a, b, out),
        }
    }
}
