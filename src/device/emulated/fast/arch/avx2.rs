//! Fast attention on AVX2 with FMA: two vectors of eight for sixteen lanes.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use gaudi_numerics::simd::Avx2;

use super::super::lanes::{Lanes, Line, Step};
use super::super::pack::{CodeTable, Tile};
use super::avx2_pack as pack;

/// Methods that are an intrinsic on each half.
macro_rules! halves {
    ($($name:ident($($arg:ident),*) = $value:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($arg: [__m256; 2]),*) -> [__m256; 2] {
            let low = {
                $(let $arg = $arg[0];)*
                // SAFETY: these AVX, AVX2 and FMA instructions touch registers only, and `self` is a token, which exists only
                // where detection found them.
                unsafe { $value }
            };
            let high = {
                $(let $arg = $arg[1];)*
                // SAFETY: these AVX, AVX2 and FMA instructions touch registers only, and `self` is a token, which exists only
                // where detection found them.
                unsafe { $value }
            };
            [low, high]
        })*
    };
}

impl Lanes for Avx2 {
    type V = [__m256; 2];
    const PAIRS: bool = false;
    const GROUPED: bool = false;
    const ROWS: usize = 4;
    const LINES: usize = 1;

    halves! {
        add(a, b) = _mm256_add_ps(a, b);
        sub(a, b) = _mm256_sub_ps(a, b);
        mul(a, b) = _mm256_mul_ps(a, b);
        div(a, b) = _mm256_div_ps(a, b);
        max(a, b) = _mm256_max_ps(a, b);
        min(a, b) = _mm256_min_ps(a, b);
        and(a, b) = _mm256_and_ps(a, b);
        truncate(a) = _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a);
        if_within(a, b, yes, no) = {
            let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
            _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LE_OQ>(magnitude, b))
        };
        times_power(a, k) = {
            // The first multiplication is exact.
            let k = _mm256_cvtps_epi32(k);
            let most = _mm256_max_epi32(k, _mm256_set1_epi32(-100));
            let bias = _mm256_set1_epi32(127);
            let first = _mm256_slli_epi32::<23>(_mm256_add_epi32(most, bias));
            let rest = _mm256_slli_epi32::<23>(_mm256_add_epi32(_mm256_sub_epi32(k, most), bias));
            _mm256_mul_ps(_mm256_mul_ps(a, _mm256_castsi256_ps(first)), _mm256_castsi256_ps(rest))
        };
        round_bf16(a) = {
            let bits = _mm256_castps_si256(a);
            let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
            let up = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
            let rounded = _mm256_and_si256(up, _mm256_set1_epi32(0xFFFF_0000_u32 as i32));
            let nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFF_0000));
            _mm256_blendv_ps(_mm256_castsi256_ps(rounded), nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a))
        };
        mul_acc(acc, a, b) = _mm256_fmadd_ps(a, b, acc);
    }

    #[inline(always)]
    fn splat_bits(self, bits: u32) -> [__m256; 2] {
        // SAFETY: a broadcast to a register, AVX, which `self` proves.
        let half = unsafe { _mm256_castsi256_ps(_mm256_set1_epi32(bits as i32)) };
        [half; 2]
    }

    #[inline(always)]
    fn load(self, from: &Line) -> [__m256; 2] {
        self.load_cells(&from.0)
    }

    #[inline(always)]
    fn store(self, v: [__m256; 2], to: &mut Line) {
        self.store_cells(v, &mut to.0);
    }

    #[inline(always)]
    fn only(self, from: usize, to: usize, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        let (mut kept, mut others) = (Line::ZERO, Line::ZERO);
        self.store(a, &mut kept);
        self.store(b, &mut others);
        others.0[from..to].copy_from_slice(&kept.0[from..to]);
        self.load(&others)
    }

    #[inline(always)]
    fn load_cells(self, cells: &[u32]) -> [__m256; 2] {
        let cells: &[u32; 16] = cells[..16].try_into().expect("16 cells");
        let from = cells.as_ptr().cast::<f32>();
        // SAFETY: the array has the 64 bytes that two unaligned 256-bit loads read; `self` proves AVX.
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }

    #[inline(always)]
    fn store_cells(self, v: [__m256; 2], cells: &mut [u32]) {
        let cells: &mut [u32; 16] = (&mut cells[..16]).try_into().expect("16 cells");
        let to = cells.as_mut_ptr().cast::<f32>();
        // SAFETY: the array is ours alone and has the 64 bytes that two unaligned 256-bit stores write; `self` proves
        // AVX.
        unsafe {
            _mm256_storeu_ps(to, v[0]);
            _mm256_storeu_ps(to.add(8), v[1]);
        }
    }

    #[inline(always)]
    fn pack_key_codes(self, table: &CodeTable, tile: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
        // SAFETY: `self` proves AVX2.
        unsafe { pack::key_codes(table, tile, dim, panel) }
    }

    #[inline(always)]
    fn pack_key_words(self, tile: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
        // SAFETY: `self` proves AVX2.
        unsafe { pack::key_words(tile, dim, panel) }
    }

    #[inline(always)]
    fn pack_value_codes(self, table: &CodeTable, tile: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
        // SAFETY: `self` proves AVX2.
        unsafe { pack::value_codes(table, tile, dim, panel) }
    }

    #[inline(always)]
    fn pack_value_words(self, tile: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
        // SAFETY: `self` proves AVX2.
        unsafe { pack::value_words(tile, dim, panel) }
    }
}
