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
    /// The generation whose range the source must have: the other one.
    pub(super) const fn from(self) -> Generation {
        match self.to {
            Generation::Gaudi2 => Generation::Gaudi3,
            Generation::Gaudi3 => Generation::Gaudi2,
        }
    }

    /// The label of the result.
    pub(super) const fn flavor(self) -> Flavor {
        Flavor::of(self.to)
    }

    /// Whether the result's range is smaller than the source's.
    fn is_narrowing(self) -> bool {
        self.to.fp8_max() < self.from().fp8_max()
    }

    /// What weights are multiplied by.
    pub(super) fn weight(self) -> f64 {
        match self.factor {
            Factor::PowerOfTwo if self.is_narrowing() => 0.5,
            Factor::PowerOfTwo => 2.0,
            Factor::Exact => 1.0 / self.kv_scale(),
        }
    }

    /// What KV scales are multiplied by: the ratio of the ranges.
    pub(super) fn kv_scale(self) -> f64 {
        f64::from(self.from().fp8_max()) / f64::from(self.to.fp8_max())
    }

    /// The table that rewrites codes.
    pub(super) fn rerange(self) -> Result<Rerange, Fp8Error> {
        match self.factor {
            Factor::PowerOfTwo if self.is_narrowing() => Ok(Rerange::halve_for_gaudi2()),
            Factor::PowerOfTwo => Ok(Rerange::double_from_gaudi2()),
            Factor::Exact => {
                let (from, to) = (Format::kv_cache(self.from()), Format::kv_cache(self.to));
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
