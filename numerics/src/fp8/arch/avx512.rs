//! Conversions on AVX-512 registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::fp8::lines::Line;
use crate::fp8::ops::{BinadeOps, ConvertOps};
use crate::simd::{Avx512, register_ops};

/// Where the low words of two registers have their bytes: an even code, and the odd one after it.
const fn bytes_of_lanes() -> [u8; 64] {
    let mut indices = [0; 64];
    let mut i = 0;
    while i < 32 {
        indices[2 * i] = 4 * i as u8;
        indices[2 * i + 1] = 4 * i as u8 + 1;
        i += 1;
    }
    indices
}
static LOW_WORDS: [u8; 64] = bytes_of_lanes();

const fn every_other_byte(first: u8) -> [u8; 64] {
    let mut indices = [0; 64];
    let mut i = 0;
    while i < 64 {
        indices[i] = 2 * i as u8 + first;
        i += 1;
    }
    indices
}
static LOW_BYTES: [u8; 64] = every_other_byte(0);
static HIGH_BYTES: [u8; 64] = every_other_byte(1);

impl ConvertOps for Avx512 {
    type V = __m512i;
    type B = __m512i;
    type Table = [__m512i; 2];
    const GROUP: usize = 64;

    register_ops! {
        splat(bits: u32) -> __m512i = _mm512_set1_epi32(bits.cast_signed());
        and(a: __m512i, b: __m512i) -> __m512i = _mm512_and_si512(a, b);
        or(a: __m512i, b: __m512i) -> __m512i = _mm512_or_si512(a, b);
        add(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        sub(a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
        max(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epi32(a, b);
        min(a: __m512i, b: __m512i) -> __m512i = _mm512_min_epi32(a, b);
        shr<const N: u32>(a: __m512i) -> __m512i = _mm512_srli_epi32::<N>(a);
        shr_by(a: __m512i, counts: __m512i) -> __m512i = _mm512_srlv_epi32(a, counts);
        if_above(a: __m512i, b: __m512i, yes: __m512i, no: __m512i) -> __m512i
            = _mm512_mask_mov_epi32(no, _mm512_cmpgt_epi32_mask(a, b), yes);
        mul(a: __m512i, b: __m512i) -> __m512i
            = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
        /// Half away from zero, which leaves a low half of zero after a tie alone; ties then lose their odd bit.
        round_bf16(a: __m512i) -> __m512i = {
            let away = _mm512_add_epi32(a, _mm512_set1_epi32(0x8000));
            let tie = _mm512_testn_epi32_mask(away, _mm512_set1_epi32(0xFFFF));
            _mm512_mask_and_epi32(away, tie, away, _mm512_set1_epi32(0xFFFE_0000_u32.cast_signed()))
        };
        to_int_nearest(a: __m512i) -> __m512i
            = _mm512_cvt_roundps_epi32::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(_mm512_castsi512_ps(a));
        to_int_truncated(a: __m512i) -> __m512i = _mm512_cvttps_epi32(_mm512_castsi512_ps(a));

        /// The packs work within 128-bit parts; the permutation of 32-bit lanes puts the four codes that each part took from a
        /// register back in order.
        pack_f32(lanes: [__m512i; 4]) -> __m512i = {
            let [a, b, c, d] = lanes;
            let packed = _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_epi32(order, packed)
        };
        /// The packs work within 128-bit parts; the permutation of 64-bit lanes restores the order.
        pack_high_halves(lanes: [__m512i; 4]) -> [__m512i; 2] = {
            let [a, b, c, d] = lanes;
            let ab = _mm512_packus_epi32(_mm512_srli_epi32::<16>(a), _mm512_srli_epi32::<16>(b));
            let cd = _mm512_packus_epi32(_mm512_srli_epi32::<16>(c), _mm512_srli_epi32::<16>(d));
            let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
            [_mm512_permutexvar_epi64(order, ab), _mm512_permutexvar_epi64(order, cd)]
        };

        splat_byte(byte: u8) -> __m512i = _mm512_set1_epi8(byte.cast_signed());
        and_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_and_si512(a, b);
        or_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_or_si512(a, b);
        sub_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_subs_epu8(a, b);
        max_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epu8(a, b);
        if_bytes_above(a: __m512i, b: __m512i, yes: __m512i, no: __m512i) -> __m512i
            = _mm512_mask_mov_epi8(no, _mm512_cmpgt_epu8_mask(a, b), yes);
        count_above(a: __m512i, b: __m512i) -> u32 = _mm512_cmpgt_epu8_mask(a, b).count_ones();
        /// Bit 6 of an index chooses the half of the table, and bit 7 is ignored.
        lookup(table: [__m512i; 2], indices: __m512i) -> __m512i
            = _mm512_permutex2var_epi8(table[0], indices, table[1]);
        /// The unpacks work within 128-bit parts, so the 64-bit lanes are first put where they make words in order.
        zip(low: __m512i, high: __m512i) -> [__m512i; 2] = {
            let order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
            let (low, high) = (_mm512_permutexvar_epi64(order, low), _mm512_permutexvar_epi64(order, high));
            [_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)]
        };
        widen_words(words: __m512i) -> [__m512i; 2] = {
            let low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
            let high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(words));
            [_mm512_slli_epi32::<16>(low), _mm512_slli_epi32::<16>(high)]
        };
        /// Every x86-64 machine has SSE.
        fence() -> () = _mm_sfence();
    }

    #[inline(always)]
    fn as_bytes(self, lanes: __m512i) -> __m512i {
        lanes
    }
    #[inline(always)]
    fn load_f32(self, values: &[f32]) -> [__m512i; 4] {
        let values = values[..64].as_ptr().cast::<i32>();
        // SAFETY: `self` proves AVX-512F; the slice was cut to 64 floats, four registers of unaligned loads.
        unsafe {
            [
                _mm512_loadu_epi32(values),
                _mm512_loadu_epi32(values.add(16)),
                _mm512_loadu_epi32(values.add(32)),
                _mm512_loadu_epi32(values.add(48)),
            ]
        }
    }
    #[inline(always)]
    fn load_bf16(self, words: &[u16]) -> [__m512i; 4] {
        let words = words[..64].as_ptr().cast::<i32>();
        // SAFETY: `self` proves AVX-512F; the slice was cut to 64 words, two registers of unaligned loads.
        unsafe {
            let (a, b) = (_mm512_loadu_epi32(words), _mm512_loadu_epi32(words.add(16)));
            let odd = _mm512_set1_epi32(0xFFFF_0000_u32.cast_signed());
            let (a_even, b_even) = (_mm512_slli_epi32::<16>(a), _mm512_slli_epi32::<16>(b));
            [a_even, _mm512_and_si512(a, odd), b_even, _mm512_and_si512(b, odd)]
        }
    }
    #[inline(always)]
    fn pack_bf16(self, lanes: [__m512i; 4]) -> __m512i {
        let [a_even, a_odd, b_even, b_odd] = lanes;
        let low_words = self.load(&LOW_WORDS);
        // SAFETY: `self` proves AVX-512 F and VBMI; registers only. The low words of `a` and `b` hold an even code and the
        // odd one after it; the permutation picks these words from both registers.
        unsafe {
            let a = _mm512_or_si512(a_even, _mm512_slli_epi32::<8>(a_odd));
            let b = _mm512_or_si512(b_even, _mm512_slli_epi32::<8>(b_odd));
            _mm512_permutex2var_epi8(a, low_words, b)
        }
    }
    #[inline(always)]
    fn load_split(self, words: &[u16]) -> [__m512i; 2] {
        let words = words[..64].as_ptr().cast::<i32>();
        // SAFETY: `self` proves AVX-512F; the slice was cut to 64 words, two registers of unaligned loads.
        let (a, b) = unsafe { (_mm512_loadu_epi32(words), _mm512_loadu_epi32(words.add(16))) };
        let (low, high) = (self.load(&LOW_BYTES), self.load(&HIGH_BYTES));
        // SAFETY: `self` proves AVX-512VBMI. Seven bits of an index choose among the bytes of both registers.
        unsafe { [_mm512_permutex2var_epi8(a, low, b), _mm512_permutex2var_epi8(a, high, b)] }
    }
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> __m512i {
        let bytes = bytes[..64].as_ptr().cast();
        // SAFETY: `self` proves AVX-512BW; the slice was cut to the 64 bytes that this unaligned load reads.
        unsafe { _mm512_loadu_epi8(bytes) }
    }
    #[inline(always)]
    fn table(self, bytes: &[u8; 128]) -> [__m512i; 2] {
        [self.load(&bytes[..64]), self.load(&bytes[64..])]
    }
    #[inline(always)]
    fn store(self, to: &mut [u8], bytes: __m512i) {
        let to = to[..64].as_mut_ptr().cast();
        // SAFETY: `self` proves AVX-512BW; the slice was cut to the 64 bytes that this unaligned store writes.
        unsafe { _mm512_storeu_epi8(to, bytes) }
    }
    #[inline(always)]
    fn stream(self, to: &mut Line, _at: usize, bytes: __m512i) {
        // SAFETY: `self` proves AVX-512F; a line is 64 bytes at a multiple of 64. Kernels fence before they return.
        unsafe { _mm512_stream_si512(to.0.as_mut_ptr().cast(), bytes) }
    }
}

impl BinadeOps for Avx512 {
    register_ops! {
        add_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi8(a, b);
        min_bytes(a: __m512i, b: __m512i) -> __m512i = _mm512_min_epu8(a, b);
        if_bytes_equal(a: __m512i, b: __m512i, yes: __m512i, no: __m512i) -> __m512i
            = _mm512_mask_mov_epi8(no, _mm512_cmpeq_epi8_mask(a, b), yes);
        /// Doubling drops the sign; the last bit is the top bit of the low byte.
        exponents(low: __m512i, high: __m512i) -> __m512i = {
            let even = _mm512_add_epi8(high, high);
            _mm512_mask_sub_epi8(even, _mm512_movepi8_mask(low), even, _mm512_set1_epi8(-1))
        };
    }

    #[inline(always)]
    fn prefetch(self, words: &[u16]) {
        for line in words.chunks(32) {
            // SAFETY: every x86-64 machine has SSE; a prefetch reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) }
        }
    }
}
