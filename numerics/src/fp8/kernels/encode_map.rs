//! Float32 and bfloat16 lanes to codes.

use super::map::{MAGNITUDE, Map, Sink, map};
use super::plan::EncodePlan;
use crate::fp8::encoder::Rounding;
use crate::fp8::format::INF_BITS;
use crate::fp8::ops::ConvertOps;

/// The constants of an encoder in registers.
#[derive(Clone, Copy)]
struct EncodeRegs<K: ConvertOps> {
    magnitude: K::V,
    /// What of a product is its magnitude: without the low half where it is rounded to bfloat16.
    product: K::V,
    inf: K::V,
    max_finite: K::V,
    min_normal: K::V,
    zero: K::V,
    /// The power of two that makes a step between denormals 1.
    steps: K::V,
    shift: K::V,
    overflow_above: K::V,
    overflow_code: K::V,
    nan_sign: u8,
    scale: K::V,
}

impl<K: ConvertOps> EncodeRegs<K> {
    #[inline(always)]
    fn new(k: K, plan: &EncodePlan, scale: f32, bf16_product: bool) -> Self {
        let bias = u32::from(plan.encoder.format.bias);
        Self {
            magnitude: k.splat(MAGNITUDE),
            product: k.splat(if bf16_product { MAGNITUDE & 0xFFFF_0000 } else { MAGNITUDE }),
            inf: k.splat(INF_BITS),
            max_finite: k.splat(plan.max_finite),
            min_normal: k.splat(plan.min_normal),
            zero: k.splat(0),
            steps: k.splat((126 + plan.man_bits + bias) << 23),
            shift: k.splat(23 - plan.man_bits),
            overflow_above: k.splat(plan.overflow_above),
            overflow_code: k.splat(u32::from(plan.overflow_code)),
            // A bfloat16 product loses the sign of a NaN.
            nan_sign: if bf16_product { 0 } else { plan.nan_sign },
            scale: k.splat(scale.to_bits()),
        }
    }

    /// The codes of the magnitudes of `product`, where that is not NaN.
    #[inline(always)]
    fn codes<const NEAREST: bool, const CLIP: bool>(&self, k: K, product: K::V) -> K::V {
        let magnitude = k.and(product, self.product);
        let capped = k.min(magnitude, self.max_finite);
        // Binades above the smallest normal, as an exponent field. Within a binade, and in all that lies below the
        // smallest normal, codes are evenly spaced: measured in these steps the magnitude only has to be rounded to an
        // integer, and the code is that integer plus the codes of the binades below.
        let binades = k.max(k.sub(k.and(capped, self.inf), self.min_normal), self.zero);
        let in_steps = k.mul(capped, k.sub(self.steps, binades));
        let kept = if NEAREST { k.to_int_nearest(in_steps) } else { k.to_int_truncated(in_steps) };
        let code = k.add(kept, k.shr_by(binades, self.shift));
        if CLIP { code } else { k.if_above(magnitude, self.overflow_above, self.overflow_code, code) }
    }

    /// [`codes`](Self::codes) with the sign and the NaNs of `value`.
    #[inline(always)]
    fn signed<const NEAREST: bool, const CLIP: bool>(&self, k: K, value: K::V, product: K::V) -> K::V {
        let code = self.codes::<NEAREST, CLIP>(k, product);
        let top = k.shr::<24>(value);
        let nan = k.or(k.and(top, k.splat(u32::from(self.nan_sign))), k.splat(0x7F));
        let signed = k.or(k.and(top, k.splat(0x80)), code);
        k.if_above(k.and(value, self.magnitude), self.inf, nan, signed)
    }
}

/// Codes of float32 values times a scale.
struct F32Map<K: ConvertOps, const NEAREST: bool, const CLIP: bool>(EncodeRegs<K>);

impl<K: ConvertOps, const NEAREST: bool, const CLIP: bool> Map<K> for F32Map<K, NEAREST, CLIP> {
    type In = f32;
    type Out = u8;
    #[inline(always)]
    fn group(&self, k: K, from: &[f32], to: &mut impl Sink<K>) {
        let mut lanes = k.load_f32(from);
        for v in &mut lanes {
            *v = self.0.signed::<NEAREST, CLIP>(k, *v, k.mul(*v, self.0.scale));
        }
        to.put(k, 0, k.pack_f32(lanes));
    }
}

