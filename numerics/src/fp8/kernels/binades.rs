//! Scaled quantization of bfloat16 by table lookups on bytes, for registers that look up 64 bytes at once.
//!
//! With a fixed scale, the code of an input depends on its seven mantissa bits and its exponent only, and from one
//! binade to the next it grows by a constant wherever it is a normal code. So one table of 128 bytes serves all normal
//! codes, and a few more the binades that end in denormal ones. The tables hold what the definition gives, both of its
//! roundings included.

use super::map::{Map, Sink, map};
use super::pieces::Pieces;
use super::plan::EncodePlan;
use crate::fp8::encoder::Rounding;
use crate::fp8::ops::{BinadeOps, ConvertOps};
use crate::fp8::quantizer::Quantizer;
use crate::simd::Work;

/// Binades of input that can end in a denormal code: below them a product is under half of the smallest one.
const DENORMAL: usize = 5;

/// The fewest values that tables are worth making for.
pub(in crate::fp8) const MIN_LEN: usize = 1 << 16;

/// The tables of one quantizer.
pub(in crate::fp8) struct Binades {
    /// The largest exponent field below the binades of denormal codes.
    flushed: u8,
    denormal: [[u8; 128]; DENORMAL],
    normal: [u8; 128],
    /// Added to a normal code, by how far an exponent field lies above `flushed`.
    offset: [u8; 128],
    /// The largest such distance that makes a difference.
    last: u8,
    max_code: u8,
    overflow_code: u8,
}

impl Binades {
    /// The tables, or none where an exponent field would leave its range, or where Inf is not like any other overflow.
    pub(in crate::fp8) fn new(plan: &EncodePlan, quantizer: &Quantizer) -> Option<Self> {
        let encoder = plan.encoder;
        if encoder.rounding == Rounding::TowardZero && !encoder.clip {
            return None;
        }
        let scale_field = (quantizer.scale_as_bf16().to_bits() >> 23) as i32;
        if scale_field == 0 {
            return None;
        }
        // In this binade and above, every product is at least the smallest normal value.
        let first = 127 + (1 - i32::from(encoder.format.bias)) - (scale_field - 127);
        let flushed = u8::try_from(first - 1 - DENORMAL as i32).ok()?;
        let last_binade = u32::from(encoder.format.max_code()) >> plan.man_bits;
        let last = (1 + DENORMAL) as u8 + last_binade as u8;
        flushed.checked_add(last)?;
        let binade = |above: usize| {
            let field = u16::from(flushed) + above as u16;
            std::array::from_fn(|mantissa| {
                quantizer.quant_one_bf16(half::bf16::from_bits(field << 7 | mantissa as u16))
            })
        };
        Some(Self {
            flushed,
            denormal: std::array::from_fn(|i| binade(1 + i)),
            normal: binade(1 + DENORMAL),
            offset: std::array::from_fn(|above| (above.saturating_sub(1 + DENORMAL) << plan.man_bits) as u8),
            last,
            max_code: encoder.format.max_code(),
            overflow_code: plan.overflow_code,
        })
    }
}

/// [`Binades`] in registers.
struct Regs<K: ConvertOps> {
    flushed: K::B,
    denormal: [K::Table; DENORMAL],
    normal: K::Table,
    offset: K::Table,
    last: K::B,
    max_code: K::B,
    overflow_code: K::B,
}

impl<K: BinadeOps> Map<K> for Regs<K> {
    type In = u16;
    type Out = u8;
    #[inline(always)]
    fn group(&self, k: K, from: &[u16], to: &mut impl Sink<K>) {
        let zero = k.splat_byte(0);
        let [low, high] = k.load_split(from);
        let (mantissa, exponent) = (k.and_bytes(low, k.splat_byte(0x7F)), k.exponents(low, high));
        let above = k.min_bytes(k.sub_bytes(exponent, self.flushed), self.last);
        let mut code = k.add_bytes(k.lookup(self.normal, mantissa), k.lookup(self.offset, above));
        let over = k.sub_bytes(code, self.max_code);
        code = k.if_bytes_above(over, zero, self.overflow_code, code);
        for (i, table) in self.denormal.into_iter().enumerate() {
            code = k.if_bytes_equal(above, k.splat_byte(1 + i as u8), k.lookup(table, mantissa), code);
        }
        code = k.if_bytes_equal(above, zero, zero, code);
        let signed = k.or_bytes(k.and_bytes(high, k.splat_byte(0x80)), code);
        let nan = k.if_bytes_equal(exponent, k.splat_byte(0xFF), mantissa, zero);
        to.put(k, 0, k.if_bytes_above(nan, zero, k.splat_byte(0x7F), signed));
    }
}

/// Codes of the pieces of equally many words and codes; the rest of the codes is left alone.
pub(in crate::fp8) struct QuantByBinade<'a> {
    pub(in crate::fp8) binades: &'a Binades,
    pub(in crate::fp8) pieces: Pieces,
    pub(in crate::fp8) words: &'a [u16],
    pub(in crate::fp8) codes: &'a mut [u8],
    /// What will be converted soon, and is asked for meanwhile.
    pub(in crate::fp8) ahead: &'a [u16],
}

impl<K: BinadeOps> Work<K, ()> for QuantByBinade<'_> {
    #[inline(always)]
    fn run(self, k: K) {
        let Self { binades, pieces, words, codes, ahead } = self;
        let regs = Regs::<K> {
            flushed: k.splat_byte(binades.flushed),
            denormal: {
                let mut tables = [k.table(&binades.normal); DENORMAL];
                for (table, bytes) in tables.iter_mut().zip(&binades.denormal) {
                    *table = k.table(bytes);
                }
                tables
            },
            normal: k.table(&binades.normal),
            offset: k.table(&binades.offset),
            last: k.splat_byte(binades.last),
            max_code: k.splat_byte(binades.max_code),
            overflow_code: k.splat_byte(binades.overflow_code),
        };
        let mut ahead = ahead.chunks(pieces.len);
        let Pieces { first, len, stride } = pieces;
        for (from, to) in words[first..].chunks(stride).zip(codes[first..].chunks_mut(stride)) {
            k.prefetch(ahead.next().unwrap_or_default());
            map(k, &regs, &from[..len], &mut to[..len]);
        }
    }
}
