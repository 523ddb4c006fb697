//! What weights and scales are multiplied by.

use serde::{Deserialize, Serialize};

use crate::Generation;
use crate::checkpoint::Flavor;
use crate::fp8::{Format, Fp8Error, Rerange};

/// What FP8 weights are multiplied by; their scales are divided by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// 0.5 for Gaudi2 and 2 for Gaudi3: every code but the smallest is exact, and so is every scale.
    #[default]
    PowerOfTwo,
    /// 240/448 for Gaudi2 and 448/240 for Gaudi3: the whole range is used, and nearly every code is rounded again.
    Exact,
}

/// The change of range that a conversion makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) to: Generation,
    pub(super) factor: Factor,
}

impl Change {
    /// The range that the source must have.
    pub(super) const fn max_from(self) -> u32 {
        match self.to {
            Generation::Gaudi2 => 448,
            Generation::Gaudi3 => 240,
        }
    }

    /// The range of the result.
    pub(super) const fn max_to(self) -> u32 {
        match self.to {
            Generation::Gaudi2 => 240,
            Generation::Gaudi3 => 448,
        }
    }

    /// The label of the result.
    pub(super) const fn flavor(self) -> Flavor {
        match self.to {
            Generation::Gaudi2 => Flavor::E4m3fnuz,
            Generation::Gaudi3 => Flavor::E4m3fn,
        }
    }

    /// What weights are multiplied by.
    pub(super) fn weight(self) -> f64 {
        match (self.factor, self.to) {
            (Factor::PowerOfTwo, Generation::Gaudi2) => 0.5,
            (Factor::PowerOfTwo, Generation::Gaudi3) => 2.0,
            (Factor::Exact, _) => 1.0 / self.kv_scale(),
        }
    }

    /// What KV scales are multiplied by.
    pub(super) fn kv_scale(self) -> f64 {
        f64::from(self.max_from()) / f64::from(self.max_to())
    }

    /// The table that rewrites codes.
    pub(super) fn rerange(self) -> Result<Rerange, Fp8Error> {
        match (self.factor, self.to) {
            (Factor::PowerOfTwo, Generation::Gaudi2) => Ok(Rerange::halve_for_gaudi2()),
            (Factor::PowerOfTwo, Generation::Gaudi3) => Ok(Rerange::double_from_gaudi2()),
            (Factor::Exact, _) => {
                let (fn448, fn240) = (Format::E4M3FN, Format::kv_cache(Generation::Gaudi2));
                let (from, to) = if self.to == Generation::Gaudi2 { (fn448, fn240) } else { (fn240, fn448) };
                Rerange::new(from, to, self.weight() as f32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_those_of_the_ranges() {
        let change = |to, factor| Change { to, factor };
        let to_gaudi2 = change(Generation::Gaudi2, Factor::PowerOfTwo);
        assert_eq!((to_gaudi2.weight(), to_gaudi2.kv_scale()), (0.5, 28.0 / 15.0));
        assert_eq!(change(Generation::Gaudi2, Factor::Exact).weight(), 15.0 / 28.0);
        let back = change(Generation::Gaudi3, Factor::Exact);
        assert_eq!((back.weight(), back.kv_scale()), (28.0 / 15.0, 15.0 / 28.0));
    }

    /// 448 becomes 240 and 240 becomes 448; nothing saturates.
    #[test]
    fn the_exact_factor_maps_one_range_onto_the_other() {
        for (to, top, expected) in [(Generation::Gaudi2, 0x7E, 0x77), (Generation::Gaudi3, 0x77, 0x7E)] {
            let mut codes = [top, top | 0x80, 0, 0x80];
            let counts = Change { to, factor: Factor::Exact }.rerange().unwrap().apply(&mut codes);
            assert_eq!((codes, counts.saturated), ([expected, expected | 0x80, 0, 0x80], 0));
        }
    }
}
