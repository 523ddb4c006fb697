//! The scales that a layer is run with: its own, and the ways to get them wrong.

use std::convert::Infallible;

use serde::Serialize;

use crate::ScaleFactors;
use crate::attention::AttentionScales;
use crate::checkpoint::Attention;
use crate::scales::{CacheDtype, LayerReport, LayerScale, Origin, ScaleAdjustment};

/// Which scales a layer runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// The scales as inspected.
    Scales,
    /// 1.0 for all, as where no scale is found.
    ScaleOne,
    /// The scales as inspected, with the adjustment left out.
    AdjustmentMissing,
    /// The scales as inspected, with the adjustment applied twice.
    AdjustmentTwice,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Self; 4] = [Self::Scales, Self::ScaleOne, Self::AdjustmentMissing, Self::AdjustmentTwice];

    /// The key in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scales => "scales",
            Self::ScaleOne => "scale_one",
            Self::AdjustmentMissing => "adjustment_missing",
            Self::AdjustmentTwice => "adjustment_twice",
        }
    }
}

/// One value for each variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variants<T> {
    /// [`Variant::Scales`].
    pub scales: T,
    /// [`Variant::ScaleOne`].
    pub scale_one: T,
    /// [`Variant::AdjustmentMissing`]. Equal to `scales` where scales are not adjusted.
    pub adjustment_missing: T,
    /// [`Variant::AdjustmentTwice`]. Equal to `scales` where scales are not adjusted.
    pub adjustment_twice: T,
}

impl<T> Variants<T> {
    /// The value of a variant.
    #[must_use]
    pub const fn get(&self, variant: Variant) -> &T {
        match variant {
            Variant::Scales => &self.scales,
            Variant::ScaleOne => &self.scale_one,
            Variant::AdjustmentMissing => &self.adjustment_missing,
            Variant::AdjustmentTwice => &self.adjustment_twice,
        }
    }
}

/// Everything that a layer is run with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunScales {
    /// The factors of the key, or of the latent.
    pub(super) k: ScaleFactors,
    /// The factors of the value; not used by MLA.
    pub(super) v: ScaleFactors,
    pub(super) attention: AttentionScales,
}

impl RunScales {
    /// `None` where an error of the model left a scale out.
    pub(super) fn of(layer: &LayerReport, variant: Variant, adjustment: &ScaleAdjustment) -> Option<Self> {
        let one = || AttentionScales::default().with_query(ScaleFactors::ONE);
        if layer.kv_cache_dtype == CacheDtype::Bf16 {
            // Whatever the checkpoint has, nothing is applied.
            return Some(Self {
                k: ScaleFactors::ONE,
                v: ScaleFactors::ONE,
                attention: AttentionScales::default(),
            });
        }
        let with = |scale: &LayerScale| changed(scale, variant, adjustment);
        let changed = LayerReport {
            k: layer.k.as_ref().map(with),
            v: layer.v.as_ref().map(with),
            q: layer.q.as_ref().map(with),
            prob: layer.prob.as_ref().map(with),
            ..layer.clone()
        };
        let attention = AttentionScales::from_layer(&changed)?;
        let k = changed.k.as_ref()?.factors.clone()?;
        let v = match (&changed.v, layer.attention) {
            (Some(v), _) => v.factors.clone()?,
            (None, Attention::Mla) => ScaleFactors::ONE,
            (None, Attention::Mha) => return None,
        };
        Some(match variant {
            Variant::ScaleOne => Self { k: ScaleFactors::ONE, v: ScaleFactors::ONE, attention: one() },
            _ => Self { k, v, attention },
        })
    }
}

/// A scale as a variant has it: with its adjustment left out, or applied twice.
fn changed(scale: &LayerScale, variant: Variant, adjustment: &ScaleAdjustment) -> LayerScale {
    let is_adjusted = adjustment.enabled && scale.tensor.is_some() && scale.origin != Origin::Defaulted;
    let (Some(checkpoint), Some(quant), true) = (&scale.checkpoint, scale.quant(), is_adjusted) else {
        return scale.clone();
    };
    let left_out = ScaleAdjustment { enabled: false, ..adjustment.clone() };
    let factor = adjustment.fp8_max_deploy as f32 / adjustment.max();
    let factors = ScaleFactors::try_from_scale(checkpoint, |head, s| {
        let inspected = ScaleFactors::from_quant(quant.of(head));
        Ok::<_, Infallible>(match variant {
            // A head that was never calibrated runs with 1.0, which is never adjusted.
            _ if s == 0.0 => ScaleFactors::from_quant(1.0),
            Variant::AdjustmentMissing => left_out.factors(s).unwrap_or(inspected),
            Variant::AdjustmentTwice => ScaleFactors::from_quant(inspected.quant * factor),
            Variant::Scales | Variant::ScaleOne => inspected,
        })
    });
    let Ok(factors) = factors;
    LayerScale { factors: Some(factors), ..scale.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Findings;
    use crate::scales::LayerSizes;
    use crate::{Generation, HeadScales};

    fn layer(generation: Generation, s: f32) -> (LayerReport, ScaleAdjustment) {
        let adjustment = ScaleAdjustment::decide(None, generation, None, &mut Findings::default());
        let factors = adjustment.factors(s).unwrap();
        let scale = LayerScale {
            checkpoint: Some(HeadScales::One(s)),
            factors: Some(ScaleFactors::new(factors.quant, factors.dequant)),
            origin: Origin::Loaded,
            tensor: Some("k_scale".to_owned()),
        };
        let dynamic = LayerScale { checkpoint: None, factors: None, origin: Origin::Dynamic, tensor: None };
        let one = LayerScale {
            checkpoint: Some(HeadScales::One(1.0)),
            factors: Some(ScaleFactors::ONE),
            origin: Origin::Defaulted,
            tensor: None,
        };
        let layer = LayerReport {
            layer: 0,
            attention: Attention::Mla,
            draft: false,
            kv_cache_dtype: CacheDtype::Fp8,
            cache_owner: None,
            sizes: LayerSizes::default(),
            k: Some(scale),
            v: None,
            q: Some(dynamic),
            prob: Some(one),
        };
        (layer, adjustment)
    }

    #[test]
    fn the_adjustment_is_left_out_or_squared_where_there_is_one() {
        let (on, adjustment) = layer(Generation::Gaudi2, 0.02);
        let k = |variant| RunScales::of(&on, variant, &adjustment).unwrap().k;
        assert_eq!(k(Variant::Scales), ScaleFactors::new(26.785_715, 0.037_333_332));
        assert_eq!(k(Variant::ScaleOne), ScaleFactors::ONE);
        assert_eq!(k(Variant::AdjustmentMissing), ScaleFactors::new(50.000_004, 0.019_999_998));
        let twice = k(Variant::AdjustmentTwice);
        assert!((twice.dequant.of(0) - 0.02 * (448.0f32 / 240.0).powi(2)).abs() < 1e-6, "{twice:?}");
        let (off, adjustment) = layer(Generation::Gaudi3, 0.02);
        let k = |variant| RunScales::of(&off, variant, &adjustment).unwrap().k;
        assert_eq!(k(Variant::AdjustmentMissing), k(Variant::Scales));
        assert_eq!(k(Variant::AdjustmentTwice), k(Variant::Scales));
    }
}
