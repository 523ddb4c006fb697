//! Looking for codes beyond Gaudi2's range, portably and on vectors.

use super::map::STEP;
use crate::fp8::ops::ConvertOps;
use crate::simd::{Portable, Work};

/// How many codes are above `0x77` without their sign, and how many of these are `0x7F`.
pub(in crate::fp8) type Found = [u64; 2];

/// Counts the codes above `0x77` and the NaN codes of e4m3.
pub(in crate::fp8) struct Scan<'a> {
    pub(in crate::fp8) codes: &'a [u8],
}

impl Work<Portable, Found> for Scan<'_> {
    #[inline(always)]
    fn run(self, _: Portable) -> Found {
        let mut found = [0; 2];
        for block in self.codes.chunks(4096) {
            // The maximum is what compilers vectorize; blocks that hold nothing, nearly all of them, end here.
            let max = block.iter().fold(0, |max, code| max.max(code & 0x7F));
            if max > 0x77 {
                found[0] += block.iter().filter(|c| **c & 0x7F > 0x77).count() as u64;
                found[1] += block.iter().filter(|c| **c & 0x7F == 0x7F).count() as u64;
            }
        }
        found
    }
}

impl<K: ConvertOps> Work<K, Found> for Scan<'_> {
    #[inline(always)]
    fn run(self, k: K) -> Found {
        let magnitude = k.splat_byte(0x7F);
        let mut found = [0; 2];
        let mut blocks = self.codes.chunks_exact(4 * K::GROUP);
        for block in &mut blocks {
            let mut groups = [magnitude; 4];
            for (i, group) in groups.iter_mut().enumerate() {
                *group = k.and_bytes(k.load(&block[i * K::GROUP..]), magnitude);
            }
            // Nearly every block holds nothing, which one comparison of the maxima shows.
            let [a, b, c, d] = groups;
            let max = k.max_bytes(k.max_bytes(a, b), k.max_bytes(c, d));
            if k.count_above(max, k.splat_byte(0x77)) > 0 {
                for group in groups {
                    add_counts(k, group, &mut found);
                }
            }
        }
        for rest in blocks.remainder().chunks(K::GROUP) {
            let mut padded = [0; STEP];
            padded[..rest.len()].copy_from_slice(rest);
            add_counts(k, k.and_bytes(k.load(&padded), magnitude), &mut found);
        }
        found
    }
}

/// Adds the bytes that are above `0x77`, and those above `0x7E`.
#[inline(always)]
fn add_counts<K: ConvertOps>(k: K, magnitudes: K::B, found: &mut Found) {
    found[0] += u64::from(k.count_above(magnitudes, k.splat_byte(0x77)));
    found[1] += u64::from(k.count_above(magnitudes, k.splat_byte(0x7E)));
}
