//! Products on NEON registers: four floats a vector, panels of 16 columns.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use crate::mme::ops::ProductOps;
use crate::simd::{Neon, register_ops};

impl ProductOps for Neon {
    const LANES: usize = 4;
    const ROWS: usize = 2;
    type F = float32x4_t;
    type I = int32x4_t;
    type B = int8x16_t;
    type D = float64x2_t;

    register_ops! {
        splat_bytes(word: u32) -> int8x16_t = vreinterpretq_s8_u32(vdupq_n_u32(word));
        add_saturating(a: int8x16_t, b: int8x16_t) -> int8x16_t = vqaddq_s8(a, b);
        max_bytes(a: int8x16_t, b: int8x16_t) -> int8x16_t = vmaxq_s8(a, b);
        /// 128 more in every byte is its top bit flipped; the exponent field is bits 23 to 30.
        exponent_field(bytes: int8x16_t, j: usize) -> int32x4_t = {
            let biased = vreinterpretq_s32_s8(veorq_s8(bytes, vdupq_n_s8(i8::MIN)));
            let moved = match j {
                0 => vshlq_n_s32::<23>(biased),
                1 => vshlq_n_s32::<15>(biased),
                2 => vshlq_n_s32::<7>(biased),
                _ => vshrq_n_s32::<1>(biased),
            };
            vandq_s32(moved, vdupq_n_s32(0x7F80_0000))
        };
        splat(x: f32) -> float32x4_t = vdupq_n_f32(x);
        mul(a: float32x4_t, b: float32x4_t) -> float32x4_t = vmulq_f32(a, b);
        mul_add(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t = vfmaq_f32(c, a, b);
        truncate(x: float32x4_t) -> int32x4_t = vcvtq_s32_f32(x);
        /// The conversion rounds to nearest; where that went up in magnitude, one step back. The sums of nine terms below 2^26
        /// stay far below 2^31, so they convert back.
        to_float_toward_zero(x: int32x4_t) -> float32x4_t = {
            let nearest = vcvtq_f32_s32(x);
            let over = vcgtq_s32(vabsq_s32(vcvtq_s32_f32(nearest)), vabsq_s32(x));
            vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(nearest), vreinterpretq_s32_u32(over)))
        };
        bits(x: float32x4_t) -> int32x4_t = vreinterpretq_s32_f32(x);
        float(x: int32x4_t) -> float32x4_t = vreinterpretq_f32_s32(x);
        splat_int(x: i32) -> int32x4_t = vdupq_n_s32(x);
        add(a: int32x4_t, b: int32x4_t) -> int32x4_t = vaddq_s32(a, b);
        sub(a: int32x4_t, b: int32x4_t) -> int32x4_t = vsubq_s32(a, b);
        and(a: int32x4_t, b: int32x4_t) -> int32x4_t = vandq_s32(a, b);
        max(a: int32x4_t, b: int32x4_t) -> int32x4_t = vmaxq_s32(a, b);
        /// The sum of a bit for each lane.
        less(a: int32x4_t, b: int32x4_t) -> u64 = {
            let bit = vcombine_u32(vcreate_u32(2 << 32 | 1), vcreate_u32(8 << 32 | 4));
            u64::from(vaddvq_u32(vandq_u32(vcltq_s32(a, b), bit)))
        };
        /// The sum of a bit for each lane.
        equal(a: int32x4_t, b: int32x4_t) -> u64 = {
            let bit = vcombine_u32(vcreate_u32(2 << 32 | 1), vcreate_u32(8 << 32 | 4));
            u64::from(vaddvq_u32(vandq_u32(vceqq_s32(a, b), bit)))
        };
        splat_double(x: f64) -> float64x2_t = vdupq_n_f64(x);
        widen(x: float32x4_t) -> [float64x2_t; 2] = [vcvt_f64_f32(vget_low_f32(x)), vcvt_high_f64_f32(x)];
        widen_int(x: int32x4_t) -> [float64x2_t; 2]
            = [vcvtq_f64_s64(vmovl_s32(vget_low_s32(x))), vcvtq_f64_s64(vmovl_high_s32(x))];
        mul_double(a: float64x2_t, b: float64x2_t) -> float64x2_t = vmulq_f64(a, b);
        add_double(a: float64x2_t, b: float64x2_t) -> float64x2_t = vaddq_f64(a, b);
        truncate_double(x: float64x2_t) -> float64x2_t = vrndq_f64(x);
        /// Rounds the sums to odd in 53 bits and that to nearest in 24, which is one rounding of the exact sum.
        add_narrow(a: [float64x2_t; 2], b: [float64x2_t; 2]) -> float32x4_t = {
            let mut odd = a;
            for (odd, b) in odd.iter_mut().zip(b) {
                let a = *odd;
                let sum = vaddq_f64(a, b);
                let b_part = vsubq_f64(sum, a);
                let lost = vaddq_f64(vsubq_f64(a, vsubq_f64(sum, b_part)), vsubq_f64(b, b_part));
                let bits = vreinterpretq_u64_f64(sum);
                // An even last bit of an inexact sum moves by one: away from zero if what was lost has the sum's sign.
                let inexact = vcgtzq_f64(vabsq_f64(lost));
                let step = vbicq_u64(vandq_u64(inexact, vdupq_n_u64(1)), bits);
                let inward = vshrq_n_u64::<63>(veorq_u64(vreinterpretq_u64_f64(lost), bits));
                let twice_back = vshlq_n_u64::<1>(vandq_u64(inward, step));
                *odd = vreinterpretq_f64_u64(vsubq_u64(vaddq_u64(bits, step), twice_back));
            }
            vcvt_high_f32_f64(vcvt_f32_f64(odd[0]), odd[1])
        };
    }

    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> int8x16_t {
        let from: &[u8; 16] = from[..16].try_into().expect("16 bytes");
        // SAFETY: the array has the 16 bytes that the load reads; `self` proves NEON.
        unsafe { vld1q_s8(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load(self, from: &[f32]) -> float32x4_t {
        let from: &[f32; 4] = from[..4].try_into().expect("4 floats");
        // SAFETY: the array has the 16 bytes that the load reads; `self` proves NEON.
        unsafe { vld1q_f32(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, x: float32x4_t, to: &mut [f32]) {
        let to: &mut [f32; 4] = (&mut to[..4]).try_into().expect("4 floats");
        // SAFETY: the array is ours alone and has the 16 bytes that the store writes; `self` proves NEON.
        unsafe { vst1q_f32(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn less_bytes(self, a: int8x16_t, b: int8x16_t) -> u64 {
        let mut masks = [0; 16];
        // SAFETY: a byte compare in registers and a store of the 16 bytes that the array has; `self` proves NEON.
        let is_any = unsafe {
            let less = vcltq_s8(a, b);
            vst1q_u8(masks.as_mut_ptr(), less);
            vmaxvq_u8(less) != 0
        };
        if is_any { deinterleave(&masks) } else { 0 }
    }
}

/// Moves the mask of byte `4 * i + j` to bit `4 * j + i`.
#[cold]
fn deinterleave(masks: &[u8; 16]) -> u64 {
    let mut out = 0;
    for j in 0..4 {
        for i in 0..4 {
            out |= u64::from(masks[4 * i + j] & 1) << (4 * j + i);
        }
    }
    out
}
