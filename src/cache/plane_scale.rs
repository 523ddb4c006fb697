//! The multipliers that a plane is stored and read with.

use super::CacheError;
use crate::device::{HeadScales, PlaneLayout, StorageDtype};
use crate::fp8::bf16_from_f32;
use crate::scales::{LayerScale, Numbers};

/// `quant` and `dequant` of a plane, for all heads or for each.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneScale {
    pub(crate) quant: HeadScales,
    pub(crate) dequant: HeadScales,
}

impl PlaneScale {
    /// 1.0 both ways: what a cache that is not FP8 has, and an FP8 cache without scales.
    pub const ONE: Self = Self { quant: HeadScales::One(1.0), dequant: HeadScales::One(1.0) };

    /// One multiplier each way, for all heads. They are rounded to bfloat16 where the device multiplies bfloat16.
    #[must_use]
    pub const fn new(quant: f32, dequant: f32) -> Self {
        Self { quant: HeadScales::One(quant), dequant: HeadScales::One(dequant) }
    }

    /// Multipliers for all heads or for each, each way.
    #[must_use]
    pub const fn from_heads(quant: HeadScales, dequant: HeadScales) -> Self {
        Self { quant, dequant }
    }

    /// The multipliers that an inspection gives a layer; `None` where it has none, as a dynamic scale.
    #[must_use]
    pub fn from_layer(scale: &LayerScale) -> Option<Self> {
        let numbers = |numbers: &Numbers| match numbers {
            Numbers::One(one) => HeadScales::One(*one),
            Numbers::PerHead(all) => HeadScales::PerHead(all.clone()),
        };
        Some(Self { quant: numbers(scale.quant.as_ref()?), dequant: numbers(scale.dequant.as_ref()?) })
    }

    /// Checks that the multipliers fit a plane. A plane that is not FP8 has none: it takes 1.0 whatever is given.
    pub(super) fn for_plane(&self, layout: &PlaneLayout, plane: &'static str) -> Result<Self, CacheError> {
        if layout.dtype != StorageDtype::Fp8 {
            return Ok(Self::ONE);
        }
        [&self.quant, &self.dequant].into_iter().try_for_each(|s| check_scales(s, layout.heads, plane))?;
        Ok(self.clone())
    }

    /// The bits of the multipliers of each of `heads` heads, for fingerprints: one for all is the same as equal ones.
    pub(super) fn bits(&self, heads: usize) -> impl Iterator<Item = u32> {
        let both = [&self.quant, &self.dequant].into_iter();
        both.flat_map(move |scales| (0..heads).map(|head| scales.of(head).to_bits()))
    }
}

/// Checks multipliers for `heads` heads: as many as there are heads, or one, and each finite and positive, also when it
/// is rounded to bfloat16, as the device rounds it.
pub(crate) fn check_scales(scales: &HeadScales, heads: usize, plane: &'static str) -> Result<(), CacheError> {
    if let HeadScales::PerHead(values) = scales
        && values.len() != heads
    {
        return Err(CacheError::ScaleHeads { plane, scales: values.len(), heads });
    }
    match values(scales).iter().find(|value| !is_usable(**value)) {
        Some(value) => Err(CacheError::ScaleValue { plane, value: *value }),
        None => Ok(()),
    }
}

/// Whether a multiplier is finite and positive, in float32 and in bfloat16.
pub(crate) fn is_usable(scale: f32) -> bool {
    [scale, bf16_from_f32(scale).to_f32()].iter().all(|value| value.is_finite() && *value > 0.0)
}

fn values(scales: &HeadScales) -> &[f32] {
    match scales {
        HeadScales::One(one) => std::slice::from_ref(one),
        HeadScales::PerHead(all) => all,
    }
}
