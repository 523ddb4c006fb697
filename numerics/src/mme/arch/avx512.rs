//! AVX-512 F, BW, DQ, VL and VBMI: sixteen floats a vector, panels of 64 columns.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use crate::mme::decode::Decoder;
use crate::mme::ops::{ProductOps, transpose};
use crate::simd::{Avx512, register_ops};

impl ProductOps for Avx512 {
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
        mul_add(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        truncate(x: __m512) -> __m512i = _mm512_cvttps_epi32(x);
        to_float_toward_zero(x: __m512i) -> __m512
            = _mm512_cvt_roundepi32_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x);
        bits(x: __m512) -> __m512i = _mm512_castps_si512(x);
        float(x: __m512i) -> __m512 = _mm512_castsi512_ps(x);
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

    #[inline(always)]
    fn add_narrow(self, a: [__m512d; 2], b: [__m512d; 2]) -> __m512 {
        let (low, high) = (self.add_narrow_half(a[0], b[0]), self.add_narrow_half(a[1], b[1]));
        // SAFETY: joining two 256-bit registers, AVX-512DQ, which `self` proves.
        unsafe { _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high) }
    }

    /// A value is as wide as a bfloat16, so its two bytes come from two tables of 128 codes.
    #[inline(always)]
    fn spread_fp8(self, decoder: &Decoder, codes: &[u8], values: &mut [f32], exps: &mut [u8]) -> u64 {
        let (values, exps) = (&mut values[..64], &mut exps[..64]);
        let codes = self.load_bytes(codes);
        let exponents = self.look_up(&decoder.exps, codes);
        let (high, low) = (self.look_up(&decoder.high, codes), self.look_up(&decoder.low, codes));
        // SAFETY: shuffles, logic and compares in registers, AVX-512F, BW and VBMI, which `self` proves; the store
        // writes the 64 bytes of `exps`, checked above.
        unsafe {
            _mm512_storeu_si512(exps.as_mut_ptr().cast(), _mm512_permutexvar_epi8(interleaved(), exponents));
            // high | codes & 0x80
            let signed = _mm512_ternarylogic_epi32::<0xF8>(high, codes, _mm512_set1_epi8(-128));
            for j in 0..4 {
                let upper_half = 0xCCCC_CCCC_CCCC_CCCC;
                let bits = _mm512_maskz_permutex2var_epi8(upper_half, low, joined(j), signed);
                self.store(_mm512_castsi512_ps(bits), &mut values[16 * j..]);
            }
            let unsigned = _mm512_and_si512(codes, _mm512_set1_epi8(0x7F));
            _mm512_cmpgt_epu8_mask(unsigned, _mm512_set1_epi8(decoder.max_finite as i8))
        }
    }

    #[inline(always)]
    fn spread_bf16(self, decoder: &Decoder, codes: &[u16], values: &mut [f32], exps: &mut [u8]) -> u64 {
        let codes: &[u16; 64] = codes[..64].try_into().expect("64 elements");
        let (values, exps) = (&mut values[..64], &mut exps[..64]);
        // SAFETY: the loads read 32 elements each of the 64 of `codes`, the store writes the 64 bytes of `exps`; the
        // rest is arithmetic in registers, AVX-512F, BW and VBMI, which `self` proves.
        unsafe {
            let from = codes.as_ptr();
            let mut halves = [_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.add(32).cast())];
            let ones = _mm512_set1_epi16(0x7FFF);
            let mut fields = halves;
            for h in 0..2 {
                let field = _mm512_and_si512(_mm512_srli_epi16::<7>(halves[h]), _mm512_set1_epi16(0xFF));
                if decoder.flushes() {
                    let denormal = _mm512_cmpeq_epi16_mask(field, _mm512_setzero_si512());
                    let sign = _mm512_andnot_si512(ones, halves[h]);
                    halves[h] = _mm512_mask_mov_epi16(halves[h], denormal, sign);
                }
                // A denormal has the exponent of the least normal number, zero that byte less the offset's range.
                let zero = _mm512_testn_epi16_mask(halves[h], ones);
                let field = _mm512_max_epi16(field, _mm512_set1_epi16(1));
                let offset = _mm512_sub_epi16(field, _mm512_set1_epi16(decoder.offset() as i16));
                fields[h] = _mm512_mask_mov_epi16(offset, zero, _mm512_set1_epi16(-128));
                let parts = [_mm512_castsi512_si256(halves[h]), _mm512_extracti64x4_epi64::<1>(halves[h])];
                for (i, half) in parts.into_iter().enumerate() {
                    let wide = _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(half));
                    self.store(_mm512_castsi512_ps(wide), &mut values[32 * h + 16 * i..]);
                }
            }
            let limit = _mm512_set1_epi16((decoder.limit() - decoder.offset()) as i16);
            let low = _mm512_cmpgt_epi16_mask(fields[0], limit);
            let high = _mm512_cmpgt_epi16_mask(fields[1], limit);
            let low_bytes = _mm512_castsi256_si512(_mm512_cvtsepi16_epi8(fields[0]));
            let found = _mm512_inserti64x4::<1>(low_bytes, _mm512_cvtsepi16_epi8(fields[1]));
            _mm512_storeu_si512(exps.as_mut_ptr().cast(), _mm512_permutexvar_epi8(interleaved(), found));
            u64::from(low) | u64::from(high) << 32
        }
    }

    #[inline(always)]
    fn transpose_bytes(self, rows: &[&[u8]], depth: usize, tile: &mut [u8]) {
        if rows.len() < 64 || depth < 64 {
            return transpose(rows, depth, 64, tile);
        }
        for half in 0..2 {
            // Dwords first, sixteen rows at a time: lane i of `dwords[d][g]` has four elements of row 16 * g + i.
            let mut dwords = [[self.splat_int(0); 4]; 8];
            for g in 0..4 {
                let mut of_row = [self.splat_int(0); 16];
                for (i, row) in of_row.iter_mut().enumerate() {
                    let from: &[u8; 32] = rows[16 * g + i][32 * half..][..32].try_into().expect("32 bytes");
                    // SAFETY: the array has the 32 bytes that the load reads; `self` proves AVX2 and AVX-512F.
                    *row = unsafe { _mm512_castsi256_si512(_mm256_loadu_si256(from.as_ptr().cast())) };
                }
                for (to, from) in dwords.iter_mut().zip(self.transpose_dwords(of_row)) {
                    to[g] = from;
                }
            }
            for (d, [a, b, c, e]) in dwords.into_iter().enumerate() {
                // Four bytes of each of 64 rows to 64 bytes of each of four columns.
                // SAFETY: byte shuffles in registers, AVX-512VBMI, which `self` proves.
                let columns = unsafe {
                    let (even, odd) = (pick(0), pick(2));
                    let (ab0, ab1) =
                        (_mm512_permutex2var_epi8(a, even, b), _mm512_permutex2var_epi8(a, odd, b));
                    let (ce0, ce1) =
                        (_mm512_permutex2var_epi8(c, even, e), _mm512_permutex2var_epi8(c, odd, e));
                    [
                        _mm512_shuffle_i64x2::<0b01_00_01_00>(ab0, ce0),
                        _mm512_shuffle_i64x2::<0b11_10_11_10>(ab0, ce0),
                        _mm512_shuffle_i64x2::<0b01_00_01_00>(ab1, ce1),
                        _mm512_shuffle_i64x2::<0b11_10_11_10>(ab1, ce1),
                    ]
                };
                for (i, column) in columns.into_iter().enumerate() {
                    let at = (32 * half + 4 * d + i) * 64;
                    let to: &mut [u8; 64] = (&mut tile[at..at + 64]).try_into().expect("64 bytes");
                    // SAFETY: the array is ours alone and has the 64 bytes that the store writes; `self` proves
                    // AVX-512F.
                    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), column) }
                }
            }
        }
    }

    #[inline(always)]
    fn transpose_words(self, rows: &[&[u16]], depth: usize, tile: &mut [u16]) {
        if rows.len() < 64 || depth < 64 {
            return transpose(rows, depth, 64, tile);
        }
        for (g, rows) in rows.as_chunks::<16>().0.iter().take(4).enumerate() {
            for quarter in 0..4 {
                let mut of_row = [self.splat_int(0); 16];
                for (to, row) in of_row.iter_mut().zip(rows) {
                    let from: &[u16; 16] = row[16 * quarter..][..16].try_into().expect("16 elements");
                    // SAFETY: the array has the 32 bytes that the load reads; `self` proves AVX2 and AVX-512F.
                    *to = unsafe { _mm512_castsi256_si512(_mm256_loadu_si256(from.as_ptr().cast())) };
                }
                for (d, dwords) in self.transpose_dwords(of_row).into_iter().enumerate() {
                    // SAFETY: narrowing and a shift in registers, AVX-512F, which `self` proves.
                    let columns = unsafe {
                        [
                            _mm512_cvtepi32_epi16(dwords),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(dwords)),
                        ]
                    };
                    for (i, column) in columns.into_iter().enumerate() {
                        let at = (16 * quarter + 2 * d + i) * 64 + 16 * g;
                        let to: &mut [u16; 16] = (&mut tile[at..at + 16]).try_into().expect("16 elements");
                        // SAFETY: the array is ours alone and has the 32 bytes that the store writes; `self` proves
                        // AVX2.
                        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), column) }
                    }
                }
            }
        }
    }
}

