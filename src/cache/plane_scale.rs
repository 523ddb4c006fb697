//! The multipliers that a plane is stored and read with.

use super::CacheError;
use crate::device::{HeadScales, PlaneLayout, StorageDtype};
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
        for scales in [&self.quant, &self.dequant] {
            if let HeadScales::PerHead(values) = scales
                && values.len() != layout.heads
            {
                return Err(CacheError::ScaleHeads { plane, scales: values.len(), heads: layout.heads });
            }
            if let Some(value) = values(scales).iter().find(|v| !(v.is_finite() && **v > 0.0)) {
                return Err(CacheError::ScaleValue { plane, value: *value });
            }
        }
        Ok(self.clone())
    }

    /// The bits of every multiplier, for fingerprints.
    pub(super) fn bits(&self) -> impl Iterator<Item = u32> {
        [&self.quant, &self.dequant].into_iter().flat_map(|scales| values(scales).iter().map(|v| v.to_bits()))
    }
}

fn values(scales: &HeadScales) -> &[f32] {
    match scales {
        HeadScales::One(one) => std::slice::from_ref(one),
        HeadScales::PerHead(all) => all,
    }
}
