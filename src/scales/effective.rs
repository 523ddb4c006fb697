//! A checkpoint scale as the device applies it.

use super::adjustment::ScaleAdjustment;

/// The two multipliers of one scale, in float32.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effective {
    /// Multiplies on the way into FP8: `fp8_max_deploy / (s * max)`.
    pub quant: f32,
    /// Multiplies on the way out: `1 / quant`.
    pub dequant: f32,
}

impl Effective {
    /// A scale that was not found: 1.0, never adjusted.
    pub const ONE: Self = Self { quant: 1.0, dequant: 1.0 };

    /// The multipliers of the checkpoint scale `s`, each step rounded to float32. `None` where one of them is not
    /// finite and positive.
    ///
    /// They are what vllm-gaudi computes as `input_scale` and `output_scale` in its scenarios where the checkpoint's
    /// range is at least the device's.
    #[must_use]
    pub fn of(s: f32, adjustment: &ScaleAdjustment) -> Option<Self> {
        let quant = adjustment.fp8_max_deploy as f32 / (s * adjustment.max());
        let dequant = 1.0 / quant;
        let is_usable = |x: f32| x.is_finite() && x > 0.0;
        (is_usable(quant) && is_usable(dequant)).then_some(Self { quant, dequant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generation;
    use crate::checkpoint::{Findings, Flavor};

    fn adjustment(generation: Generation, flavor: Option<Flavor>) -> ScaleAdjustment {
        ScaleAdjustment::decide(flavor, generation, None, &mut Findings::default())
    }

    /// Scale, then quant and dequant on Gaudi2 with adjustment, Gaudi2 without, Gaudi3: vllm-gaudi's float32 results.
    const REFERENCE: [(f32, [(f32, f32); 3]); 10] = [
        (1.0, [(0.535_714_27, 1.866_666_7), (1.0, 1.0), (1.0, 1.0)]),
        (0.0546875, [(9.795_918, 0.102_083_33), (18.285_715, 0.054_687_496), (18.285_715, 0.054_687_496)]),
        (0.003, [(178.571_43, 0.005_600_000_3), (333.333_3, 0.003_000_000_3), (333.333_34, 0.002_999_999_8)]),
        (0.02, [(26.785_715, 0.037_333_332), (50.000_004, 0.019_999_998), (50.0, 0.02)]),
        (0.05, [(10.714_286, 0.093_333_334), (20.0, 0.05), (20.0, 0.05)]),
        (0.08, [(6.696_429, 0.149_333_33), (12.500_001, 0.079_999_99), (12.5, 0.08)]),
        (0.25, [(2.142_857, 0.466_666_67), (4.0, 0.25), (4.0, 0.25)]),
        (0.5, [(1.071_428_5, 0.933_333_34), (2.0, 0.5), (2.0, 0.5)]),
        (2.0, [(0.267_857_13, 3.733_333_3), (0.5, 2.0), (0.5, 2.0)]),
        (3.7, [(0.144_787_65, 6.906_666_3), (0.270_270_26, 3.7), (0.270_270_3, 3.699_999_8)]),
    ];

    #[test]
    fn matches_the_reference_table_to_the_bit() {
        let columns = [
            adjustment(Generation::Gaudi2, None),
            adjustment(Generation::Gaudi2, Some(Flavor::E4m3fnuz)),
            adjustment(Generation::Gaudi3, None),
        ];
        for (s, expected) in REFERENCE {
            for (column, (quant, dequant)) in columns.iter().zip(expected) {
                assert_eq!(Effective::of(s, column), Some(Effective { quant, dequant }), "{s} {column:?}");
            }
        }
    }

    #[test]
    fn what_leaves_float32_is_refused() {
        let gaudi2 = adjustment(Generation::Gaudi2, None);
        assert_eq!(Effective::of(1e-45, &gaudi2), None);
        assert_eq!(Effective::of(3e38, &gaudi2), None);
        assert_eq!(Effective::of(0.0, &gaudi2), None);
        assert!(Effective::of(4.359_7e-6, &gaudi2).is_some());
    }
}
