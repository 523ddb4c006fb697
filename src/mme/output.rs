//! What becomes of the accumulators: scales, then a narrower type.

use half::bf16;

use super::MmeError;

/// The multiplier of one operand's values, applied to the accumulators.
#[derive(Debug, Clone, Copy)]
pub enum Scale<'a> {
    /// One for the whole operand.
    Tensor(f32),
    /// One for each row of A or each column of B.
    Each(&'a [f32]),
}

impl Scale<'_> {
    fn check(&self, dimension: &'static str, expected: usize) -> Result<(), MmeError> {
        match self {
            Self::Each(scales) if scales.len() != expected => {
                Err(MmeError::Scales { dimension, scales: scales.len(), expected })
            }
            _ => Ok(()),
        }
    }
}

/// An accumulator as bfloat16: round to nearest even, overflow to Inf, every NaN to `0x7FFF`.
#[inline]
#[must_use]
pub fn to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = (bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16) as u16;
    bf16::from_bits(if x.is_nan() { 0x7FFF } else { rounded })
}

/// `convert((acc * a) * b)` for a product of `rows` x `cols` accumulators that lie row by row: each multiplication is
/// rounded to float32, to nearest even. `a` scales rows, `b` columns. `convert` gets a scaled row and writes as many
/// elements; an FP8 encoder for slices fits.
///
/// # Errors
/// `acc` and `out` do not have `rows * cols` elements, or a list of scales does not fit.
pub fn scaled<T>(
    acc: &[f32],
    [rows, cols]: [usize; 2],
    a: Scale<'_>,
    b: Scale<'_>,
    out: &mut [T],
    mut convert: impl FnMut(&[f32], &mut [T]),
) -> Result<(), MmeError> {
    let size = rows.checked_mul(cols).ok_or(MmeError::Overflow)?;
    for len in [acc.len(), out.len()] {
        if len != size {
            return Err(MmeError::Length { rows, cols, stride: cols, len });
        }
    }
    a.check("rows", rows)?;
    b.check("columns", cols)?;
    if size == 0 {
        return Ok(());
    }
    let mut row = vec![0.0; cols];
    for (r, (acc, out)) in acc.chunks_exact(cols).zip(out.chunks_exact_mut(cols)).enumerate() {
        let a = match a {
            Scale::Tensor(scale) => scale,
            Scale::Each(scales) => scales[r],
        };
        match b {
            Scale::Tensor(b) => row.iter_mut().zip(acc).for_each(|(to, acc)| *to = (acc * a) * b),
            Scale::Each(scales) => {
                row.iter_mut().zip(acc).zip(scales).for_each(|((to, acc), b)| *to = (acc * a) * b);
            }
        }
        convert(&row, out);
    }
    Ok(())
}

/// [`scaled`] to bfloat16, as [`to_bf16`] rounds.
///
/// ```
/// use gaudi_kv::mme::{Scale, scaled_bf16};
///
/// let mut out = [half::bf16::ZERO; 4];
/// scaled_bf16(&[1.0, 2.0, 3.0, 4.0], [2, 2], Scale::Each(&[1.0, 10.0]), Scale::Tensor(0.5), &mut out)?;
/// assert_eq!(out.map(f32::from), [0.5, 1.0, 15.0, 20.0]);
/// # Ok::<(), gaudi_kv::mme::MmeError>(())
/// ```
///
/// # Errors
/// As [`scaled`].
pub fn scaled_bf16(
    acc: &[f32],
    shape: [usize; 2],
    a: Scale<'_>,
    b: Scale<'_>,
    out: &mut [bf16],
) -> Result<(), MmeError> {
    scaled(acc, shape, a, b, out, |row, out| {
        out.iter_mut().zip(row).for_each(|(to, from)| *to = to_bf16(*from));
    })
}
