//! Panels on AVX-512: codes are decoded by table in registers, and rows are turned into columns on the way.
//!
//! Everything works on pairs of bfloat16 numbers that follow each other along the sum, one in each 32-bit lane. A panel
//! of float32 numbers is made of the same pairs, each split in two.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::lanes::{Line, Step};
use super::super::pack::{COLUMNS, CodeTable, TILE_KEYS, Tile};
use super::prefetch;

/// A table in registers.
#[derive(Clone, Copy)]
struct Words {
    low: [__m512i; 2],
    high: [__m512i; 2],
}

impl Words {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(table: &CodeTable) -> Self {
        let half = |bytes: &[u8; 128], at: usize| {
            let half: &[u8; 64] = bytes[at..at + 64].try_into().expect("64 bytes");
            // SAFETY: the array has the 64 bytes that the load reads.
            unsafe { _mm512_loadu_si512(half.as_ptr().cast()) }
        };
        Self {
            low: [half(&table.low, 0), half(&table.low, 64)],
            high: [half(&table.high, 0), half(&table.high, 64)],
        }
    }

    /// The words of 64 codes: those of the lower eight codes of each 128-bit lane, and of the upper eight.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn decode(self, codes: __m512i) -> [__m512i; 2] {
        let low = _mm512_permutex2var_epi8(self.low[0], codes, self.low[1]);
        let high = _mm512_permutex2var_epi8(self.high[0], codes, self.high[1]);
        // high | codes & 0x80
        let high = _mm512_ternarylogic_epi32::<0xF8>(high, codes, _mm512_set1_epi8(-128));
        [_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)]
    }
}

/// Writes pairs to line `line` of step `step` of pairs.
#[inline]
#[target_feature(enable = "avx512f")]
fn put<const PAIRS: bool>(panel: &mut [Step], step: usize, line: usize, pairs: __m512i) {
    if PAIRS {
        store(&mut panel[step][line], pairs);
    } else {
        store(&mut panel[2 * step][line], _mm512_slli_epi32::<16>(pairs));
        // The last number of an odd sum is followed by none.
        if let Some(lines) = panel.get_mut(2 * step + 1) {
            store(&mut lines[line], _mm512_and_si512(pairs, _mm512_set1_epi32(0xFFFF_0000_u32 as i32)));
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(to: &mut Line, v: __m512i) {
    // SAFETY: the line is ours alone and has the 64 bytes that the store writes.
    unsafe { _mm512_storeu_si512(to.0.as_mut_ptr().cast(), v) }
}

/// Sixteen bytes of each of sixteen rows: register `m` has those of rows `m`, `m + 4`, `m + 8` and `m + 12` in its lanes.
///
/// # Safety
/// Sixteen bytes can be read at `at` bytes from each pointer.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_rows(rows: &[*const u8; 16], at: usize) -> [__m512i; 4] {
    let mut out = [_mm512_setzero_si512(); 4];
    for (m, out) in out.iter_mut().enumerate() {
        // SAFETY: the caller vouches for sixteen bytes at each of these addresses.
        unsafe {
            let lane = |l: usize| _mm512_broadcast_i32x4(_mm_loadu_si128(rows[4 * l + m].add(at).cast()));
            let first = _mm512_mask_mov_epi64(lane(0), 0b0000_1100, lane(1));
            let second = _mm512_mask_mov_epi64(first, 0b0011_0000, lane(2));
            *out = _mm512_mask_mov_epi64(second, 0b1100_0000, lane(3));
        }
    }
    out
}

/// Pointers to rows of `dim` elements. (Not `map`: it calls its closure, for that has the instruction set and `map` has not.)
#[inline(always)]
fn pointers<T>(rows: &[&[T]; 16], dim: usize) -> [*const u8; 16] {
    let mut pointers = [std::ptr::null(); 16];
    for (to, row) in pointers.iter_mut().zip(rows) {
        *to = row[..dim].as_ptr().cast();
    }
    pointers
}

/// Pointers to sixteen rows whose bytes from `at` on, `len` of them, are copied to `tail` and padded with zeros.
#[inline]
fn pad<'a, T: Copy>(
    rows: &[&[T]],
    at: usize,
    len: usize,
    zero: T,
    tail: &'a mut [[T; 16]; 16],
) -> &'a [[T; 16]; 16] {
    for (tail, row) in tail.iter_mut().zip(rows) {
        *tail = [zero; 16];
        tail[..len].copy_from_slice(&row[at..at + len]);
    }
    tail
}

