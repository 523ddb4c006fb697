//! What becomes of the accumulators: scales, then a narrower type.

use half::bf16;

use super::error::MmeError;
use crate::fp8::{Encoder, Fp8Error, bf16_from_f32_slice};

/// The multiplier of row or column `number`: the only one, or its own.
fn multiplier(scales: &[f32], number: usize) -> f32 {
    if let [one] = scales { *one } else { scales[number] }
}

/// Checks that there is one multiplier, or one for each row or column.
fn check(scales: &[f32], dimension: &'static str, expected: usize) -> Result<(), MmeError> {
    match scales.len() {
        1 => Ok(()),
        len if len == expected => Ok(()),
        len => Err(MmeError::Scales { dimension, scales: len, expected }),
    }
}

/// `convert((acc * a) * b)` for a product of `rows` x `cols` accumulators that lie row by row: each multiplication is
/// rounded to float32, to nearest even. `a` has one multiplier, or one for each row; `b` has one, or one for each column.
/// `convert` gets a scaled row and writes as many elements.
fn scaled<T>(
    acc: &[f32],
    [rows, cols]: [usize; 2],
    a: &[f32],
    b: &[f32],
    out: &mut [T],
    convert: impl Fn(&[f32], &mut [T]) -> Result<(), Fp8Error>,
) -> Result<(), MmeError> {
    let size = rows.checked_mul(cols).ok_or(MmeError::Overflow)?;
    for len in [acc.len(), out.len()] {
        if len != size {
            return Err(MmeError::Length { rows, cols, stride: cols, len });
        }
    }
    check(a, "rows", rows)?;
    check(b, "columns", cols)?;
    if size == 0 {
        return Ok(());
    }
    let mut row = vec![0.0; cols];
    for (r, (acc, out)) in acc.chunks_exact(cols).zip(out.chunks_exact_mut(cols)).enumerate() {
        let a = multiplier(a, r);
        let scaled = acc.iter().enumerate().map(|(c, acc)| (acc * a) * multiplier(b, c));
        row.iter_mut().zip(scaled).for_each(|(to, scaled)| *to = scaled);
        convert(&row, out)?;
    }
    Ok(())
}

/// `(acc * a) * b`, each multiplication rounded to float32, for a product of `rows` x `cols` accumulators that lie row by
/// row, then to bfloat16: round to nearest even, overflow to Inf, every NaN to `0x7FFF`. `a` has one multiplier, or one for
/// each row; `b` has one, or one for each column.
///
/// ```
/// use gaudi_numerics::mme::scaled_bf16;
///
/// let mut out = [half::bf16::ZERO; 4];
/// scaled_bf16(&[1.0, 2.0, 3.0, 4.0], [2, 2], &[1.0, 10.0], &[0.5], &mut out)?;
/// assert_eq!(out.map(f32::from), [0.5, 1.0, 15.0, 20.0]);
/// # Ok::<(), gaudi_numerics::mme::MmeError>(())
/// ```
///
/// # Errors
/// `acc` and `out` do not have `rows * cols` elements, or a list of scales does not fit.
pub fn scaled_bf16(
    acc: &[f32],
    shape: [usize; 2],
    a: &[f32],
    b: &[f32],
    out: &mut [bf16],
) -> Result<(), MmeError> {
    scaled(acc, shape, a, b, out, bf16_from_f32_slice)
}

/// Scales accumulators as [`scaled_bf16`] does and converts them to FP8, as `encoder` rounds and saturates.
///
/// ```
/// use gaudi_numerics::Generation;
/// use gaudi_numerics::fp8::Encoder;
/// use gaudi_numerics::mme::scaled_fp8;
///
/// let mut codes = [0; 3];
/// let encoder = Encoder::kv_cache(Generation::Gaudi2);
/// scaled_fp8(&[1.0, -2.0, 1e9], [1, 3], &[1.0], &[1.0], encoder, &mut codes)?;
/// assert_eq!(codes, [0x38, 0xC0, 0x77]);
/// # Ok::<(), gaudi_numerics::mme::MmeError>(())
/// ```
///
/// # Errors
/// As [`scaled_bf16`].
pub fn scaled_fp8(
    acc: &[f32],
    shape: [usize; 2],
    a: &[f32],
    b: &[f32],
    encoder: Encoder,
    out: &mut [u8],
) -> Result<(), MmeError> {
    scaled(acc, shape, a, b, out, |row, out| encoder.encode_f32(row, out))
}
