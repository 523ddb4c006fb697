//! Checking the factors that a plane is stored and read with.

use super::CacheError;
use crate::ScaleFactors;
use crate::device::{HeadScales, PlaneLayout, StorageDtype};
use crate::fp8::bf16_from_f32;

/// The factors of a plane, checked to fit it. A plane that is not FP8 has none: it takes 1.0 whatever is given.
pub(super) fn checked_for_plane(
    scale: &ScaleFactors,
    layout: &PlaneLayout,
    plane: &'static str,
) -> Result<ScaleFactors, CacheError> {
    if layout.dtype != StorageDtype::Fp8 {
        return Ok(ScaleFactors::ONE);
    }
    [&scale.quant, &scale.dequant].into_iter().try_for_each(|s| check_scales(s, layout.heads, plane))?;
    Ok(scale.clone())
}

/// The bits of the factors of each of `heads` heads, for fingerprints: one for all is the same as equal ones.
pub(super) fn factor_bits(scale: &ScaleFactors, heads: usize) -> impl Iterator<Item = u32> {
    let both = [&scale.quant, &scale.dequant].into_iter();
    both.flat_map(move |scales| (0..heads).map(|head| scales.of(head).to_bits()))
}

/// Checks multipliers for `heads` heads: as many as there are heads, or one, and each finite and positive, also when it
/// is rounded to bfloat16, as the device rounds it.
pub(crate) fn check_scales(scales: &HeadScales, heads: usize, plane: &'static str) -> Result<(), CacheError> {
    if let HeadScales::PerHead(values) = scales
        && values.len() != heads
    {
        return Err(CacheError::ScaleHeads { plane, scales: values.len(), heads });
    }
    match scales.as_slice().iter().find(|value| !is_usable(**value)) {
        Some(value) => Err(CacheError::ScaleValue { plane, value: *value }),
        None => Ok(()),
    }
}

/// Whether a multiplier is finite and positive, in float32 and in bfloat16.
pub(crate) fn is_usable(scale: f32) -> bool {
    [scale, bf16_from_f32(scale).to_f32()].iter().all(|value| value.is_finite() && *value > 0.0)
}
