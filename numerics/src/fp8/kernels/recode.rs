//! Replacing codes, portably and on vectors.

use super::map::STEP;
use crate::fp8::ops::ConvertOps;
use crate::simd::{Portable, Work};

/// What happened to a code that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::fp8) enum CodeClass {
    Exact,
    Rounded,
    Flushed,
    Saturated,
    Nan,
}

impl CodeClass {
    pub(in crate::fp8) const COUNT: usize = 5;
}

/// A new code and a class for each magnitude; the sign stays.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fp8) struct Recode {
    pub codes: [u8; 128],
    pub classes: [u8; 128],
}

/// Replaces each code of an array, and returns how many codes of each class there were, in the order of [`CodeClass`].
pub(in crate::fp8) struct ReplaceCodes<'a> {
    pub(in crate::fp8) recode: &'a Recode,
    pub(in crate::fp8) codes: &'a mut [u8],
}

impl Work<Portable, [u64; CodeClass::COUNT]> for ReplaceCodes<'_> {
    #[inline(always)]
    fn run(self, _: Portable) -> [u64; CodeClass::COUNT] {
        let mut counts = [0; CodeClass::COUNT];
        for code in self.codes {
            let magnitude = usize::from(*code & 0x7F);
            *code = self.recode.codes[magnitude] | (*code & 0x80);
            if let Some(count) = counts.get_mut(usize::from(self.recode.classes[magnitude])) {
                *count += 1;
            }
        }
        counts
    }
}

impl<K: ConvertOps> Work<K, [u64; CodeClass::COUNT]> for ReplaceCodes<'_> {
    #[inline(always)]
    fn run(self, k: K) -> [u64; CodeClass::COUNT] {
        let Self { recode, codes } = self;
        let mut recoder = Recoder {
            codes: k.table(&recode.codes),
            classes: k.table(&recode.classes),
            magnitude: k.splat_byte(0x7F),
            sign: k.splat_byte(0x80),
            above: [0; CodeClass::COUNT],
        };
        let total = codes.len() as u64;
        let mut groups = codes.chunks_exact_mut(K::GROUP);
        for codes in &mut groups {
            recoder.group(k, codes);
        }
        // Padding with code 0 adds nothing: zero stays zero, exactly.
        let rest = groups.into_remainder();
        let mut padded = [0; STEP];
        padded[..rest.len()].copy_from_slice(rest);
        recoder.group(k, &mut padded[..K::GROUP]);
        rest.copy_from_slice(&padded[..rest.len()]);
        let above = recoder.above;
        let mut counts = [total - above[0], 0, 0, 0, 0];
        for class in 1..CodeClass::COUNT {
            counts[class] = above[class - 1] - above[class];
        }
        counts
    }
}

/// A [`Recode`] in registers, and how many codes had a class above each class.
struct Recoder<K: ConvertOps> {
    codes: K::Table,
    classes: K::Table,
    magnitude: K::B,
    sign: K::B,
    above: [u64; CodeClass::COUNT],
}

impl<K: ConvertOps> Recoder<K> {
    #[inline(always)]
    fn group(&mut self, k: K, codes: &mut [u8]) {
        let old = k.load(codes);
        let index = k.and_bytes(old, self.magnitude);
        k.store(codes, k.or_bytes(k.lookup(self.codes, index), k.and_bytes(old, self.sign)));
        let class = k.lookup(self.classes, index);
        for limit in 0..CodeClass::COUNT - 1 {
            self.above[limit] += u64::from(k.count_above(class, k.splat_byte(limit as u8)));
        }
    }
}
