//! Operands in the order and the form that the kernels read.

use super::decode::{Decoder, Side, ZERO};
use super::kernel::{bytes, wide};
use super::reference::Rules;
use super::simd::Simd;
use crate::fp8::Format;

/// Elements of the common dimension that are packed at a time: a panel of them stays in the first-level cache. A
/// multiple of every group size.
pub(super) const CHUNK: usize = 64;

/// The rows of a stored matrix.
pub(super) enum Rows<'a> {
    Fp8(Vec<&'a [u8]>),
    Bf16(Vec<&'a [u16]>),
}

/// An element type of a stored matrix.
trait Element: Copy + Default {
    fn spread<S: Simd>(
        simd: S,
        decoder: &Decoder,
        codes: &[Self],
        values: &mut [f32],
        exps: &mut [u8],
    ) -> u64;
    fn transpose<S: Simd>(simd: S, rows: &[&[Self]], depth: usize, tile: &mut [Self]);
}

impl Element for u8 {
    #[inline(always)]
    fn spread<S: Simd>(simd: S, decoder: &Decoder, codes: &[u8], values: &mut [f32], exps: &mut [u8]) -> u64 {
        simd.spread_fp8(decoder, codes, values, exps)
    }

    #[inline(always)]
    fn transpose<S: Simd>(simd: S, rows: &[&[u8]], depth: usize, tile: &mut [u8]) {
        simd.transpose_bytes(rows, depth, tile);
    }
}

impl Element for u16 {
    #[inline(always)]
    fn spread<S: Simd>(
        simd: S,
        decoder: &Decoder,
        codes: &[u16],
        values: &mut [f32],
        exps: &mut [u8],
    ) -> u64 {
        simd.spread_bf16(decoder, codes, values, exps)
    }

    #[inline(always)]
    fn transpose<S: Simd>(simd: S, rows: &[&[u16]], depth: usize, tile: &mut [u16]) {
        simd.transpose_words(rows, depth, tile);
    }
}

/// A, decoded once for the whole product.
pub(super) struct PackedA {
    /// The common dimension, and that rounded up to whole chunks' groups.
    pub(super) depth: usize,
    stride: usize,
    values: Vec<f32>,
    exps: Vec<u32>,
    wide: Vec<f64>,
    special: Vec<bool>,
}

/// One chunk of a row of A.
#[derive(Clone, Copy)]
pub(super) struct RowA<'a> {
    pub(super) values: &'a [f32],
    /// Exponent bytes, four copies each.
    pub(super) exps: &'a [u32],
    /// The values as doubles and scaled, for Gaudi2's bfloat16 rules alone.
    pub(super) wide: &'a [f64],
    /// Whether the kernels cannot do it.
    pub(super) special: bool,
}

impl PackedA {
    pub(super) fn new(rules: Rules, decoder: &Decoder, rows: &Rows<'_>, depth: usize) -> Self {
        match rows {
            Rows::Fp8(rows) => Self::decode(rules, rows, depth, |code| decoder.fp8(code)),
            Rows::Bf16(rows) => Self::decode(rules, rows, depth, |code| decoder.bf16(code)),
        }
    }

    fn decode<T: Copy>(
        rules: Rules,
        rows: &[&[T]],
        depth: usize,
        decode: impl Fn(T) -> (f32, u8, bool),
    ) -> Self {
        let stride = depth.next_multiple_of(rules.group());
        let chunks = depth.div_ceil(CHUNK);
        let mut packed = Self {
            depth,
            stride,
            values: vec![0.0; rows.len() * stride],
            exps: vec![bytes(ZERO); rows.len() * stride],
            wide: Vec::new(),
            special: vec![false; rows.len() * chunks],
        };
        for (r, row) in rows.iter().enumerate() {
            let at = r * stride;
            let (values, exps) = (&mut packed.values[at..at + depth], &mut packed.exps[at..at + depth]);
            let chunked = row.chunks(CHUNK).zip(values.chunks_mut(CHUNK)).zip(exps.chunks_mut(CHUNK));
            for (index, ((codes, values), exps)) in chunked.enumerate() {
                let mut special = false;
                for ((code, value), word) in codes.iter().zip(values).zip(exps) {
                    let (decoded, exp, odd) = decode(*code);
                    *value = decoded;
                    *word = bytes(exp as i8);
                    special |= odd;
                }
                packed.special[r * chunks + index] = special;
            }
        }
        if rules == Rules::Gaudi2Bf16 {
            packed.wide = packed.values.iter().map(|value| wide(*value)).collect();
        }
        packed
    }

    /// Chunk `index` of row `row`.
    #[inline(always)]
    pub(super) fn row(&self, row: usize, index: usize) -> RowA<'_> {
        let from = row * self.stride + index * CHUNK;
        let to = (from + CHUNK).min((row + 1) * self.stride);
        RowA {
            values: &self.values[from..to],
            exps: &self.exps[from..to],
            wide: if self.wide.is_empty() { &[] } else { &self.wide[from..to] },
            special: self.special[row * self.depth.div_ceil(CHUNK) + index],
        }
    }
}

/// B as it is stored.
pub(super) struct Source<'a> {
    pub(super) rows: Rows<'a>,
    /// Whether a stored row is a column of B as a `[K, N]` matrix.
    pub(super) by_column: bool,
    pub(super) depth: usize,
    pub(super) decoder: Decoder,
}

/// A chunk of a panel of B, decoded.
pub(super) struct Chunk {
    pub(super) width: usize,
    /// Rows in use.
    pub(super) depth: usize,
    /// `[k][width]`.
    pub(super) values: Vec<f32>,
    /// `[k][width]`, interleaved as [`Simd`] says.
    pub(super) exps: Vec<u8>,
    /// Columns in use, a bit each.
    pub(super) used: u64,
    /// Columns that the kernels cannot do.
    pub(super) special: u64,
    bytes: Vec<u8>,
    words: Vec<u16>,
}

impl Chunk {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            depth: 0,
            values: vec![0.0; CHUNK * width],
            exps: vec![0; CHUNK * width],
            used: 0,
            special: 0,
            bytes: vec![0; CHUNK * width],
            words: vec![0; CHUNK * width],
        }
    }

    /// Takes `used` columns of B from `column`, and as much of the common dimension from `k` as fits.
    #[inline(always)]
    pub(super) fn pack<S: Simd>(&mut self, simd: S, b: &Source<'_>, k: usize, column: usize, used: usize) {
        self.depth = CHUNK.min(b.depth - k);
        self.used = if used == 64 { u64::MAX } else { (1 << used) - 1 };
        self.special = 0;
        match &b.rows {
            Rows::Fp8(rows) => {
                let mut tile = std::mem::take(&mut self.bytes);
                self.pack_rows(simd, b, rows, &mut tile, k, column, used);
                self.bytes = tile;
            }
            Rows::Bf16(rows) => {
                let mut tile = std::mem::take(&mut self.words);
                self.pack_rows(simd, b, rows, &mut tile, k, column, used);
                self.words = tile;
            }
        }
        // The last group is padded with zeros.
        let end = self.depth * self.width;
        let padded = self.depth.next_multiple_of(16) * self.width;
        self.values[end..padded].fill(0.0);
        self.exps[end..padded].fill(ZERO as u8);
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn pack_rows<S: Simd, T: Element>(
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

/// The decoders of both operands.
pub(super) fn decoders(rules: Rules, formats: Option<(Format, Format)>) -> [Decoder; 2] {
    let (a, b) = formats.unzip();
    [Decoder::new(rules, a, Side::A), Decoder::new(rules, b, Side::B)]
}
