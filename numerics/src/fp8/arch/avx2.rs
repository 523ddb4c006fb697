//! Conversions on AVX2 registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::fp8::lines::Line;
use crate::fp8::ops::ConvertOps;
use crate::simd::{Avx2, register_ops};

impl ConvertOps for Avx2 {
    type V = __m256i;
    type B = __m256i;
    /// Sixteen bytes of the table in each, twice: the lookup works within 128-bit parts.
    type Table = [__m256i; 8];
    const GROUP: usize = 32;

    register_ops! {
        splat(bits: u32) -> __m256i = _mm256_set1_epi32(bits.cast_signed());
        and(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        or(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
        add(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        sub(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        max(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi32(a, b);
        min(a: __m256i, b: __m256i) -> __m256i = _mm256_min_epi32(a, b);
        /// The count is a constant after inlining.
        shr<const N: u32>(a: __m256i) -> __m256i = _mm256_srl_epi32(a, _mm_cvtsi32_si128(N.cast_signed()));
        shr_by(a: __m256i, counts: __m256i) -> __m256i = _mm256_srlv_epi32(a, counts);
        if_above(a: __m256i, b: __m256i, yes: __m256i, no: __m256i) -> __m256i
            = _mm256_blendv_epi8(no, yes, _mm256_cmpgt_epi32(a, b));
        mul(a: __m256i, b: __m256i) -> __m256i
            = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
        /// The rounding mode is nearest even: Rust code may not run under another one.
        to_int_nearest(a: __m256i) -> __m256i = _mm256_cvtps_epi32(_mm256_castsi256_ps(a));
        to_int_truncated(a: __m256i) -> __m256i = _mm256_cvttps_epi32(_mm256_castsi256_ps(a));

        /// The packs work within 128-bit parts; the permutation of 32-bit lanes puts the four codes that each part took from a
        /// register back in order.
        pack_f32(lanes: [__m256i; 4]) -> __m256i = {
            let [a, b, c, d] = lanes;
            let packed = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
            _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
        };
        /// The low words of `a` and `b` hold an even code and the odd one after it. The pack keeps them, within 128-bit parts;
        /// the permutation of 64-bit lanes restores the order.
        pack_bf16(lanes: [__m256i; 4]) -> __m256i = {
            let [a_even, a_odd, b_even, b_odd] = lanes;
            let a = _mm256_or_si256(a_even, _mm256_slli_epi32::<8>(a_odd));
            let b = _mm256_or_si256(b_even, _mm256_slli_epi32::<8>(b_odd));
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(a, b))
        };
        /// The packs work within 128-bit parts; the permutation of 64-bit lanes restores the order.
        pack_high_halves(lanes: [__m256i; 4]) -> [__m256i; 2] = {
            let [a, b, c, d] = lanes;
            let ab = _mm256_packus_epi32(_mm256_srli_epi32::<16>(a), _mm256_srli_epi32::<16>(b));
            let cd = _mm256_packus_epi32(_mm256_srli_epi32::<16>(c), _mm256_srli_epi32::<16>(d));
            [_mm256_permute4x64_epi64::<0b11_01_10_00>(ab), _mm256_permute4x64_epi64::<0b11_01_10_00>(cd)]
        };

        splat_byte(byte: u8) -> __m256i = _mm256_set1_epi8(byte.cast_signed());
        and_bytes(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        or_bytes(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
        sub_bytes(a: __m256i, b: __m256i) -> __m256i = _mm256_subs_epu8(a, b);
        max_bytes(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epu8(a, b);
        /// Below 128 the signed comparison is the unsigned one.
        if_bytes_above(a: __m256i, b: __m256i, yes: __m256i, no: __m256i) -> __m256i
            = _mm256_blendv_epi8(no, yes, _mm256_cmpgt_epi8(a, b));
        /// Below 128 the signed comparison is the unsigned one.
        count_above(a: __m256i, b: __m256i) -> u32
            = _mm256_movemask_epi8(_mm256_cmpgt_epi8(a, b)).count_ones();
        /// Flipping the high half of the index leaves 0 to 15 for one part alone; the saturating sum turns everything else into
        /// 0x80 and more, where the shuffle gives 0.
        lookup(table: [__m256i; 8], indices: __m256i) -> __m256i = {
            let (mut found, outside) = (_mm256_setzero_si256(), _mm256_set1_epi8(0x70));
            for (i, part) in table.into_iter().enumerate() {
                let first = _mm256_set1_epi8(16 * i as i8);
                let index = _mm256_adds_epu8(_mm256_xor_si256(indices, first), outside);
                found = _mm256_or_si256(found, _mm256_shuffle_epi8(part, index));
            }
            found
        };
        /// The unpacks work within 128-bit parts, so the 64-bit lanes are first put where they make words in order.
        zip(low: __m256i, high: __m256i) -> [__m256i; 2] = {
            let low = _mm256_permute4x64_epi64::<0b11_01_10_00>(low);
            let high = _mm256_permute4x64_epi64::<0b11_01_10_00>(high);
            [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
        };
        widen_words(words: __m256i) -> [__m256i; 2] = {
            let low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(words));
            let high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256::<1>(words));
            [_mm256_slli_epi32::<16>(low), _mm256_slli_epi32::<16>(high)]
        };
        /// Every x86-64 machine has SSE.
        fence() -> () = _mm_sfence();
    }

    #[inline(always)]
    fn as_bytes(self, lanes: __m256i) -> __m256i {
        lanes
    }
    #[inline(always)]
    fn load_f32(self, values: &[f32]) -> [__m256i; 4] {
        let values = values[..32].as_ptr().cast::<__m256i>();
        // SAFETY: `self` proves AVX2; the slice was cut to 32 floats, four registers of unaligned loads.
        unsafe {
            [
                _mm256_loadu_si256(values),
                _mm256_loadu_si256(values.add(1)),
                _mm256_loadu_si256(values.add(2)),
                _mm256_loadu_si256(values.add(3)),
            ]
        }
    }
    #[inline(always)]
    fn load_bf16(self, words: &[u16]) -> [__m256i; 4] {
        let words = words[..32].as_ptr().cast::<__m256i>();
        // SAFETY: `self` proves AVX2; the slice was cut to 32 words, two registers of unaligned loads.
        unsafe {
            let (a, b) = (_mm256_loadu_si256(words), _mm256_loadu_si256(words.add(1)));
            let odd = _mm256_set1_epi32(0xFFFF_0000_u32.cast_signed());
            let (a_even, b_even) = (_mm256_slli_epi32::<16>(a), _mm256_slli_epi32::<16>(b));
            [a_even, _mm256_and_si256(a, odd), b_even, _mm256_and_si256(b, odd)]
        }
    }
    #[inline(always)]
    fn load_split(self, words: &[u16]) -> [__m256i; 2] {
        let words = words[..32].as_ptr().cast::<__m256i>();
        // SAFETY: `self` proves AVX2; the slice was cut to 32 words, two registers of unaligned loads. The packs work
        // within 128-bit parts; the permutation of 64-bit lanes restores the order.
        unsafe {
            let (a, b) = (_mm256_loadu_si256(words), _mm256_loadu_si256(words.add(1)));
            let low = _mm256_set1_epi16(0xFF);
            let low = _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
            let high = _mm256_packus_epi16(_mm256_srli_epi16::<8>(a), _mm256_srli_epi16::<8>(b));
            [_mm256_permute4x64_epi64::<0b11_01_10_00>(low), _mm256_permute4x64_epi64::<0b11_01_10_00>(high)]
        }
    }
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> __m256i {
        let bytes = bytes[..32].as_ptr().cast();
        // SAFETY: `self` proves AVX2; the slice was cut to the 32 bytes that this unaligned load reads.
        unsafe { _mm256_loadu_si256(bytes) }
    }
    #[inline(always)]
    fn table(self, bytes: &[u8; 128]) -> [__m256i; 8] {
        let (parts, _) = bytes.as_chunks::<16>();
        let mut table = [self.splat(0); 8];
        for (table, part) in table.iter_mut().zip(parts) {
            // SAFETY: `self` proves AVX2, and a part is the 16 bytes that this unaligned load reads.
            *table = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(part.as_ptr().cast())) };
        }
        table
    }
    #[inline(always)]
    fn store(self, to: &mut [u8], bytes: __m256i) {
        let to = to[..32].as_mut_ptr().cast();
        // SAFETY: `self` proves AVX2; the slice was cut to the 32 bytes that this unaligned store writes.
        unsafe { _mm256_storeu_si256(to, bytes) }
    }
    #[inline(always)]
    fn stream(self, to: &mut Line, at: usize, bytes: __m256i) {
        let to = to.0[at & 32..][..32].as_mut_ptr().cast();
        // SAFETY: `self` proves AVX2; the slice is 32 bytes at offset 0 or 32 of a line, so at a multiple of 32. Kernels
        // fence before they return.
        unsafe { _mm256_stream_si256(to, bytes) }
    }
}