/// Eight pairs of each of sixteen keys, from sixteen bytes a row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn code_columns(words: Words, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 8] {
    // Pairs of codes of the four keys of a lane side by side, two pairs in a register; the decoding does the rest.
    let (ab, cd) = (_mm512_unpacklo_epi16(a, b), _mm512_unpacklo_epi16(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi16(a, b), _mm512_unpackhi_epi16(c, d));
    let [p0, p1] = words.decode(_mm512_unpacklo_epi32(ab, cd));
    let [p2, p3] = words.decode(_mm512_unpackhi_epi32(ab, cd));
    let [p4, p5] = words.decode(_mm512_unpacklo_epi32(ab_high, cd_high));
    let [p6, p7] = words.decode(_mm512_unpackhi_epi32(ab_high, cd_high));
    [p0, p1, p2, p3, p4, p5, p6, p7]
}

/// [`Lanes::pack_key_codes`](super::super::lanes::Lanes::pack_key_codes).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn key_codes<const PAIRS: bool>(
    table: &CodeTable,
    tile: &Tile<'_, u8>,
    dim: usize,
    panel: &mut [Step],
) {
    let words = Words::new(table);
    let panel = &mut panel[..if PAIRS { dim.div_ceil(2) } else { dim }];
    for (line, rows) in tile.now.as_chunks::<16>().0.iter().enumerate().take(tile.used.div_ceil(16)) {
        let from = pointers(rows, dim);
        for at in (0..dim / 16 * 16).step_by(16) {
            prefetch::keys::<_, 4>(tile, line * (dim / 16) + at / 16);
            // SAFETY: each row has `dim` bytes, and `at + 16` is no more.
            let columns = code_columns(words, unsafe { load_rows(&from, at) });
            for (i, pairs) in columns.into_iter().enumerate() {
                put::<PAIRS>(panel, at / 2 + i, line, pairs);
            }
        }
        let (at, left) = (dim / 16 * 16, dim % 16);
        if left > 0 {
            let mut tail = [[0; 16]; 16];
            let from = pad(rows, at, left, 0, &mut tail).each_ref().map(|row| row.as_ptr());
            // SAFETY: each pointer is to sixteen bytes.
            let columns = code_columns(words, unsafe { load_rows(&from, 0) });
            for (i, pairs) in columns.into_iter().enumerate().take(left.div_ceil(2)) {
                put::<PAIRS>(panel, at / 2 + i, line, pairs);
            }
        }
    }
}

