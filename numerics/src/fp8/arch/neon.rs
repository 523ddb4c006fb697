//! Conversions on NEON registers.
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use crate::fp8::lines::Line;
use crate::fp8::ops::ConvertOps;
use crate::simd::{Neon, register_ops};

impl ConvertOps for Neon {
    type V = uint32x4_t;
    type B = uint8x16_t;
    /// Both halves of the table, 64 bytes each.
    type Table = (uint8x16x4_t, uint8x16x4_t);
    const GROUP: usize = 16;

    register_ops! {
        splat(bits: u32) -> uint32x4_t = vdupq_n_u32(bits);
        and(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t = vandq_u32(a, b);
        or(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t = vorrq_u32(a, b);
        add(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t = vaddq_u32(a, b);
        sub(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t = vsubq_u32(a, b);
        max(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t
            = vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)));
        min(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t
            = vreinterpretq_u32_s32(vminq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)));
        /// A shift to the left by a negative count is one to the right.
        shr<const N: u32>(a: uint32x4_t) -> uint32x4_t = vshlq_u32(a, vdupq_n_s32(-(N.cast_signed())));
        /// A shift to the left by a negative count is one to the right.
        shr_by(a: uint32x4_t, counts: uint32x4_t) -> uint32x4_t
            = vshlq_u32(a, vnegq_s32(vreinterpretq_s32_u32(counts)));
        if_above(a: uint32x4_t, b: uint32x4_t, yes: uint32x4_t, no: uint32x4_t) -> uint32x4_t
            = vbslq_u32(vcgtq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)), yes, no);
        mul(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t
            = vreinterpretq_u32_f32(vmulq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b)));
        /// This conversion is to nearest even whatever the rounding mode.
        to_int_nearest(a: uint32x4_t) -> uint32x4_t
            = vreinterpretq_u32_s32(vcvtnq_s32_f32(vreinterpretq_f32_u32(a)));
        to_int_truncated(a: uint32x4_t) -> uint32x4_t
            = vreinterpretq_u32_s32(vcvtq_s32_f32(vreinterpretq_f32_u32(a)));

        pack_f32(lanes: [uint32x4_t; 4]) -> uint8x16_t = {
            let [a, b, c, d] = lanes;
            let low = vcombine_u16(vmovn_u32(a), vmovn_u32(b));
            let high = vcombine_u16(vmovn_u32(c), vmovn_u32(d));
            vcombine_u8(vmovn_u16(low), vmovn_u16(high))
        };
        pack_high_halves(lanes: [uint32x4_t; 4]) -> [uint8x16_t; 2] = {
            let [a, b, c, d] = lanes;
            let low = vcombine_u16(vshrn_n_u32::<16>(a), vshrn_n_u32::<16>(b));
            let high = vcombine_u16(vshrn_n_u32::<16>(c), vshrn_n_u32::<16>(d));
            [vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)]
        };

        splat_byte(byte: u8) -> uint8x16_t = vdupq_n_u8(byte);
        and_bytes(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vandq_u8(a, b);
        or_bytes(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vorrq_u8(a, b);
        sub_bytes(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vqsubq_u8(a, b);
        max_bytes(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t = vmaxq_u8(a, b);
        if_bytes_above(a: uint8x16_t, b: uint8x16_t, yes: uint8x16_t, no: uint8x16_t) -> uint8x16_t
            = vbslq_u8(vcgtq_u8(a, b), yes, no);
        /// Sixteen ones fit the byte that their sum is.
        count_above(a: uint8x16_t, b: uint8x16_t) -> u32
            = u32::from(vaddvq_u8(vandq_u8(vcgtq_u8(a, b), vdupq_n_u8(1))));
        /// An index that is none of a half's 64 gives 0 in the first lookup and keeps what is there in the second.
        lookup(table: (uint8x16x4_t, uint8x16x4_t), indices: uint8x16_t) -> uint8x16_t
            = vqtbx4q_u8(vqtbl4q_u8(table.0, indices), table.1, vsubq_u8(indices, vdupq_n_u8(64)));
        zip(low: uint8x16_t, high: uint8x16_t) -> [uint8x16_t; 2] = [vzip1q_u8(low, high), vzip2q_u8(low, high)];
        widen_words(words: uint8x16_t) -> [uint32x4_t; 2] = {
            let words = vreinterpretq_u16_u8(words);
            let (low, high) = (vmovl_u16(vget_low_u16(words)), vmovl_u16(vget_high_u16(words)));
            [vshlq_n_u32::<16>(low), vshlq_n_u32::<16>(high)]
        };
        as_bytes(lanes: uint32x4_t) -> uint8x16_t = vreinterpretq_u8_u32(lanes);
    }

    #[inline(always)]
    fn load_f32(self, values: &[f32]) -> [uint32x4_t; 4] {
        let values = values[..16].as_ptr().cast::<u32>();
        // SAFETY: `self` proves NEON; the slice was cut to 16 floats, four registers of loads that need no more
        // alignment than a float has.
        unsafe {
            [vld1q_u32(values), vld1q_u32(values.add(4)), vld1q_u32(values.add(8)), vld1q_u32(values.add(12))]
        }
    }
    #[inline(always)]
    fn load_bf16(self, words: &[u16]) -> [uint32x4_t; 4] {
        let (first, second) = words[..16].split_at(8);
        // SAFETY: `self` proves NEON; each half has the 8 words that a load reads, which needs no more alignment than a word
        // has.
        let (first, second) = unsafe {
            (
                vreinterpretq_u8_u16(vld1q_u16(first.as_ptr())),
                vreinterpretq_u8_u16(vld1q_u16(second.as_ptr())),
            )
        };
        let ([a, b], [c, d]) = (self.widen_words(first), self.widen_words(second));
        [a, b, c, d]
    }
    #[inline(always)]
    fn pack_bf16(self, lanes: [uint32x4_t; 4]) -> uint8x16_t {
        self.pack_f32(lanes)
    }
    #[inline(always)]
    fn load_split(self, words: &[u16]) -> [uint8x16_t; 2] {
        let words = words[..16].as_ptr();
        // SAFETY: `self` proves NEON; the slice was cut to 16 words, two registers of loads that need no more alignment
        // than a word has.
        unsafe {
            let (a, b) =
                (vreinterpretq_u8_u16(vld1q_u16(words)), vreinterpretq_u8_u16(vld1q_u16(words.add(8))));
            [vuzp1q_u8(a, b), vuzp2q_u8(a, b)]
        }
    }
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> uint8x16_t {
        let bytes = bytes[..16].as_ptr();
        // SAFETY: `self` proves NEON; the slice was cut to the 16 bytes that this load reads.
        unsafe { vld1q_u8(bytes) }
    }
    #[inline(always)]
    fn table(self, bytes: &[u8; 128]) -> (uint8x16x4_t, uint8x16x4_t) {
        let bytes = bytes.as_ptr();
        // SAFETY: `self` proves NEON; the array has the 128 bytes that these two loads read.
        unsafe { (vld1q_u8_x4(bytes), vld1q_u8_x4(bytes.add(64))) }
    }
    #[inline(always)]
    fn store(self, to: &mut [u8], bytes: uint8x16_t) {
        let to = to[..16].as_mut_ptr();
        // SAFETY: `self` proves NEON; the slice was cut to the 16 bytes that this store writes.
        unsafe { vst1q_u8(to, bytes) }
    }
    /// An ordinary store: std has no other for NEON.
    #[inline(always)]
    fn stream(self, to: &mut Line, at: usize, bytes: uint8x16_t) {
        self.store(&mut to.0[at & 48..], bytes);
    }
    #[inline(always)]
    fn fence(self) {}
}
