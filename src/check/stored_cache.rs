//! What a layer's cache holds: which elements saturate, which become zero, and the codes.

use half::bf16;
use serde::Serialize;

use crate::fp8::Fp8Error;
use crate::scales::{CacheRange, is_flushed};
use crate::{Generation, HeadScales};

/// Codes by magnitude, their sign dropped: `0x00` to `0x7F`.
pub type CodeCounts = [u64; 128];

/// The cache of a layer with the scales as inspected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredCache {
    /// Elements that lie beyond the device's largest value even after rounding, so that they were clipped to it.
    pub saturated: u64,
    /// Elements that are not zero and were stored as zero.
    pub flushed_to_zero: u64,
    /// All elements.
    pub elements: u64,
    /// XXH3-64 of the stored bytes of all tokens in order, keys before values, as 16 hexadecimal digits.
    pub digest: String,
    /// Those counts by what was stored: `k` and `v`, or the `kv_c` and `k_pe` of a latent.
    pub parts: Vec<StoredPart>,
}

/// One operand in the cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredPart {
    /// `k`, `v`, `kv_c` or `k_pe`.
    pub name: &'static str,
    /// Its elements that were clipped to the device's largest value.
    pub saturated: u64,
    /// Its elements that are not zero and were stored as zero.
    pub flushed_to_zero: u64,
    /// All its elements.
    pub elements: u64,
    /// How often each code was stored, its sign dropped; `None` where the cache is not FP8.
    #[serde(skip)]
    pub codes: Option<Box<CodeCounts>>,
}

impl StoredPart {
    /// The saturated share of the elements.
    #[must_use]
    pub fn saturated_share(&self) -> f64 {
        self.saturated as f64 / self.elements.max(1) as f64
    }

    /// An operand in a cache that is not FP8: all of it is kept.
    pub(super) fn kept(name: &'static str, values: &[bf16]) -> Self {
        Self { name, saturated: 0, flushed_to_zero: 0, elements: values.len() as u64, codes: None }
    }

    /// An operand `[rows, heads, dim]` with the codes that were stored for it.
    pub(super) fn count(
        name: &'static str,
        generation: Generation,
        values: &[bf16],
        (heads, dim): (usize, usize),
        quant: &HeadScales,
        stored: impl Iterator<Item = u8>,
    ) -> Result<Self, Fp8Error> {
        let ranges = (0..heads)
            .map(|head| CacheRange::new(generation, quant.of(head)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut codes: Box<CodeCounts> = Box::new([0; 128]);
        let (mut saturated, mut flushed_to_zero) = (0, 0);
        for ((at, value), code) in values.iter().enumerate().zip(stored) {
            codes[usize::from(code & 0x7F)] += 1;
            flushed_to_zero += u64::from(is_flushed(*value, code));
            saturated += u64::from(ranges[at / dim % heads].is_saturated(*value, code));
        }
        Ok(Self { name, saturated, flushed_to_zero, elements: values.len() as u64, codes: Some(codes) })
    }
}

impl StoredCache {
    /// The counts of all parts together.
    pub(super) fn new(digest: String, parts: Vec<StoredPart>) -> Self {
        let sum = |of: fn(&StoredPart) -> u64| parts.iter().map(of).sum();
        Self {
            saturated: sum(|part| part.saturated),
            flushed_to_zero: sum(|part| part.flushed_to_zero),
            elements: sum(|part| part.elements),
            digest,
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fp8::Quantizer;

    #[test]
    fn the_largest_value_itself_does_not_saturate() {
        // On Gaudi2 240 is the largest value and 248 the first that does not round to it; on Gaudi3 448 and 464, whose
        // tie goes to the even code below.
        for (generation, inside, beyond) in [
            (Generation::Gaudi2, [240.0, 247.0], [248.0, 1e6]),
            (Generation::Gaudi3, [448.0, 464.0], [466.0, 1e6]),
        ] {
            let count = |values: &[f32]| {
                let values: Vec<bf16> = values.iter().map(|x| bf16::from_f32(*x)).collect();
                let mut codes = vec![0; values.len()];
                Quantizer::kv_cache(generation, 1.0).unwrap().quant_bf16(&values, &mut codes).unwrap();
                let quant = HeadScales::One(1.0);
                let part =
                    StoredPart::count("k", generation, &values, (1, values.len()), &quant, codes.into_iter());
                part.unwrap()
            };
            assert_eq!(count(&inside).saturated, 0, "{generation}");
            assert_eq!(count(&beyond).saturated, 2, "{generation}");
            let small = count(&[0.0, -0.0, 2f32.powi(-10), -(2f32.powi(-11)), 2f32.powi(-9)]);
            // Half of the smallest code ties to zero.
            assert_eq!((small.flushed_to_zero, small.codes.unwrap()[0]), (2, 4));
        }
    }
}
