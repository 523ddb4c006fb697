//! The scales that a layer is run with: its own, and the ways to get them wrong.

use serde::Serialize;

use crate::attention::AttentionScales;
use crate::cache::PlaneScale;
use crate::scales::{CacheDtype, Effective, LayerReport, LayerScale, Numbers, Origin, ScaleAdjustment};

/// Which scales a layer runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// As inspected.
    Scales,
    /// 1.0 for all, as where no scale is found.
    ScaleOne,
    /// As inspected, with the adjustment left out.
    AdjustmentMissing,
    /// As inspected, with the adjustment applied twice.
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
    /// Of the key, or of the latent.
    pub(super) k: PlaneScale,
    /// Of the value; not used by MLA.
    pub(super) v: PlaneScale,
    pub(super) attention: AttentionScales,
}

impl RunScales {
    /// `None` where an error of the model left a scale out.
    pub(super) fn of(layer: &LayerReport, variant: Variant, adjustment: &ScaleAdjustment) -> Option<Self> {
        let one = || AttentionScales::default().with_query(PlaneScale::ONE);
        if layer.kv_cache_dtype == CacheDtype::Bf16 {
            // Whatever the checkpoint has, nothing is applied.
            return Some(Self {
                k: PlaneScale::ONE,
                v: PlaneScale::ONE,
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
        let k = PlaneScale::from_layer(changed.k.as_ref()?)?;
        let v = match (&changed.v, layer.attention) {
            (Some(v), _) => PlaneScale::from_layer(v)?,
            (None, crate::checkpoint::Attention::Mla) => PlaneScale::ONE,
            (None, crate::checkpoint::Attention::Mha) => return None,
        };
        Some(match variant {
            Variant::ScaleOne => Self { k: PlaneScale::ONE, v: PlaneScale::ONE, attention: one() },
            _ => Self { k, v, attention },
        })
    }
}

/// The same scale with its adjustment left out, or applied twice.
fn changed(scale: &LayerScale, variant: Variant, adjustment: &ScaleAdjustment) -> LayerScale {
    let is_adjusted = adjustment.enabled && scale.tensor.is_some() && scale.origin != Origin::Defaulted;
    let (Some(checkpoint), Some(quant), true) = (&scale.checkpoint, &scale.quant, is_adjusted) else {
        return scale.clone();
    };
    let left_out = ScaleAdjustment { enabled: false, ..adjustment.clone() };
    let factor = adjustment.fp8_max_deploy as f32 / adjustment.max();
    let effective = |(s, quant): (&f32, &f32)| match variant {
        // A head that was never calibrated runs with 1.0, which is never adjusted.
        _ if *s == 0.0 => Effective::ONE,
        Variant::AdjustmentMissing => {
            Effective::of(*s, &left_out).unwrap_or(Effective { quant: *quant, dequant: 1.0 / quant })
        }
        Variant::AdjustmentTwice => Effective { quant: quant * factor, dequant: 1.0 / (quant * factor) },
        Variant::Scales | Variant::ScaleOne => Effective { quant: *quant, dequant: 1.0 / quant },
    };
    let all: Vec<Effective> = checkpoint.as_slice().iter().zip(quant.as_slice()).map(effective).collect();
    let numbers = |values: Vec<f32>| match (quant, values.as_slice()) {
        (Numbers::One(_), [one]) => Numbers::One(*one),
        _ => Numbers::PerHead(values),
    };
    LayerScale {
        quant: Some(numbers(all.iter().map(|e| e.quant).collect())),
        dequant: Some(numbers(all.iter().map(|e| e.dequant).collect())),
        ..scale.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generation;
    use crate::checkpoint::{Attention, Findings};

    fn layer(generation: Generation, s: f32) -> (LayerReport, ScaleAdjustment) {
        let adjustment = ScaleAdjustment::decide(None, generation, None, &mut Findings::default());
        let effective = Effective::of(s, &adjustment).unwrap();
        let scale = LayerScale {
            checkpoint: Some(Numbers::One(s)),
            quant: Some(Numbers::One(effective.quant)),
            dequant: Some(Numbers::One(effective.dequant)),
            origin: Origin::Loaded,
            tensor: Some("k_scale".to_owned()),
        };
        let dynamic = LayerScale {
            checkpoint: None,
            quant: None,
            dequant: None,
            origin: Origin::Dynamic,
            tensor: None,
        };
        let one = LayerScale {
            checkpoint: Some(Numbers::One(1.0)),
            quant: Some(Numbers::One(1.0)),
            dequant: Some(Numbers::One(1.0)),
            origin: Origin::Defaulted,
            tensor: None,
        };
        let layer = LayerReport {
            layer: 0,
            attention: Attention::Mla,
            draft: false,
            kv_cache_dtype: CacheDtype::Fp8,
            cache_owner: None,
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
        assert_eq!(k(Variant::Scales), PlaneScale::new(26.785_715, 0.037_333_332));
        assert_eq!(k(Variant::ScaleOne), PlaneScale::ONE);
        assert_eq!(k(Variant::AdjustmentMissing), PlaneScale::new(50.000_004, 0.019_999_998));
        let twice = k(Variant::AdjustmentTwice);
        assert!((twice.dequant.of(0) - 0.02 * (448.0f32 / 240.0).powi(2)).abs() < 1e-6, "{twice:?}");
        let (off, adjustment) = layer(Generation::Gaudi3, 0.02);
        let k = |variant| RunScales::of(&off, variant, &adjustment).unwrap().k;
        assert_eq!(k(Variant::AdjustmentMissing), k(Variant::Scales));
        assert_eq!(k(Variant::AdjustmentTwice), k(Variant::Scales));
    }
}
