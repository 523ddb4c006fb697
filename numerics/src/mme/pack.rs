//! Operands in the order and the form that the kernels read.

use super::decode::{Decoder, Side, ZERO};
use super::kernel::{bytes, wide};
use super::memory::emptied;
use super::reference::Rules;
use super::simd::Simd;
use super::{Elements, Matrix};
use crate::fp8::Format;

/// Elements of the common dimension that are packed at a time: a panel of them stays in the first-level cache. A
/// multiple of every group size.
pub(super) const CHUNK: usize = 64;

/// The rows of a stored matrix: in one of the lists, by its type.
#[derive(Default)]
pub(super) struct Rows<'a> {
    pub(super) fp8: Vec<&'a [u8]>,
    pub(super) words: Vec<&'a [u16]>,
}

impl<'a> Rows<'a> {
    /// All rows of blocks of one type, in place of those it has.
    pub(super) fn set(&mut self, blocks: &[Matrix<'a>]) {
        self.fp8.clear();
        self.words.clear();
        for block in blocks {
            block.push_rows(&mut self.fp8, &mut self.words);
        }
    }

    /// No rows, in the same memory.
    pub(super) fn emptied(self) -> Rows<'static> {
        Rows { fp8: emptied(self.fp8), words: emptied(self.words) }
    }
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
#[derive(Default)]
pub(super) struct PackedA {
    /// The common dimension.
    pub(super) depth: usize,
    /// The same up to the end of the last group.
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
    /// Takes a matrix, in place of the one it has.
    pub(super) fn set(&mut self, rules: Rules, decoder: &Decoder, a: &Matrix<'_>) {
        match a.elements() {
            Elements::Fp8(codes, _) => self.decode(rules, codes, a, |code| decoder.fp8(code)),
            Elements::Bf16(values) => self.decode(rules, values, a, |value| decoder.bf16(value.to_bits())),
        }
    }

    /// Bytes of its memory.
    pub(super) fn bytes(&self) -> usize {
        let (floats, doubles) = (self.values.capacity() + self.exps.capacity(), self.wide.capacity());
        floats * size_of::<f32>() + doubles * size_of::<f64>() + self.special.capacity()
    }

    fn decode<T: Copy>(
        &mut self,
        rules: Rules,
        elements: &[T],
        a: &Matrix<'_>,
        decode: impl Fn(T) -> (f32, u8, bool),
    ) {
        let (rows, depth) = (a.rows(), a.cols());
        let stride = depth.next_multiple_of(rules.group());
        let chunks = depth.div_ceil(CHUNK);
        (self.depth, self.stride) = (depth, stride);
        refill(&mut self.values, rows * stride, 0.0);
        refill(&mut self.exps, rows * stride, bytes(ZERO));
        refill(&mut self.special, rows * chunks, false);
        for r in 0..rows {
            let (row, at) = (&elements[r * a.stride()..][..depth], r * stride);
            let (values, exps) = (&mut self.values[at..at + depth], &mut self.exps[at..at + depth]);
            let chunked = row.chunks(CHUNK).zip(values.chunks_mut(CHUNK)).zip(exps.chunks_mut(CHUNK));
            for (index, ((codes, values), exps)) in chunked.enumerate() {
                let mut special = false;
                for ((code, value), word) in codes.iter().zip(values).zip(exps) {
                    let (decoded, exp, odd) = decode(*code);
                    *value = decoded;
                    *word = bytes(exp as i8);
                    special |= odd;
                }
                self.special[r * chunks + index] = special;
            }
        }
        self.wide.clear();
        if rules == Rules::Gaudi2Bf16 {
            self.wide.extend(self.values.iter().map(|value| wide(*value)));
        }
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

fn refill<T: Copy>(list: &mut Vec<T>, len: usize, value: T) {
    list.clear();
    list.resize(len, value);
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
#[derive(Default)]
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
    pub(super) fn pack<S: Simd>(&mut self, simd: S, b: &Source<'_>, k: usize, column: usize, used: usize) {
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
