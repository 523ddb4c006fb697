//! NEON registers.

use std::arch::aarch64::*;

use super::lines::Line;
use super::simd::{Simd, entry_points};

/// Proof that the machine has NEON.
#[derive(Clone, Copy)]
pub(super) struct Neon(());

impl Neon {
    /// Only code compiled for NEON, which therefore runs on a machine that has it, can call this safely.
    #[inline]
    #[target_feature(enable = "neon")]
    fn here() -> Self {
        Self(())
    }
}

entry_points!(Neon, "neon");

impl Simd for Neon {
    type V = uint32x4_t;
    type B = uint8x16_t;
    /// Both halves of the table, 64 bytes each.
    type Table = (uint8x16x4_t, uint8x16x4_t);
    const GROUP: usize = 16;

    #[inline(always)]
    fn splat(self, bits: u32) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vdupq_n_u32(bits) }
    }
    #[inline(always)]
    fn and(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vandq_u32(a, b) }
    }
    #[inline(always)]
    fn or(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vorrq_u32(a, b) }
    }
    #[inline(always)]
    fn add(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vaddq_u32(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vsubq_u32(a, b) }
    }
    #[inline(always)]
    fn max(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b))) }
    }
    #[inline(always)]
    fn min(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u32_s32(vminq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b))) }
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: uint32x4_t) -> uint32x4_t {
        self.shr_by(a, self.splat(N))
    }
    #[inline(always)]
    fn shr_by(self, a: uint32x4_t, counts: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON. A shift to the left by a negative count is one to the right.
        unsafe { vshlq_u32(a, vnegq_s32(vreinterpretq_s32_u32(counts))) }
    }
    #[inline(always)]
    fn if_above(self, a: uint32x4_t, b: uint32x4_t, yes: uint32x4_t, no: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vbslq_u32(vcgtq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)), yes, no) }
    }
    #[inline(always)]
    fn mul(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u32_f32(vmulq_f32(vreinterpretq_f32_u32(a), vreinterpretq_f32_u32(b))) }
    }
    #[inline(always)]
    fn to_int_nearest(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON. This conversion is to nearest even whatever the rounding mode.
        unsafe { vreinterpretq_u32_s32(vcvtnq_s32_f32(vreinterpretq_f32_u32(a))) }
    }
    #[inline(always)]
    fn to_int_truncated(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u32_s32(vcvtq_s32_f32(vreinterpretq_f32_u32(a))) }
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
        let words = words[..16].as_ptr();
        // SAFETY: `self` proves NEON; the slice was cut to 16 words, two registers of loads that need no more alignment
        // than a word has.
        let (a, b) = unsafe { (vld1q_u16(words), vld1q_u16(words.add(8))) };
        // SAFETY: `self` proves NEON.
        let (a, b) = unsafe { (vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b)) };
        let ([a, b], [c, d]) = (self.widen_words(a), self.widen_words(b));
        [a, b, c, d]
    }
    #[inline(always)]
    fn pack_f32(self, lanes: [uint32x4_t; 4]) -> uint8x16_t {
        let [a, b, c, d] = lanes;
        // SAFETY: `self` proves NEON.
        unsafe {
            let low = vcombine_u16(vmovn_u32(a), vmovn_u32(b));
            let high = vcombine_u16(vmovn_u32(c), vmovn_u32(d));
            vcombine_u8(vmovn_u16(low), vmovn_u16(high))
        }
    }
    #[inline(always)]
    fn pack_bf16(self, lanes: [uint32x4_t; 4]) -> uint8x16_t {
        self.pack_f32(lanes)
    }
    #[inline(always)]
    fn pack_high_halves(self, lanes: [uint32x4_t; 4]) -> [uint8x16_t; 2] {
        let [a, b, c, d] = lanes;
        // SAFETY: `self` proves NEON.
        unsafe {
            let low = vcombine_u16(vshrn_n_u32::<16>(a), vshrn_n_u32::<16>(b));
            let high = vcombine_u16(vshrn_n_u32::<16>(c), vshrn_n_u32::<16>(d));
            [vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)]
        }
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
    fn splat_byte(self, byte: u8) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vdupq_n_u8(byte) }
    }
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> uint8x16_t {
        let bytes = bytes[..16].as_ptr();
        // SAFETY: `self` proves NEON; the slice was cut to the 16 bytes that this load reads.
        unsafe { vld1q_u8(bytes) }
    }
    #[inline(always)]
    fn and_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vandq_u8(a, b) }
    }
    #[inline(always)]
    fn or_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vorrq_u8(a, b) }
    }
    #[inline(always)]
    fn sub_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vqsubq_u8(a, b) }
    }
    #[inline(always)]
    fn max_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vmaxq_u8(a, b) }
    }
    #[inline(always)]
    fn if_bytes_above(self, a: uint8x16_t, b: uint8x16_t, yes: uint8x16_t, no: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vbslq_u8(vcgtq_u8(a, b), yes, no) }
    }
    #[inline(always)]
    fn count_above(self, a: uint8x16_t, b: uint8x16_t) -> u32 {
        // SAFETY: `self` proves NEON. Sixteen ones fit the byte that their sum is.
        u32::from(unsafe { vaddvq_u8(vandq_u8(vcgtq_u8(a, b), vdupq_n_u8(1))) })
    }
    #[inline(always)]
    fn table(self, bytes: &[u8; 128]) -> (uint8x16x4_t, uint8x16x4_t) {
        let bytes = bytes.as_ptr();
        // SAFETY: `self` proves NEON; the array has the 128 bytes that these two loads read.
        unsafe { (vld1q_u8_x4(bytes), vld1q_u8_x4(bytes.add(64))) }
    }
    #[inline(always)]
    fn lookup(self, table: (uint8x16x4_t, uint8x16x4_t), indices: uint8x16_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON. An index that is none of a half's 64 gives 0 in the first lookup and keeps what
        // is there in the second.
        unsafe {
            let found = vqtbl4q_u8(table.0, indices);
            vqtbx4q_u8(found, table.1, vsubq_u8(indices, vdupq_n_u8(64)))
        }
    }
    #[inline(always)]
    fn zip(self, low: uint8x16_t, high: uint8x16_t) -> [uint8x16_t; 2] {
        // SAFETY: `self` proves NEON.
        unsafe { [vzip1q_u8(low, high), vzip2q_u8(low, high)] }
    }
    #[inline(always)]
    fn widen_words(self, words: uint8x16_t) -> [uint32x4_t; 2] {
        // SAFETY: `self` proves NEON.
        unsafe {
            let words = vreinterpretq_u16_u8(words);
            let (low, high) = (vmovl_u16(vget_low_u16(words)), vmovl_u16(vget_high_u16(words)));
            [vshlq_n_u32::<16>(low), vshlq_n_u32::<16>(high)]
        }
    }
    #[inline(always)]
    fn as_bytes(self, lanes: uint32x4_t) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u8_u32(lanes) }
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
