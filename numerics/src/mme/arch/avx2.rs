//! AVX2 with FMA: eight floats a vector, panels of 32 columns.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::mme::ops::ProductOps;
use crate::simd::{Avx2, register_ops};

impl ProductOps for Avx2 {
    const LANES: usize = 8;
    const ROWS: usize = 1;
    type F = __m256;
    type I = __m256i;
    type B = __m256i;
    type D = __m256d;

    register_ops! {
        splat_bytes(word: u32) -> __m256i = _mm256_set1_epi32(word as i32);
        add_saturating(a: __m256i, b: __m256i) -> __m256i = _mm256_adds_epi8(a, b);
        max_bytes(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi8(a, b);
        splat(x: f32) -> __m256 = _mm256_set1_ps(x);
        mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
        mul_add(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        truncate(x: __m256) -> __m256i = _mm256_cvttps_epi32(x);
        bits(x: __m256) -> __m256i = _mm256_castps_si256(x);
        float(x: __m256i) -> __m256 = _mm256_castsi256_ps(x);
        splat_int(x: i32) -> __m256i = _mm256_set1_epi32(x);
        add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        sub(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        and(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        max(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi32(a, b);
        less(a: __m256i, b: __m256i) -> u64
            = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a))) as u64;
        equal(a: __m256i, b: __m256i) -> u64
            = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))) as u64;
        splat_double(x: f64) -> __m256d = _mm256_set1_pd(x);
        widen(x: __m256) -> [__m256d; 2]
            = [_mm256_cvtps_pd(_mm256_castps256_ps128(x)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x))];
        widen_int(x: __m256i) -> [__m256d; 2] = [
            _mm256_cvtepi32_pd(_mm256_castsi256_si128(x)),
            _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(x)),
        ];
        mul_double(a: __m256d, b: __m256d) -> __m256d = _mm256_mul_pd(a, b);
        add_double(a: __m256d, b: __m256d) -> __m256d = _mm256_add_pd(a, b);
        truncate_double(x: __m256d) -> __m256d = _mm256_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x);
    }

    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> __m256i {
        let from: &[u8; 32] = from[..32].try_into().expect("32 bytes");
        // SAFETY: the array has the 32 bytes that an unaligned 256-bit load reads; `self` proves AVX2.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load(self, from: &[f32]) -> __m256 {
        let from: &[f32; 8] = from[..8].try_into().expect("8 floats");
        // SAFETY: the array has the 32 bytes that an unaligned 256-bit load reads; `self` proves AVX2.
        unsafe { _mm256_loadu_ps(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, x: __m256, to: &mut [f32]) {
        let to: &mut [f32; 8] = (&mut to[..8]).try_into().expect("8 floats");
        // SAFETY: the array is ours alone and has the 32 bytes that an unaligned 256-bit store writes; `self` proves
        // AVX2.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn less_bytes(self, a: __m256i, b: __m256i) -> u64 {
        // SAFETY: a byte compare and its sign bits, in registers, AVX2, which `self` proves.
        let interleaved = unsafe { _mm256_movemask_epi8(_mm256_cmpgt_epi8(b, a)) } as u32;
        if interleaved == 0 { 0 } else { deinterleave(interleaved) }
    }

    #[inline(always)]
    fn exponent_field(self, bytes: __m256i, j: usize) -> __m256i {
        // SAFETY: shifts and logic of 32-bit lanes in registers, AVX2, which `self` proves.
        unsafe {
            // 128 more in every byte is its top bit flipped; the exponent field is bits 23 to 30.
            let biased = _mm256_xor_si256(bytes, _mm256_set1_epi8(-128));
            let moved = match j {
                0 => _mm256_slli_epi32::<23>(biased),
                1 => _mm256_slli_epi32::<15>(biased),
                2 => _mm256_slli_epi32::<7>(biased),
                _ => _mm256_srli_epi32::<1>(biased),
            };
            _mm256_and_si256(moved, _mm256_set1_epi32(0x7F80_0000))
        }
    }

    /// The conversion rounds to nearest; where that went up in magnitude, one step back.
    #[inline(always)]
    fn to_float_toward_zero(self, x: __m256i) -> __m256 {
        // SAFETY: conversions, a compare and a subtraction in registers, AVX and AVX2, which `self` proves.
        unsafe {
            let nearest = _mm256_cvtepi32_ps(x);
            // The sums of nine terms below 2^26 stay far below 2^31, so they convert back.
            let back = _mm256_abs_epi32(_mm256_cvttps_epi32(nearest));
            let over = _mm256_cmpgt_epi32(back, _mm256_abs_epi32(x));
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(nearest), over))
        }
    }

    #[inline(always)]
    fn add_narrow(self, a: [__m256d; 2], b: [__m256d; 2]) -> __m256 {
        let (low, high) = (self.add_narrow_half(a[0], b[0]), self.add_narrow_half(a[1], b[1]));
        // SAFETY: joining two 128-bit registers, AVX, which `self` proves.
        unsafe { _mm256_set_m128(high, low) }
    }
}

impl Avx2 {
    /// Rounds the sum to odd in 53 bits and that to nearest in 24, which is one rounding of the exact sum.
    #[inline(always)]
    fn add_narrow_half(self, a: __m256d, b: __m256d) -> __m128 {
        // SAFETY: arithmetic, compares and 64-bit integer logic in registers, AVX and AVX2, which `self` proves.
        unsafe {
            let sum = _mm256_add_pd(a, b);
            let b_part = _mm256_sub_pd(sum, a);
            let a_lost = _mm256_sub_pd(a, _mm256_sub_pd(sum, b_part));
            let lost = _mm256_add_pd(a_lost, _mm256_sub_pd(b, b_part));
            let bits = _mm256_castpd_si256(sum);
            // An even last bit of an inexact sum moves by one: away from zero if what was lost has the sum's sign.
            let inexact = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_NEQ_OQ>(lost, _mm256_setzero_pd()));
            let step = _mm256_andnot_si256(bits, _mm256_and_si256(inexact, _mm256_set1_epi64x(1)));
            let inward = _mm256_srli_epi64::<63>(_mm256_castpd_si256(_mm256_xor_pd(lost, sum)));
            let twice_back = _mm256_slli_epi64::<1>(_mm256_and_si256(inward, step));
            let moved = _mm256_sub_epi64(_mm256_add_epi64(bits, step), twice_back);
            _mm256_cvtpd_ps(_mm256_castsi256_pd(moved))
        }
    }
}

/// Moves the bit of byte `4 * i + j` to bit `8 * j + i`.
#[cold]
fn deinterleave(mask: u32) -> u64 {
    let mut out = 0;
    for j in 0..4 {
        for i in 0..8 {
            out |= u64::from(mask >> (4 * i + j) & 1) << (8 * j + i);
        }
    }
    out
}