impl Avx512 {
    /// `table[code & 0x7F]` for each code.
    #[inline(always)]
    fn look_up(self, table: &[u8; 128], codes: __m512i) -> __m512i {
        let (low, high) = (self.load_bytes(&table[..64]), self.load_bytes(&table[64..]));
        // SAFETY: a byte shuffle in registers, AVX-512VBMI, which `self` proves.
        unsafe { _mm512_permutex2var_epi8(low, codes, high) }
    }

    /// Rounds the sum to odd in 53 bits and that to nearest in 24, which is one rounding of the exact sum.
    #[inline(always)]
    fn add_narrow_half(self, a: __m512d, b: __m512d) -> __m256 {
        const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
        // SAFETY: additions with embedded rounding and mask logic in registers, AVX-512F and DQ, which `self` proves.
        unsafe {
            // The two neighbours of an inexact sum differ in their last bit: take the odd one. An exact sum is both
            // of them. A sum of exactly zero must be +0, which rounding up gives.
            let (down, up) = (_mm512_add_round_pd::<DOWN>(a, b), _mm512_add_round_pd::<UP>(a, b));
            let is_odd = _mm512_test_epi64_mask(_mm512_castpd_si512(down), _mm512_set1_epi64(1));
            _mm512_cvtpd_ps(_mm512_mask_blend_pd(is_odd, up, down))
        }
    }

