//! Rounding float32 slices to bfloat16, portably and on vectors.

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::map::{MAGNITUDE, Map, Sink, map};
use crate::fp8::bf16::bf16_from_f32;
use crate::fp8::format::{INF_BITS, NAN_BITS};
use crate::fp8::ops::ConvertOps;
use crate::simd::{Portable, Work};

/// Float32 lanes to bfloat16 words.
struct RoundMap;

impl<K: ConvertOps> Map<K> for RoundMap {
    type In = f32;
    type Out = u16;
    #[inline(always)]
    fn group(&self, k: K, from: &[f32], to: &mut impl Sink<K>) {
        let mut lanes = k.load_f32(from);
        for v in &mut lanes {
            let magnitude = k.and(*v, k.splat(MAGNITUDE));
            *v = k.if_above(magnitude, k.splat(INF_BITS), k.splat(NAN_BITS), k.round_bf16(*v));
        }
        let [low, high] = k.pack_high_halves(lanes);
        to.put(k, 0, low);
        to.put(k, 1, high);
    }
}

/// bfloat16 roundings of float32 values.
pub(in crate::fp8) struct Round<'a> {
    pub(in crate::fp8) values: &'a [f32],
    /// One for each value.
    pub(in crate::fp8) rounded: &'a mut [bf16],
}

impl Work<Portable, ()> for Round<'_> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (rounded, value) in self.rounded.iter_mut().zip(self.values) {
            *rounded = bf16_from_f32(*value);
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for Round<'_> {
    #[inline(always)]
    fn run(self, k: K) {
        map(k, &RoundMap, self.values, self.rounded.reinterpret_cast_mut());
    }
}
