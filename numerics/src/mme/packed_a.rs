//! The left operand, decoded.

use super::decode::{Decoder, ZERO, bytes, wide};
use super::matrix::{Elements, Matrix};
use super::rules::Rules;

/// Elements of the common dimension that are packed at a time: a panel of them stays in the first-level cache. A
/// multiple of every group size.
pub(super) const CHUNK: usize = 64;

/// A, decoded once for the whole product.
#[derive(Default)]
pub(super) struct PackedA {
    /// The common dimension.
    pub(super) depth: usize,
    /// The common dimension up to the end of the last group.
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
