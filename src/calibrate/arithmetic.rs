//! What the device's arithmetic makes of values under a scale.

use half::bf16;
use serde::Serialize;

use super::histogram::Histogram;
use crate::Generation;
use crate::fp8::{Dequantizer, Format, Quantizer};
use crate::scales::{CacheRange, ScaleAdjustment, is_flushed};

/// What a scale does to the values that it was measured on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// Values beyond the largest that the scale can hold, which are clipped to it.
    pub saturated: u64,
    /// Values that are not zero and are stored as zero.
    pub flushed_to_zero: u64,
    /// The Euclidean norm of what reading the cache gives less what was written, over that of what was written.
    pub rel_l2_error: f64,
}

/// The cache of a device, with the adjustment that a model's range asks for.
#[derive(Debug, Clone)]
pub(super) struct Arithmetic {
    pub(super) generation: Generation,
    pub(super) adjustment: ScaleAdjustment,
}

/// A cache write and read under one scale.
struct Cache {
    quantizer: Quantizer,
    dequantizer: Dequantizer,
    range: CacheRange,
}

/// The squared errors of a scale, those of the saturated values apart.
struct Squared {
    saturated: f64,
    all: f64,
}

impl Arithmetic {
    /// What a scale does; `None` where the device cannot apply it.
    pub(super) fn loss(&self, scale: f32, histogram: &Histogram) -> Option<Loss> {
        let cache = self.cache(scale)?;
        let mut loss = Loss { saturated: 0, flushed_to_zero: 0, rel_l2_error: 0.0 };
        let (mut error, mut norm) = (0.0, 0.0);
        for (value, count) in histogram.magnitudes() {
            let code = cache.quantizer.quant_one_bf16(value);
            loss.saturated += count * u64::from(cache.range.is_saturated(value, code));
            loss.flushed_to_zero += count * u64::from(is_flushed(value, code));
            error += cache.squared_error(value, code) * count as f64;
            norm += f64::from(value.to_f32()).powi(2) * count as f64;
        }
        loss.rel_l2_error = if norm > 0.0 { (error / norm).sqrt() } else { 0.0 };
        Some(loss)
    }

    /// The scale of the least squared error.
    ///
    /// The device rounds the multiplier to bfloat16. For each of those there is a scale whose multiplier needs no
    /// rounding, and these are tried, from twice the amax's scale down. Above that a scale only repeats, an octave
    /// higher, what one without saturation does, and flushes more; below, the search ends where the error of the
    /// saturated values alone, which grows as the scale shrinks, reaches the least error found. So what is found is the
    /// least of all of them. Of equal ones the largest counts.
    pub(super) fn least_squares(&self, histogram: &Histogram) -> Option<f32> {
        let deploy = self.adjustment.fp8_max_deploy as f32;
        let max = self.adjustment.max();
        let values: Vec<(bf16, u64)> = histogram.magnitudes().collect();
        let by_amax = histogram.amax() / self.adjustment.fp8_max_quant as f32;
        let mut multiplier = bf16::from_f32(self.adjustment.factors(by_amax)?.quant / 2.0);
        let mut best: Option<(f64, f32)> = None;
        while multiplier.is_finite() {
            let scale = deploy / (multiplier.to_f32() * max);
            // A multiplier at the very ends of float32 has no scale.
            if let Some(cache) = self.cache(scale) {
                let squared = cache.squared_errors(&values);
                if best.is_some_and(|(least, _)| squared.saturated >= least) {
                    break;
                }
                if best.is_none_or(|(least, _)| squared.all < least) {
                    best = Some((squared.all, scale));
                }
            }
            multiplier = bf16::from_bits(multiplier.to_bits() + 1);
        }
        best.map(|(_, scale)| scale)
    }

    fn cache(&self, scale: f32) -> Option<Cache> {
        let factors = self.adjustment.factors(scale)?;
        Some(Cache {
            quantizer: Quantizer::kv_cache(self.generation, factors.quant).ok()?,
            dequantizer: Dequantizer::new(Format::kv_cache(self.generation), factors.dequant).ok()?,
            range: CacheRange::new(self.generation, factors.quant).ok()?,
        })
    }
}

impl Cache {
    fn squared_error(&self, value: bf16, code: u8) -> f64 {
        let read = self.dequantizer.dequant_one_bf16(code);
        (f64::from(read.to_f32()) - f64::from(value.to_f32())).powi(2)
    }

    fn squared_errors(&self, values: &[(bf16, u64)]) -> Squared {
        let mut squared = Squared { saturated: 0.0, all: 0.0 };
        for (value, count) in values {
            let code = self.quantizer.quant_one_bf16(*value);
            let error = self.squared_error(*value, code) * *count as f64;
            squared.all += error;
            if self.range.is_saturated(*value, code) {
                squared.saturated += error;
            }
        }
        squared
    }
}
