//! Decoding slices, portably and on vectors.

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::map::{MAGNITUDE, Map, Sink, map};
use super::word_table::WordTable;
use crate::fp8::dequantizer::Dequantizer;
use crate::fp8::format::{INF_BITS, NAN_BITS};
use crate::fp8::ops::ConvertOps;
use crate::simd::{Portable, Work};

/// bfloat16 values of codes, by table.
pub(in crate::fp8) struct DequantBf16<'a> {
    pub(in crate::fp8) table: &'a WordTable,
    pub(in crate::fp8) codes: &'a [u8],
    /// One for each code.
    pub(in crate::fp8) values: &'a mut [bf16],
}

/// float32 values of codes: on vectors widened from the table and times the scale.
pub(in crate::fp8) struct DequantF32<'a> {
    pub(in crate::fp8) dequantizer: &'a Dequantizer,
    pub(in crate::fp8) table: &'a WordTable,
    pub(in crate::fp8) codes: &'a [u8],
    /// One for each code.
    pub(in crate::fp8) values: &'a mut [f32],
}

impl Work<Portable, ()> for DequantBf16<'_> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (value, code) in self.values.iter_mut().zip(self.codes) {
            *value = bf16::from_bits(self.table.get(*code));
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for DequantBf16<'_> {
    #[inline(always)]
    fn run(self, k: K) {
        map(k, &Bf16Map(Words::new(k, self.table)), self.codes, self.values.reinterpret_cast_mut());
    }
}

impl Work<Portable, ()> for DequantF32<'_> {
    #[inline(always)]
    fn run(self, _: Portable) {
        for (value, code) in self.values.iter_mut().zip(self.codes) {
            *value = self.dequantizer.dequant_one_f32(*code);
        }
    }
}

impl<K: ConvertOps> Work<K, ()> for DequantF32<'_> {
    #[inline(always)]
    fn run(self, k: K) {
        let scale = k.splat(self.dequantizer.scale().to_bits());
        map(k, &F32Map(Words::new(k, self.table), scale), self.codes, self.values);
    }
}

/// A [`WordTable`] in registers.
struct Words<K: ConvertOps> {
    low: K::Table,
    high: K::Table,
    nan_above: K::B,
    magnitude: K::B,
    sign: K::B,
}

impl<K: ConvertOps> Words<K> {
    #[inline(always)]
    fn new(k: K, table: &WordTable) -> Self {
        Self {
            low: k.table(&table.low),
            high: k.table(&table.high),
            nan_above: k.splat_byte(table.nan_above),
            magnitude: k.splat_byte(0x7F),
            sign: k.splat_byte(0x80),
        }
    }

    #[inline(always)]
    fn get(&self, k: K, codes: &[u8]) -> [K::B; 2] {
        let codes = k.load(codes);
        let magnitude = k.and_bytes(codes, self.magnitude);
        let high = k.or_bytes(k.lookup(self.high, magnitude), k.and_bytes(codes, self.sign));
        // The word of every NaN is 0x7FFF: the table has its low byte, and the sign must not reach the high one.
        let high = k.if_bytes_above(magnitude, self.nan_above, self.magnitude, high);
        k.zip(k.lookup(self.low, magnitude), high)
    }
}

/// Codes to bfloat16 words.
struct Bf16Map<K: ConvertOps>(Words<K>);

impl<K: ConvertOps> Map<K> for Bf16Map<K> {
    type In = u8;
    type Out = u16;
    #[inline(always)]
    fn group(&self, k: K, from: &[u8], to: &mut impl Sink<K>) {
        let [low, high] = self.0.get(k, from);
        to.put(k, 0, low);
        to.put(k, 1, high);
    }
}

/// Codes to float32: the widened bfloat16 words times a scale.
struct F32Map<K: ConvertOps>(Words<K>, K::V);

impl<K: ConvertOps> Map<K> for F32Map<K> {
    type In = u8;
    type Out = f32;
    #[inline(always)]
    fn group(&self, k: K, from: &[u8], to: &mut impl Sink<K>) {
        let [low, high] = self.0.get(k, from);
        let ([a, b], [c, d]) = (k.widen_words(low), k.widen_words(high));
        for (register, v) in [a, b, c, d].into_iter().enumerate() {
            let magnitude = k.and(v, k.splat(MAGNITUDE));
            let value = k.if_above(magnitude, k.splat(INF_BITS), k.splat(NAN_BITS), k.mul(v, self.1));
            to.put(k, register, k.as_bytes(value));
        }
    }
}
