//! Panels on AVX2: rows are turned into columns as they are stored, then decoded to float32, eight at a time.
//!
//! A code without its sign, moved to where float32 has exponent and mantissa, is its value times 2^-120, denormals
//! included. Inf and NaN are not: a tile that has any is packed element by element.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use gaudi_numerics::simd::Avx2;

use super::super::lanes::{Line, Step};
use super::super::pack::{self, COLUMNS, CodeTable, TILE_KEYS, Tile};
use super::prefetch;

/// Writes half of a line.
#[inline]
#[target_feature(enable = "avx2")]
fn put(to: &mut Line, half: usize, v: __m256i) {
    let to: &mut [u32; 8] = (&mut to.0[8 * half..8 * half + 8]).try_into().expect("8 cells");
    // SAFETY: the array is ours alone and has the 32 bytes that the store writes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), v) }
}

/// The lower eight codes as float32.
#[inline]
#[target_feature(enable = "avx2")]
fn decode(codes: __m128i) -> __m256i {
    let moved = _mm256_slli_epi32::<20>(_mm256_cvtepi8_epi32(codes));
    let bits = _mm256_and_si256(moved, _mm256_set1_epi32(0x87F0_0000_u32 as i32));
    let unit = _mm256_set1_ps(f32::from_bits((127 + 120) << 23));
    _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(bits), unit))
}

/// Eight bfloat16 words as float32.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(words: __m128i) -> __m256i {
    _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(words))
}

/// Whether any of sixteen codes is Inf or NaN.
#[inline]
#[target_feature(enable = "avx2")]
fn is_special(codes: __m128i, table: &CodeTable) -> bool {
    let magnitudes = _mm_and_si128(codes, _mm_set1_epi8(0x7F));
    _mm_movemask_epi8(_mm_cmpgt_epi8(magnitudes, _mm_set1_epi8(table.max_finite as i8))) != 0
}

/// Eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_bytes(from: &[u8]) -> __m128i {
    let from: &[u8; 8] = from[..8].try_into().expect("8 bytes");
    // SAFETY: the array has the 8 bytes that the load reads.
    unsafe { _mm_loadl_epi64(from.as_ptr().cast()) }
}

/// Eight words.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_words(from: &[u16]) -> __m128i {
    let from: &[u16; 8] = from[..8].try_into().expect("8 words");
    // SAFETY: the array has the 16 bytes that the load reads.
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

/// [`Lanes::pack_key_codes`](super::super::lanes::Lanes::pack_key_codes).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn key_codes(table: &CodeTable, tile: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
    let element = |n: usize, d: usize| table.words[usize::from(tile.now[n][d])];
    let whole = dim / 8 * 8;
    pack::keys::<Avx2>(element, tile.used, whole..dim, panel);
    for (eighth, rows) in tile.now.as_chunks::<8>().0.iter().enumerate().take(tile.used.div_ceil(8)) {
        for at in (0..whole).step_by(8) {
            let mut r = [_mm_setzero_si128(); 8];
            for (r, row) in r.iter_mut().zip(rows) {
                *r = eight_bytes(&row[at..]);
            }
            prefetch::keys::<_, 1>(tile, eighth * (dim / 8) + at / 8);
            // Bytes of two rows side by side, of four, of eight: two columns in a register.
            let (a, b) = (_mm_unpacklo_epi8(r[0], r[1]), _mm_unpacklo_epi8(r[2], r[3]));
            let (c, d) = (_mm_unpacklo_epi8(r[4], r[5]), _mm_unpacklo_epi8(r[6], r[7]));
            let (ab, cd) = (_mm_unpacklo_epi16(a, b), _mm_unpacklo_epi16(c, d));
            let (ab_high, cd_high) = (_mm_unpackhi_epi16(a, b), _mm_unpackhi_epi16(c, d));
            let columns = [
                _mm_unpacklo_epi32(ab, cd),
                _mm_unpackhi_epi32(ab, cd),
                _mm_unpacklo_epi32(ab_high, cd_high),
                _mm_unpackhi_epi32(ab_high, cd_high),
            ];
            for (i, pair) in columns.into_iter().enumerate() {
                if is_special(pair, table) {
                    return pack::keys::<Avx2>(element, tile.used, 0..dim, panel);
                }
                let d = at + 2 * i;
                put(&mut panel[d][eighth / 2], eighth % 2, decode(pair));
                put(&mut panel[d + 1][eighth / 2], eighth % 2, decode(_mm_srli_si128::<8>(pair)));
            }
        }
    }
}

