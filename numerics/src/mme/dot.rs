//! One dot product, by the scalar reference.

use super::error::MmeError;
use super::matrix::{Elements, Matrix, Right};
use super::rules::Rules;
use super::widen::{widen, widen_rows};
use crate::generation::Generation;

/// The float32 accumulator that the device has after the dot product of `a` and `b`, by the scalar reference: slow and
/// plain, the measure of every kernel. The accumulator starts at +0; NaN is always `0x7FFF_FFFF`.
///
/// ```
/// use gaudi_numerics::fp8::{Format, InfNan, Layout};
/// use gaudi_numerics::{Generation, mme::{Elements, dot}};
///
/// let e4m3 = Format { layout: Layout::E4M3, bias: 7, inf_nan: InfNan::Full };
/// let (a, b) = (Elements::Fp8(&[0x38, 0x40], e4m3), Elements::Fp8(&[0x38, 0x3C], e4m3));
/// assert_eq!(dot(Generation::Gaudi2, a, b)?, 1.0 * 1.0 + 2.0 * 1.5);
/// # Ok::<(), gaudi_numerics::mme::MmeError>(())
/// ```
///
/// # Errors
/// The operands differ in length or in type, or the device cannot multiply them.
pub fn dot(generation: Generation, a: Elements<'_>, b: Elements<'_>) -> Result<f32, MmeError> {
    if a.len() != b.len() {
        return Err(MmeError::CommonDimension { a: a.len(), b: b.len() });
    }
    let rules = Rules::of(generation, a.format(), b.format())?;
    Ok(f32::from_bits(rules.dot(&widen(a), &widen(b))))
}

/// The product that [`Gemm::exact`](super::Gemm::exact) computes, by the scalar reference: row-major `[M, N]`.
///
/// # Errors
/// As [`Gemm::exact`](super::Gemm::exact), but for the destination.
pub fn reference(generation: Generation, a: &Matrix<'_>, b: &Right<'_>) -> Result<Vec<f32>, MmeError> {
    let (k, n) = b.shape()?;
    if a.cols() != k {
        return Err(MmeError::CommonDimension { a: a.cols(), b: k });
    }
    let rules = match b.blocks().first() {
        Some(first) => Rules::of(generation, a.format(), first.format())?,
        None => Rules::new(generation, a.format().is_some()),
    };
    let rows = widen_rows(a);
    let stored: Vec<_> = b.blocks().iter().flat_map(widen_rows).collect();
    let columns = match b {
        Right::NByK(_) => stored,
        Right::KByN(_) => (0..n).map(|n| stored.iter().map(|row| row[n]).collect()).collect(),
    };
    let dots = rows.iter().flat_map(|row| columns.iter().map(move |column| rules.dot(row, column)));
    Ok(dots.map(f32::from_bits).collect())
}
