//! The rows that a sequence's tokens are in.

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::lanes::{Lanes, Step};
use super::pack::{CodeTable, TILE_KEYS, Tile};
use super::workspace::take;
use crate::device::PlaneLayout;
use crate::device::emulated::EmulatedPlane;

/// The elements of keys or values.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Elements<'a> {
    Codes(&'a [u8]),
    Words(&'a [bf16]),
    /// bfloat16 values, widened.
    Floats(&'a [f32]),
}

/// Keys or values of a sequence: rows of heads, in the blocks of a plane or in a tensor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    elements: Elements<'a>,
    pub(super) heads: usize,
    /// Elements of a head, and how many of them are used, from the first.
    head_dim: usize,
    pub(super) dim: usize,
    blocks: &'a [usize],
    block_size_tokens: usize,
}

/// Where the rows of a tile start; `None` behind the last token.
pub(super) type Starts = [Option<usize>; TILE_KEYS];

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

impl<'a> Rows<'a> {
    /// The first `dim` elements of each head, of the tokens in these blocks in order.
    pub(super) fn of_plane(
        plane: &'a EmulatedPlane,
        layout: &PlaneLayout,
        dim: usize,
        blocks: &'a [usize],
    ) -> Self {
        let elements = match plane {
            EmulatedPlane::Fp8(codes) => Elements::Codes(codes),
            EmulatedPlane::Bf16(values) => Elements::Words(values),
            EmulatedPlane::F32(values) => Elements::Floats(values),
        };
        let block_size_tokens = layout.block_size_tokens;
        Self { elements, heads: layout.heads, head_dim: layout.dim, dim, blocks, block_size_tokens }
    }

    /// A tensor `[tokens, heads, dim]`: one block without an end.
    pub(super) fn of_tensor(elements: Elements<'a>, heads: usize, dim: usize) -> Self {
        Self { elements, heads, head_dim: dim, dim, blocks: &[0], block_size_tokens: usize::MAX }
    }

    /// Elements of a token.
    fn row(&self) -> usize {
        self.heads * self.head_dim
    }

    /// Of the tokens from `first` up to `end`, as many as fit a tile.
    pub(super) fn starts(&self, first: usize, end: usize) -> Starts {
        let size = self.block_size_tokens;
        let mut starts = [None; TILE_KEYS];
        let mut token = first;
        let last = end.min(first + TILE_KEYS);
        while token < last {
            // A run within a block.
            let (block, offset) = (self.blocks[token / size], token % size);
            let run = (size - offset).min(last - token);
            for i in 0..run {
                starts[token - first + i] = Some((block * size + offset + i) * self.row());
            }
            token += run;
        }
        starts
    }

    /// Packs a tile of a head, and asks for the next one.
    #[inline(always)]
    pub(super) fn pack<L: Lanes>(
        &self,
        l: L,
        table: &CodeTable,
        side: Side,
        (starts, next, head): (&Starts, &Starts, usize),
        buffers: &mut PackBuffers<'_>,
        panel: &mut [Step],
    ) {
        let (dim, offset) = (self.dim, head * self.head_dim);
        match self.elements {
            Elements::Codes(codes) => {
                let none = &buffers.no_codes[..dim];
                let rows = Tile {
                    now: gather(codes, starts, offset, none),
                    next: gather(codes, next, offset, none),
                };
                match side {
                    Side::Keys => l.pack_key_codes(table, &rows, dim, panel),
                    Side::Values => l.pack_value_codes(table, &rows, dim, panel),
                }
            }
            Elements::Words(values) => {
                let (words, none) = (values.reinterpret_cast(), &buffers.no_words[..dim]);
                let rows = Tile {
                    now: gather(words, starts, offset, none),
                    next: gather(words, next, offset, none),
                };
                pack_words(l, side, &rows, dim, panel);
            }
            Elements::Floats(values) => {
                let narrowed = take(buffers.narrowed, TILE_KEYS * dim, 0);
                for (row, start) in narrowed.chunks_exact_mut(dim).zip(starts) {
                    match start {
                        Some(start) => {
                            let from = &values[start + offset..start + offset + dim];
                            // These are bfloat16 values.
                            row.iter_mut().zip(from).for_each(|(to, v)| *to = bf16::from_f32(*v).to_bits());
                        }
                        None => row.fill(0),
                    }
                }
                let mut now = [&[][..]; TILE_KEYS];
                now.iter_mut().zip(narrowed.chunks_exact(dim)).for_each(|(row, from)| *row = from);
                let rows = Tile { now, next: now };
                pack_words(l, side, &rows, dim, panel);
            }
        }
    }
}

#[inline(always)]
fn pack_words<L: Lanes>(l: L, side: Side, rows: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
    match side {
        Side::Keys => l.pack_key_words(rows, dim, panel),
        Side::Values => l.pack_value_words(rows, dim, panel),
    }
}

#[inline(always)]
fn gather<'a, T>(plane: &'a [T], starts: &Starts, offset: usize, none: &'a [T]) -> [&'a [T]; TILE_KEYS] {
    let mut rows = [none; TILE_KEYS];
    for (row, start) in rows.iter_mut().zip(starts) {
        if let Some(start) = start {
            *row = &plane[start + offset..][..none.len()];
        }
    }
    rows
}
