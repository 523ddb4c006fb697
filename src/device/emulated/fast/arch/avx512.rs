//! Fast attention on AVX-512: over float32 numbers, and with BF16 over pairs of bfloat16 numbers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use gaudi_numerics::simd::{Avx512, Avx512Bf16};

use super::super::lanes::{Lanes, Line, Step};
use super::super::pack::{CodeTable, Tile};
use super::avx512_pack as pack;

/// Methods that are one intrinsic on registers.
macro_rules! register_ops {
    ($($name:ident($($arg:ident: $ty:ty),*) = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($arg: $ty),*) -> __m512 {
            // SAFETY: these AVX-512 F, BW, DQ and VL instructions touch registers only, and `self` is a token, which exists
            // only where detection found them.
            unsafe { $value }
        })*
    };
}

/// Implements [`Lanes`] with a token's own cells and products of them.
macro_rules! lanes {
    ($token:ident, PAIRS = $pairs:literal, $($own:item)*) => {
        impl Lanes for $token {
            type V = __m512;
            const PAIRS: bool = $pairs;
            const GROUPED: bool = true;
            const ROWS: usize = 6;
            const LINES: usize = 4;

            register_ops! {
                splat_bits(bits: u32) = _mm512_castsi512_ps(_mm512_set1_epi32(bits as i32));
                add(a: __m512, b: __m512) = _mm512_add_ps(a, b);
                sub(a: __m512, b: __m512) = _mm512_sub_ps(a, b);
                mul(a: __m512, b: __m512) = _mm512_mul_ps(a, b);
                div(a: __m512, b: __m512) = _mm512_div_ps(a, b);
                max(a: __m512, b: __m512) = _mm512_max_ps(a, b);
                min(a: __m512, b: __m512) = _mm512_min_ps(a, b);
                and(a: __m512, b: __m512) = _mm512_and_ps(a, b);
                truncate(a: __m512) = _mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a);
                if_within(a: __m512, b: __m512, yes: __m512, no: __m512)
                    = _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_abs_ps(a), b), yes);
                times_power(a: __m512, k: __m512) = _mm512_scalef_ps(a, k);
                round_bf16(a: __m512) = {
                    let bits = _mm512_castps_si512(a);
                    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
                    let up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
                    let rounded = _mm512_and_si512(up, _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
                    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a);
                    _mm512_castsi512_ps(_mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7FFF_0000)))
                };
                only(from: usize, to: usize, a: __m512, b: __m512) = {
                    let below = |lane: usize| (1u32 << lane) - 1;
                    _mm512_mask_mov_ps(b, (below(to) & !below(from)) as u16, a)
                };
            }

            #[inline(always)]
            fn largest(self, v: __m512) -> f32 {
                // SAFETY: registers only; `self` proves AVX-512F.
                unsafe { _mm512_reduce_max_ps(v) }
            }

            #[inline(always)]
            fn total(self, v: __m512) -> f32 {
                // SAFETY: these SSE3, AVX, AVX-512 F and DQ instructions touch registers only; `self` proves that the machine has
                // them.
                unsafe {
                    let eight = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps::<1>(v));
                    let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
                    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
                    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
                }
            }

            #[inline(always)]
            fn load(self, from: &Line) -> __m512 {
                // SAFETY: a line has the 64 bytes that the load reads; `self` proves AVX-512F.
                unsafe { _mm512_loadu_ps(from.0.as_ptr().cast()) }
            }

            #[inline(always)]
            fn store(self, v: __m512, to: &mut Line) {
                // SAFETY: the line is ours alone and has the 64 bytes that the store writes; `self` proves AVX-512F.
                unsafe { _mm512_storeu_ps(to.0.as_mut_ptr().cast(), v) }
            }

            #[inline(always)]
            fn store_words(self, v: __m512, words: &mut [u16]) {
                let words: &mut [u16; 16] = (&mut words[..16]).try_into().expect("16 words");
                // SAFETY: the array is ours alone and has the 32 bytes that the store writes; `self` proves AVX2 and AVX-512F.
                unsafe {
                    let high = _mm512_srli_epi32::<16>(_mm512_castps_si512(v));
                    _mm256_storeu_si256(words.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(high));
                }
            }

            #[inline(always)]
            fn pack_key_codes(self, table: &CodeTable, rows: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
                // SAFETY: `self` proves AVX-512 F, BW, DQ, VL and VBMI.
                unsafe { pack::key_codes::<$pairs>(table, rows, dim, panel) }
            }

            #[inline(always)]
            fn pack_key_words(self, rows: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
                // SAFETY: `self` proves AVX-512 F, BW, DQ, VL and VBMI.
                unsafe { pack::key_words::<$pairs>(rows, dim, panel) }
            }

            #[inline(always)]
            fn pack_value_codes(self, table: &CodeTable, rows: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
                // SAFETY: `self` proves AVX-512 F, BW, DQ, VL and VBMI.
                unsafe { pack::value_codes::<$pairs>(table, rows, dim, panel) }
            }

            #[inline(always)]
            fn pack_value_words(self, rows: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
                // SAFETY: `self` proves AVX-512 F, BW, DQ, VL and VBMI.
                unsafe { pack::value_words::<$pairs>(rows, dim, panel) }
            }

            $($own)*
        }
    };
}