/// Codes of bfloat16 values, times a scale and rounded to bfloat16 where `SCALED`.
struct Bf16Map<K: ConvertOps, const NEAREST: bool, const CLIP: bool, const SCALED: bool>(EncodeRegs<K>);

impl<K: ConvertOps, const NEAREST: bool, const CLIP: bool, const SCALED: bool> Map<K>
    for Bf16Map<K, NEAREST, CLIP, SCALED>
{
    type In = u16;
    type Out = u8;
    #[inline(always)]
    fn group(&self, k: K, from: &[u16], to: &mut impl Sink<K>) {
        let regs = &self.0;
        let mut lanes = k.load_bf16(from);
        for v in &mut lanes {
            let product = if SCALED { k.round_bf16(k.mul(*v, regs.scale)) } else { *v };
            *v = regs.codes::<NEAREST, CLIP>(k, product);
        }
        let codes = k.pack_bf16(lanes);
        // Signs and NaNs are those of the input, in whose bytes a NaN is a high byte of 0x7F, sign aside, over a low
        // one above 0x80.
        let [low, high] = k.load_split(from);
        let (magnitude, nan) = (k.and_bytes(high, k.splat_byte(0x7F)), k.splat_byte(0x7F));
        let zero = k.splat_byte(0);
        let over = k.sub_bytes(low, k.splat_byte(0x80));
        let is_nan = k.if_bytes_above(magnitude, k.splat_byte(0x7E), over, zero);
        let nan = k.or_bytes(k.and_bytes(high, k.splat_byte(regs.nan_sign)), nan);
        let signed = k.or_bytes(k.and_bytes(high, k.splat_byte(0x80)), codes);
        to.put(k, 0, k.if_bytes_above(is_nan, zero, nan, signed));
    }
}

/// Codes of float32 values times `scale`.
#[inline(always)]
pub(in crate::fp8) fn encode_f32<K: ConvertOps>(
    k: K,
    plan: &EncodePlan,
    scale: f32,
    from: &[f32],
    to: &mut [u8],
) {
    let regs = EncodeRegs::new(k, plan, scale, false);
    match (plan.encoder.rounding, plan.encoder.clip) {
        (Rounding::NearestEven, true) => map(k, &F32Map::<K, true, true>(regs), from, to),
        (Rounding::NearestEven, false) => map(k, &F32Map::<K, true, false>(regs), from, to),
        (Rounding::TowardZero, true) => map(k, &F32Map::<K, false, true>(regs), from, to),
        (Rounding::TowardZero, false) => map(k, &F32Map::<K, false, false>(regs), from, to),
    }
}

/// Codes of bfloat16 words, after a multiplication that is rounded to bfloat16 where there is a scale.
#[inline(always)]
pub(in crate::fp8) fn encode_bf16<K: ConvertOps>(
    k: K,
    plan: &EncodePlan,
    scale: Option<f32>,
    from: &[u16],
    to: &mut [u8],
) {
    let regs = EncodeRegs::new(k, plan, scale.unwrap_or(1.0), scale.is_some());
    match (plan.encoder.rounding, plan.encoder.clip, scale.is_some()) {
        (Rounding::NearestEven, true, true) => map(k, &Bf16Map::<K, true, true, true>(regs), from, to),
        (Rounding::NearestEven, false, true) => map(k, &Bf16Map::<K, true, false, true>(regs), from, to),
        (Rounding::TowardZero, true, true) => map(k, &Bf16Map::<K, false, true, true>(regs), from, to),
        (Rounding::TowardZero, false, true) => map(k, &Bf16Map::<K, false, false, true>(regs), from, to),
        (Rounding::NearestEven, true, false) => map(k, &Bf16Map::<K, true, true, false>(regs), from, to),
        (Rounding::NearestEven, false, false) => map(k, &Bf16Map::<K, true, false, false>(regs), from, to),
        (Rounding::TowardZero, true, false) => map(k, &Bf16Map::<K, false, true, false>(regs), from, to),
        (Rounding::TowardZero, false, false) => map(k, &Bf16Map::<K, false, false, false>(regs), from, to),
    }
}
