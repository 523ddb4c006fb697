//! AVX-512 F, BW, DQ, VL and VBMI: sixteen floats a vector, panels of 64 columns.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::fp8::Isa;
use crate::mme::kernel::{self, Kernel};
use crate::mme::simd::Simd;

/// Proof that this machine has the instructions: [`Avx512::new`] is the only way to get one.
#[derive(Debug, Clone, Copy)]
pub(in crate::mme) struct Avx512(());

/// Methods that are one intrinsic on registers.
macro_rules! register_ops {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($arg: $ty),*) -> $out {
            // SAFETY: these AVX-512 instructions touch registers only, and `self` exists only where
            // `Isa::Avx512.is_available()` found F, BW, DQ, VL and VBMI.
            unsafe { $value }
        })*
    };
}

impl Avx512 {
    pub(in crate::mme) fn new() -> Option<Self> {
        Isa::Avx512.is_available().then_some(Self(()))
    }

    /// Runs a kernel compiled with the instructions enabled.
    pub(in crate::mme) fn run(self, kernel: &mut Kernel<'_>) {
        // SAFETY: `run_enabled` needs AVX-512 F, BW, DQ, VL and VBMI; `self` proves that the machine has them.
        unsafe { run_enabled(self, kernel) }
    }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn run_enabled(simd: Avx512, kernel: &mut Kernel<'_>) {
    kernel::run(simd, kernel);
}

impl Simd for Avx512 {
    const LANES: usize = 16;
    const ROWS: usize = 2;
    type F = __m512;
    type I = __m512i;
    type B = __m512i;
    type D = __m512d;

    register_ops! {
        splat_bytes(word: u32) -> __m512i = _mm512_set1_epi32(word as i32);
        add_saturating(a: __m512i, b: __m512i) -> __m512i = _mm512_adds_epi8(a, b);
        max_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epi8(a, b);
        splat(x: f32) -> __m512 = _mm512_set1_ps(x);
        mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        truncate(x: __m512) -> __m512i = _mm512_cvttps_epi32(x);
        to_float_toward_zero(x: __m512i) -> __m512
            = _mm512_cvt_roundepi32_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x);
        bits(x: __m512) -> __m512i = _mm512_castps_si512(x);
        from_bits(x: __m512i) -> __m512 = _mm512_castsi512_ps(x);
        splat_int(x: i32) -> __m512i = _mm512_set1_epi32(x);
        add(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        sub(a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
        and(a: __m512i, b: __m512i) -> __m512i = _mm512_and_si512(a, b);
        max(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epi32(a, b);
        less(a: __m512i, b: __m512i) -> u64 = u64::from(_mm512_cmplt_epi32_mask(a, b));
        equal(a: __m512i, b: __m512i) -> u64 = u64::from(_mm512_cmpeq_epi32_mask(a, b));
        splat_double(x: f64) -> __m512d = _mm512_set1_pd(x);
        widen(x: __m512) -> [__m512d; 2]
            = [_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(x))];
        widen_int(x: __m512i) -> [__m512d; 2] = [
            _mm512_cvtepi32_pd(_mm512_castsi512_si256(x)),
            _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64::<1>(x)),
        ];
        mul_double(a: __m512d, b: __m512d) -> __m512d = _mm512_mul_pd(a, b);
        add_double(a: __m512d, b: __m512d) -> __m512d = _mm512_add_pd(a, b);
        truncate_double(x: __m512d) -> __m512d
            = _mm512_roundscale_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x);
    }

    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> __m512i {
        let from: &[u8; 64] = from[..64].try_into().expect("64 bytes");
        // SAFETY: the array has the 64 bytes that an unaligned 512-bit load reads; `self` proves AVX-512F.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn load(self, from: &[f32]) -> __m512 {
        let from: &[f32; 16] = from[..16].try_into().expect("16 floats");
        // SAFETY: the array has the 64 bytes that an unaligned 512-bit load reads; `self` proves AVX-512F.
        unsafe { _mm512_loadu_ps(from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, x: __m512, to: &mut [f32]) {
        let to: &mut [f32; 16] = (&mut to[..16]).try_into().expect("16 floats");
        // SAFETY: the array is ours alone and has the 64 bytes that an unaligned 512-bit store writes; `self` proves
        // AVX-512F.
        unsafe { _mm512_storeu_ps(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn less_bytes(self, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: byte compares into mask registers are AVX-512BW, which `self` proves.
        let interleaved = unsafe { _mm512_cmplt_epi8_mask(a, b) };
        if interleaved == 0 { 0 } else { deinterleave(interleaved) }
    }

    #[inline(always)]
    fn exponent_field(self, bytes: __m512i, j: usize) -> __m512i {
        // SAFETY: shifts and logic of 32-bit lanes in registers, AVX-512F, which `self` proves.
        unsafe {
            // 128 more in every byte is its top bit flipped; the exponent field is bits 23 to 30.
            let biased = _mm512_xor_si512(bytes, _mm512_set1_epi8(-128));
            let moved = match j {
                0 => _mm512_slli_epi32::<23>(biased),
                1 => _mm512_slli_epi32::<15>(biased),
                2 => _mm512_slli_epi32::<7>(biased),
                _ => _mm512_srli_epi32::<1>(biased),
            };
            _mm512_and_si512(moved, _mm512_set1_epi32(0x7F80_0000))
        }
    }

    /// Rounds the sum to odd in 53 bits and that to nearest in 24, which is one rounding of the exact sum.
    #[inline(always)]
    fn add_narrow(self, a: [__m512d; 2], b: [__m512d; 2]) -> __m512 {
        const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
        let odd = |a: __m512d, b: __m512d| {
            // SAFETY: additions with embedded rounding and mask logic in registers, AVX-512F and DQ, which `self`
            // proves.
            unsafe {
                // The two neighbours of an inexact sum differ in their last bit: take the odd one. An exact sum is
                // both of them. A sum of exactly zero must be +0, which rounding up gives.
                let (down, up) = (_mm512_add_round_pd::<DOWN>(a, b), _mm512_add_round_pd::<UP>(a, b));
                let is_odd = _mm512_test_epi64_mask(_mm512_castpd_si512(down), _mm512_set1_epi64(1));
                _mm512_cvtpd_ps(_mm512_mask_blend_pd(is_odd, up, down))
            }
        };
        let (low, high) = (odd(a[0], b[0]), odd(a[1], b[1]));
        // SAFETY: joining two 256-bit registers, AVX-512DQ, which `self` proves.
        unsafe { _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high) }
    }
}

/// From one bit per byte `4 * i + j` to bit `16 * j + i`.
#[cold]
fn deinterleave(mask: u64) -> u64 {
    let mut out = 0;
    for j in 0..4 {
        for i in 0..16 {
            out |= (mask >> (4 * i + j) & 1) << (16 * j + i);
        }
    }
    out
}
