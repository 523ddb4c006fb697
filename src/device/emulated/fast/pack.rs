//! Panels: the right operand of a product, decoded, as the products take it.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

use std::ops::Range;

use super::lanes::{Lanes, Line, Step};
use crate::fp8::Format;

/// Keys of a tile.
pub(super) const TILE_KEYS: usize = 64;
/// Columns of a panel.
pub(super) const COLUMNS: usize = 64;

/// Rows of a head, of the keys of a tile.
pub(super) struct Tile<'a, T> {
    /// Equally long.
    pub(super) now: [&'a [T]; TILE_KEYS],
    /// How many there are; those behind are zero.
    pub(super) used: usize,
    /// Those of the next tile, to ask for on the way.
    pub(super) next: Option<[&'a [T]; TILE_KEYS]>,
}

/// The bfloat16 word of each code; every e4m3 value has one.
pub(super) struct CodeTable {
    pub(super) words: [u16; 256],
    /// Low and high bytes of the words of codes `0x00` to `0x7F`; a negative code has the sign bit on top.
    pub(super) low: [u8; 128],
    pub(super) high: [u8; 128],
    /// Larger magnitudes are Inf or NaN.
    pub(super) max_finite: u8,
}

impl CodeTable {
    pub(super) const fn new(format: Format) -> Self {
        let (decoded, mut words) = (format.decode_table(), [0; 256]);
        let (mut low, mut high) = ([0; 128], [0; 128]);
        let mut code = 0;
        while code < 256 {
            words[code] = (decoded[code] >> 16) as u16;
            if code < 128 {
                low[code] = words[code] as u8;
                high[code] = (words[code] >> 8) as u8;
            }
            code += 1;
        }
        Self { words, low, high, max_finite: format.max_code() }
    }
}

/// A cell from two numbers along the sum, or from the first of them.
#[inline(always)]
fn cell<L: Lanes>(first: u16, second: impl FnOnce() -> u16) -> u32 {
    if L::PAIRS { u32::from(first) | u32::from(second()) << 16 } else { u32::from(first) << 16 }
}

/// The steps of a key panel for some of the elements, from an even one on, element by element.
#[inline(always)]
pub(super) fn keys<L: Lanes>(
    word: impl Fn(usize, usize) -> u16,
    used: usize,
    elements: Range<usize>,
    panel: &mut [Step],
) {
    let per_step = if L::PAIRS { 2 } else { 1 };
    for d in elements.clone().step_by(per_step) {
        let lines = &mut panel[d / per_step];
        for n in 0..used {
            let second = || if d + 1 < elements.end { word(n, d + 1) } else { 0 };
            lines[n / 16].0[n % 16] = cell::<L>(word(n, d), second);
        }
    }
}

/// Value panels from column `first` on, where one starts, element by element.
#[inline(always)]
pub(super) fn values<L: Lanes>(
    word: impl Fn(usize, usize) -> u16,
    used: usize,
    first: usize,
    dim: usize,
    panel: &mut [Step],
) {
    let per_step = if L::PAIRS { 2 } else { 1 };
    let panels = panel.chunks_exact_mut(TILE_KEYS / per_step).skip(first / COLUMNS);
    for (first, panel) in (first..dim).step_by(COLUMNS).zip(panels) {
        for (step, lines) in panel.iter_mut().enumerate().take(used.div_ceil(per_step)) {
            let n = step * per_step;
            *lines = [Line::ZERO; 4];
            let columns = COLUMNS.min(dim - first);
            for d in first..first + columns {
                let (line, lane) = L::place(d - first, L::lines(columns));
                lines[line].0[lane] = cell::<L>(word(n, d), || word(n + 1, d));
            }
        }
    }
}