/// Four pairs of each of sixteen keys, from sixteen bytes a row.
#[inline]
#[target_feature(enable = "avx512f")]
fn word_columns([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// [`Lanes::pack_key_words`](super::super::lanes::Lanes::pack_key_words).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn key_words<const PAIRS: bool>(tile: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
    let panel = &mut panel[..if PAIRS { dim.div_ceil(2) } else { dim }];
    for (line, rows) in tile.now.as_chunks::<16>().0.iter().enumerate().take(tile.used.div_ceil(16)) {
        let from = pointers(rows, dim);
        for at in (0..dim / 8 * 8).step_by(8) {
            prefetch::keys::<_, 4>(tile, line * (dim / 8) + at / 8);
            // SAFETY: each row has `dim` words, and `at + 8` is no more.
            let columns = word_columns(unsafe { load_rows(&from, 2 * at) });
            for (i, pairs) in columns.into_iter().enumerate() {
                put::<PAIRS>(panel, at / 2 + i, line, pairs);
            }
        }
        let (at, left) = (dim / 8 * 8, dim % 8);
        if left > 0 {
            let mut tail = [[0; 16]; 16];
            let from = pad(rows, at, left, 0, &mut tail).each_ref().map(|row| row.as_ptr().cast());
            // SAFETY: each pointer is to sixteen words.
            let columns = word_columns(unsafe { load_rows(&from, 0) });
            for (i, pairs) in columns.into_iter().enumerate().take(left.div_ceil(2)) {
                put::<PAIRS>(panel, at / 2 + i, line, pairs);
            }
        }
    }
}

/// [`Lanes::pack_value_codes`](super::super::lanes::Lanes::pack_value_codes).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn value_codes<const PAIRS: bool>(
    table: &CodeTable,
    tile: &Tile<'_, u8>,
    dim: usize,
    panel: &mut [Step],
) {
    let words = Words::new(table);
    let steps = if PAIRS { TILE_KEYS / 2 } else { TILE_KEYS };
    for (at, panel) in (0..dim).step_by(COLUMNS).zip(panel.chunks_exact_mut(steps)) {
        let kept = u64::MAX >> (64 - (dim - at).min(64));
        for (pair, rows) in tile.now.as_chunks::<2>().0.iter().enumerate().take(tile.used.div_ceil(2)) {
            let load = |row: &[u8]| {
                // SAFETY: the mask keeps the load within the row.
                unsafe { _mm512_maskz_loadu_epi8(kept, row[at..dim].as_ptr().cast()) }
            };
            let (even, odd) = (load(rows[0]), load(rows[1]));
            prefetch::values(tile, 2 * pair, at);
            prefetch::values(tile, 2 * pair + 1, at);
            if dim - at <= COLUMNS / 2 {
                // Eight columns to each 128-bit lane.
                let spread =
                    |codes| _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), codes);
                let lines = words.decode(_mm512_unpacklo_epi8(spread(even), spread(odd)));
                for (line, pairs) in lines.into_iter().enumerate() {
                    put::<PAIRS>(panel, pair, line, pairs);
                }
                continue;
            }
            // Pairs of codes, in groups of four columns after two unpackings.
            let [l0, l1] = words.decode(_mm512_unpacklo_epi8(even, odd));
            let [l2, l3] = words.decode(_mm512_unpackhi_epi8(even, odd));
            for (line, pairs) in [l0, l1, l2, l3].into_iter().enumerate() {
                put::<PAIRS>(panel, pair, line, pairs);
            }
        }
    }
}

/// [`Lanes::pack_value_words`](super::super::lanes::Lanes::pack_value_words).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn value_words<const PAIRS: bool>(tile: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
    let steps = if PAIRS { TILE_KEYS / 2 } else { TILE_KEYS };
    for (at, panel) in (0..dim).step_by(COLUMNS).zip(panel.chunks_exact_mut(steps)) {
        let kept = u64::MAX >> (64 - (dim - at).min(64));
        for (pair, rows) in tile.now.as_chunks::<2>().0.iter().enumerate().take(tile.used.div_ceil(2)) {
            let load = |row: &[u16]| {
                let row = &row[at..dim];
                let upper = row.get(32..).unwrap_or_default();
                // SAFETY: the masks keep the loads within the row.
                let (x, y) = unsafe {
                    (
                        _mm512_maskz_loadu_epi16(kept as u32, row.as_ptr().cast()),
                        _mm512_maskz_loadu_epi16((kept >> 32) as u32, upper.as_ptr().cast()),
                    )
                };
                if dim - at <= COLUMNS / 2 {
                    return (x, y);
                }
                // The lower and the upper eight words of each sixteen columns.
                (_mm512_shuffle_i64x2::<0b10_00_10_00>(x, y), _mm512_shuffle_i64x2::<0b11_01_11_01>(x, y))
            };
            let (even, odd) = (load(rows[0]), load(rows[1]));
            prefetch::values(tile, 2 * pair, at);
            prefetch::values(tile, 2 * pair + 1, at);
            let lines = [
                _mm512_unpacklo_epi16(even.0, odd.0),
                _mm512_unpackhi_epi16(even.0, odd.0),
                _mm512_unpacklo_epi16(even.1, odd.1),
                _mm512_unpackhi_epi16(even.1, odd.1),
            ];
            let lines = lines.into_iter().take(if dim - at <= COLUMNS / 2 { 2 } else { 4 });
            for (line, pairs) in lines.enumerate() {
                put::<PAIRS>(panel, pair, line, pairs);
            }
        }
    }
}