lanes! {
    Avx512, PAIRS = false,

    #[inline(always)]
    fn mul_acc(self, acc: __m512, a: __m512, b: __m512) -> __m512 {
        // SAFETY: registers only; `self` proves AVX-512F.
        unsafe { _mm512_fmadd_ps(a, b, acc) }
    }

    #[inline(always)]
    fn load_cells(self, cells: &[u32]) -> __m512 {
        let cells: &[u32; 16] = cells[..16].try_into().expect("16 cells");
        // SAFETY: the array has the 64 bytes that the load reads; `self` proves AVX-512F.
        unsafe { _mm512_loadu_ps(cells.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_cells(self, v: __m512, cells: &mut [u32]) {
        let cells: &mut [u32; 16] = (&mut cells[..16]).try_into().expect("16 cells");
        // SAFETY: the array is ours alone and has the 64 bytes that the store writes; `self` proves AVX-512F.
        unsafe { _mm512_storeu_ps(cells.as_mut_ptr().cast(), v) }
    }
}

lanes! {
    Avx512Bf16, PAIRS = true,

    #[inline(always)]
    fn mul_acc(self, acc: __m512, a: __m512, b: __m512) -> __m512 {
        // SAFETY: registers only, of equal size and with any bits valid; `self` proves AVX512-BF16.
        unsafe {
            let a = std::mem::transmute::<__m512, __m512bh>(a);
            let b = std::mem::transmute::<__m512, __m512bh>(b);
            _mm512_dpbf16_ps(acc, a, b)
        }
    }

    #[inline(always)]
    fn load_cells(self, cells: &[u32]) -> __m512 {
        let cells: &[u32; 8] = cells[..8].try_into().expect("8 cells");
        // SAFETY: the array has the 32 bytes that the load reads; `self` proves AVX2 and AVX-512F.
        unsafe {
            let words = _mm256_loadu_si256(cells.as_ptr().cast());
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(words)))
        }
    }

    #[inline(always)]
    fn store_cells(self, v: __m512, cells: &mut [u32]) {
        let cells: &mut [u32; 8] = (&mut cells[..8]).try_into().expect("8 cells");
        // SAFETY: the array is ours alone and has the 32 bytes that the store writes; `self` proves AVX2 and AVX-512F.
        unsafe {
            let high = _mm512_srli_epi32::<16>(_mm512_castps_si512(v));
            _mm256_storeu_si256(cells.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(high));
        }
    }
}