/// [`Lanes::pack_key_words`](super::super::lanes::Lanes::pack_key_words).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn key_words(tile: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
    let whole = dim / 8 * 8;
    pack::keys::<Avx2>(|n, d| tile.now[n][d], tile.used, whole..dim, panel);
    for (eighth, rows) in tile.now.as_chunks::<8>().0.iter().enumerate().take(tile.used.div_ceil(8)) {
        for at in (0..whole).step_by(8) {
            let mut r = [_mm_setzero_si128(); 8];
            for (r, row) in r.iter_mut().zip(rows) {
                *r = eight_words(&row[at..]);
            }
            prefetch::keys::<_, 2>(tile, eighth * (dim / 8) + at / 8);
            let mut pairs = r;
            for i in 0..4 {
                pairs[i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
                pairs[4 + i] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
            }
            for (half, [a, b, c, d]) in pairs.as_chunks::<4>().0.iter().enumerate() {
                let (ab, cd) = (_mm_unpacklo_epi32(*a, *b), _mm_unpacklo_epi32(*c, *d));
                let (ab_high, cd_high) = (_mm_unpackhi_epi32(*a, *b), _mm_unpackhi_epi32(*c, *d));
                let columns = [
                    _mm_unpacklo_epi64(ab, cd),
                    _mm_unpackhi_epi64(ab, cd),
                    _mm_unpacklo_epi64(ab_high, cd_high),
                    _mm_unpackhi_epi64(ab_high, cd_high),
                ];
                for (i, column) in columns.into_iter().enumerate() {
                    put(&mut panel[at + 4 * half + i][eighth / 2], eighth % 2, widen(column));
                }
            }
        }
    }
}

/// [`Lanes::pack_value_codes`](super::super::lanes::Lanes::pack_value_codes).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn value_codes(table: &CodeTable, tile: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
    let element = |n: usize, d: usize| table.words[usize::from(tile.now[n][d])];
    let whole = dim / COLUMNS * COLUMNS;
    pack::values::<Avx2>(element, tile.used, whole, dim, panel);
    for at in (0..whole).step_by(COLUMNS) {
        for (n, row) in tile.now.iter().enumerate().take(tile.used) {
            prefetch::values(tile, n, at);
            for (i, codes) in row[at..at + COLUMNS].as_chunks::<8>().0.iter().enumerate() {
                let codes = eight_bytes(codes);
                if is_special(codes, table) {
                    return pack::values::<Avx2>(element, tile.used, 0, dim, panel);
                }
                put(&mut panel[at + n][i / 2], i % 2, decode(codes));
            }
        }
    }
}

/// [`Lanes::pack_value_words`](super::super::lanes::Lanes::pack_value_words).
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn value_words(tile: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
    let whole = dim / COLUMNS * COLUMNS;
    pack::values::<Avx2>(|n, d| tile.now[n][d], tile.used, whole, dim, panel);
    for (at, panel) in (0..whole).step_by(COLUMNS).zip(panel.chunks_exact_mut(TILE_KEYS)) {
        for (n, (lines, row)) in panel.iter_mut().zip(&tile.now).enumerate().take(tile.used) {
            prefetch::values(tile, n, at);
            for (i, words) in row[at..at + COLUMNS].as_chunks::<8>().0.iter().enumerate() {
                put(&mut lines[i / 2], i % 2, widen(eight_words(words)));
            }
        }
    }
}
