//! Asking for the next tile while one is packed, a few cache lines at a time: the rows of a head are far apart, so the
//! hardware does not see them coming, and all at once would fill its queues.
#![allow(unsafe_code)]

use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};

use super::super::pack::{COLUMNS, TILE_KEYS, Tile};

/// Asks for `LINES` cache lines of the next tile, the same of all rows first. A packing of keys that takes that many
/// bytes in each of its steps has asked for everything at its end.
#[inline(always)]
pub(super) fn keys<T, const LINES: usize>(tile: &Tile<'_, T>, step: usize) {
    let Some(next) = &tile.next else { return };
    for number in LINES * step..LINES * (step + 1) {
        let row = next[number % TILE_KEYS];
        let from = row.as_ptr().cast::<i8>().wrapping_add(number / TILE_KEYS * 64);
        // SAFETY: SSE, which every x86-64 has; a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from) }
    }
}

/// Asks for 64 columns of a row of the next tile.
#[inline(always)]
pub(super) fn values<T>(tile: &Tile<'_, T>, row: usize, column: usize) {
    let Some(next) = &tile.next else { return };
    for byte in (0..COLUMNS * size_of::<T>()).step_by(64) {
        let from = next[row].as_ptr().wrapping_add(column).cast::<i8>().wrapping_add(byte);
        // SAFETY: SSE, which every x86-64 has; a prefetch may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from) }
    }
}