    /// The lower eight dwords of each of sixteen rows to eight columns of sixteen dwords.
    #[inline(always)]
    fn transpose_dwords(self, rows: [__m512i; 16]) -> [__m512i; 8] {
        let mut out = rows;
        // SAFETY: inserts, unpacks and shuffles in registers, AVX-512F, which `self` proves.
        unsafe {
            // Rows i and i + 8 share a register, then each 128-bit lane is transposed four by four.
            let mut pairs = [out[0]; 8];
            for i in 0..8 {
                pairs[i] = _mm512_inserti64x4::<1>(out[i], _mm512_castsi512_si256(out[i + 8]));
            }
            for half in 0..2 {
                let [a, b, c, d] =
                    [pairs[4 * half], pairs[4 * half + 1], pairs[4 * half + 2], pairs[4 * half + 3]];
                let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
                let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
                out[4 * half] = _mm512_unpacklo_epi64(ab, cd);
                out[4 * half + 1] = _mm512_unpackhi_epi64(ab, cd);
                out[4 * half + 2] = _mm512_unpacklo_epi64(ab_high, cd_high);
                out[4 * half + 3] = _mm512_unpackhi_epi64(ab_high, cd_high);
            }
            // Lane 0 has dwords 0 to 3 of the rows below 8, lane 1 dwords 4 to 7, lanes 2 and 3 those of the others.
            let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            for i in 0..8 {
                let index = if i < 4 { low } else { high };
                pairs[i] = _mm512_permutex2var_epi64(out[i % 4], index, out[4 + i % 4]);
            }
            pairs
        }
    }
}

/// Index of bytes for `permutex2var`: of two vectors of sixteen dwords, byte `first` of each dword, then byte
/// `first + 1` of each.
#[inline(always)]
fn pick(first: u8) -> __m512i {
    const fn index(first: u8) -> [u8; 64] {
        let mut index = [0; 64];
        let mut i = 0;
        while i < 64 {
            index[i] = 4 * (i as u8 % 32) + first + i as u8 / 32;
            i += 1;
        }
        index
    }
    const PICKS: [[u8; 64]; 2] = [index(0), index(2)];
    let picked = if first == 0 { &PICKS[0] } else { &PICKS[1] };
    // SAFETY: an array of 64 bytes and a register of as many; any bits are valid in both.
    unsafe { std::mem::transmute(*picked) }
}

/// Index of bytes for `permutex2var`: of a vector of low and one of high bytes, those of columns `16 * j` and up as the
/// upper halves of dwords.
#[inline(always)]
fn joined(j: usize) -> __m512i {
    const fn index(j: usize) -> [u8; 64] {
        let mut index = [0; 64];
        let mut i = 0;
        while i < 16 {
            index[4 * i + 2] = (16 * j + i) as u8;
            index[4 * i + 3] = (64 + 16 * j + i) as u8;
            i += 1;
        }
        index
    }
    const JOINED: [[u8; 64]; 4] = [index(0), index(1), index(2), index(3)];
    // SAFETY: an array of 64 bytes and a register of as many; any bits are valid in both.
    unsafe { std::mem::transmute(JOINED[j]) }
}

/// Index of bytes that puts byte `16 * j + i` at `4 * i + j`.
#[inline(always)]
fn interleaved() -> __m512i {
    const INDEX: [u8; 64] = {
        let mut index = [0; 64];
        let mut at = 0;
        while at < 64 {
            index[at] = (16 * (at % 4) + at / 4) as u8;
            at += 1;
        }
        index
    };
    // SAFETY: an array of 64 bytes and a register of as many; any bits are valid in both.
    unsafe { std::mem::transmute(INDEX) }
}

/// Moves the bit of byte `4 * i + j` to bit `16 * j + i`.
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
