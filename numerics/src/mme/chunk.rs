//! A part of the right operand, decoded in the order in which the kernels read it.

use super::decode::{Decoder, ZERO};
use super::ops::ProductOps;
use super::packed_a::CHUNK;
use super::source::Source;

/// An element type of a stored matrix.
trait Element: Copy + Default {
    fn spread<S: ProductOps>(
        simd: S,
        decoder: &Decoder,
        codes: &[Self],
        values: &mut [f32],
        exps: &mut [u8],
    ) -> u64;
    fn transpose<S: ProductOps>(simd: S, rows: &[&[Self]], depth: usize, tile: &mut [Self]);
}

impl Element for u8 {
    #[inline(always)]
    fn spread<S: ProductOps>(
        simd: S,
        decoder: &Decoder,
        codes: &[u8],
        values: &mut [f32],
        exps: &mut [u8],
    ) -> u64 {
        simd.spread_fp8(decoder, codes, values, exps)
    }

    #[inline(always)]
    fn transpose<S: ProductOps>(simd: S, rows: &[&[u8]], depth: usize, tile: &mut [u8]) {
        simd.transpose_bytes(rows, depth, tile);
    }
}

impl Element for u16 {
    #[inline(always)]
    fn spread<S: ProductOps>(
        simd: S,
        decoder: &Decoder,
        codes: &[u16],
        values: &mut [f32],
        exps: &mut [u8],
    ) -> u64 {
        simd.spread_bf16(decoder, codes, values, exps)
    }

    #[inline(always)]
    fn transpose<S: ProductOps>(simd: S, rows: &[&[u16]], depth: usize, tile: &mut [u16]) {
        simd.transpose_words(rows, depth, tile);
    }
}

/// A chunk of a panel of B, decoded.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) width: usize,
    /// Rows in use.
    pub(super) depth: usize,
    /// `[k][width]`.
    pub(super) values: Vec<f32>,
    /// `[k][width]`, interleaved as [`ProductOps`] says.
    pub(super) exps: Vec<u8>,
    /// Columns in use, a bit each.
    pub(super) used: u64,
    /// Columns that the kernels cannot do.
    pub(super) special: u64,
    bytes: Vec<u8>,
    words: Vec<u16>,
}

impl Chunk {
    /// Makes room for panels of `width` columns.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
        self.values.resize(CHUNK * width, 0.0);
        self.exps.resize(CHUNK * width, 0);
        self.bytes.resize(CHUNK * width, 0);
        self.words.resize(CHUNK * width, 0);
    }

    /// Takes `used` columns of B from `column`, and as much of the common dimension from `k` as fits.
    #[inline(always)]
    pub(super) fn pack<S: ProductOps>(
        &mut self,
        simd: S,
        b: &Source<'_>,
        k: usize,
        column: usize,
        used: usize,
    ) {
        self.depth = CHUNK.min(b.depth - k);
        self.used = if used == 64 { u64::MAX } else { (1 << used) - 1 };
        self.special = 0;
        if b.rows.fp8.is_empty() {
            let mut tile = std::mem::take(&mut self.words);
            self.pack_rows(simd, b, &b.rows.words, &mut tile, k, column, used);
            self.words = tile;
        } else {
            let mut tile = std::mem::take(&mut self.bytes);
            self.pack_rows(simd, b, &b.rows.fp8, &mut tile, k, column, used);
            self.bytes = tile;
        }
        // The last group is padded with zeros.
        let end = self.depth * self.width;
        let padded = self.depth.next_multiple_of(16) * self.width;
        self.values[end..padded].fill(0.0);
        self.exps[end..padded].fill(ZERO as u8);
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn pack_rows<S: ProductOps, T: Element>(
        &mut self,
        simd: S,
        b: &Source<'_>,
        rows: &[&[T]],
        tile: &mut [T],
        k: usize,
        column: usize,
        used: usize,
    ) {
        let width = 4 * S::LANES;
        if b.by_column {
            if used < width {
                tile.fill(T::default());
            }
            let mut columns: [&[T]; 64] = [&[]; 64];
            for (to, from) in columns.iter_mut().zip(&rows[column..column + used]) {
                *to = &from[k..k + self.depth];
            }
            T::transpose(simd, &columns[..used], self.depth, tile);
        }
        let mut padded = [T::default(); 64];
        for i in 0..self.depth {
            let codes = if b.by_column {
                &tile[i * width..(i + 1) * width]
            } else {
                let row = &rows[k + i][column..column + used];
                if used == width {
                    row
                } else {
                    padded[..used].copy_from_slice(row);
                    &padded[..width]
                }
            };
            let values = &mut self.values[i * width..(i + 1) * width];
            let exps = &mut self.exps[i * width..(i + 1) * width];
            self.special |= T::spread(simd, &b.decoder, codes, values, exps);
        }
    }
}
