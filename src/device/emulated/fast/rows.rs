//! The tiles of a sequence's rows, packed for a product.

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::super::common::element_slice::ElementSlice;
use super::super::common::sequence_rows::SequenceRows;
use super::lanes::{Lanes, Step};
use super::pack::{CodeTable, TILE_KEYS, Tile};
use super::workspace::take;

/// Where the tokens of a tile are: their slots, of those that there are.
pub(super) struct Slots {
    at: [usize; TILE_KEYS],
    used: usize,
}

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Buffers that packing needs.
pub(super) struct PackBuffers<'a> {
    pub(super) narrowed: &'a mut Vec<u16>,
    pub(super) no_codes: &'a [u8],
    pub(super) no_words: &'a [u16],
}

/// What a panel holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Keys,
    Values,
}

impl SequenceRows<'_> {
    /// The slots of the tokens from `first` up to `end`, as many as fit a tile.
    #[inline]
    pub(super) fn slots(&self, first: usize, end: usize) -> Slots {
        let size = self.block_size_tokens;
        let mut at = [0; TILE_KEYS];
        let mut token = first;
        let last = end.min(first + TILE_KEYS);
        while token < last {
            // A run within a block.
            let (block, offset) = (self.blocks[token / size], token % size);
            let run = (size - offset).min(last - token);
            let slots = &mut at[token - first..][..run];
            slots.iter_mut().enumerate().for_each(|(i, slot)| *slot = block * size + offset + i);
            token += run;
        }
        Slots { at, used: last.saturating_sub(first) }
    }

    /// Packs the tokens of a tile, of one head, and asks for those of the next tile. Returns how many there are; a panel
    /// of keys has more columns, one of values more steps, up to 64, which hold anything.
    #[inline(always)]
    pub(super) fn pack<L: Lanes>(
        &self,
        l: L,
        table: &CodeTable,
        side: Side,
        (slots, next, head): (&Slots, &Slots, usize),
        buffers: &mut PackBuffers<'_>,
        panel: &mut [Step],
    ) -> usize {
        let (dim, row, offset) = (self.dim, self.stride(), head * self.head_dim);
        match self.elements {
            ElementSlice::Codes(codes) => {
                let place = (row, offset, &buffers.no_codes[..dim]);
                let rows = tile(codes, slots, next, place);
                match side {
                    Side::Keys => l.pack_key_codes(table, &rows, dim, panel),
                    Side::Values => l.pack_value_codes(table, &rows, dim, panel),
                }
            }
            ElementSlice::Words(values) => {
                let place = (row, offset, &buffers.no_words[..dim]);
                pack_words(l, side, &tile(values.reinterpret_cast(), slots, next, place), dim, panel);
            }
            ElementSlice::Floats(values) => {
                let narrowed = take(buffers.narrowed, TILE_KEYS * dim, 0);
                for (to, slot) in narrowed.chunks_exact_mut(dim).zip(&slots.at[..slots.used]) {
                    let from = &values[slot * row + offset..][..dim];
                    // These are bfloat16 values.
                    to.iter_mut().zip(from).for_each(|(to, v)| *to = bf16::from_f32(*v).to_bits());
                }
                let mut now = [&buffers.no_words[..dim]; TILE_KEYS];
                now[..slots.used]
                    .iter_mut()
                    .zip(narrowed.chunks_exact(dim))
                    .for_each(|(row, from)| *row = from);
                pack_words(l, side, &Tile { now, used: slots.used, next: None }, dim, panel);
            }
        }
        slots.used
    }
}

#[inline(always)]
fn pack_words<L: Lanes>(l: L, side: Side, rows: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
    match side {
        Side::Keys => l.pack_key_words(rows, dim, panel),
        Side::Values => l.pack_value_words(rows, dim, panel),
    }
}

/// The rows of a tile, and those of the next one where a row is long: short ones lie close together, and the hardware sees
/// them coming. `none` stands where there is no row.
#[inline(always)]
fn tile<'a, T>(
    elements: &'a [T],
    slots: &Slots,
    next: &Slots,
    (row, offset, none): (usize, usize, &'a [T]),
) -> Tile<'a, T> {
    let gather = |slots: &Slots| {
        let mut rows = [none; TILE_KEYS];
        for (to, slot) in rows.iter_mut().zip(&slots.at[..slots.used]) {
            *to = &elements[slot * row + offset..][..none.len()];
        }
        rows
    };
    let next = (size_of_val(none) >= LINE_BYTES).then(|| gather(next));
    Tile { now: gather(slots), used: slots.used, next }
}
