//! Whether scales are adjusted from the checkpoint's FP8 range to the device's, and why.

use serde::Serialize;

use crate::checkpoint::{FindingCode, Findings, Flavor, whole_fp8_max};
use crate::{Generation, ScaleFactors};

/// The environment variable that overrides the decision.
pub const SCALE_ADJUSTMENT_ENV: &str = "VLLM_SCALE_ADJUSTMENT";

/// Reads a value of [`SCALE_ADJUSTMENT_ENV`] as vllm-gaudi does: `true`, `t`, `1`, `yes`, `y` and `on` in any case are
/// true, anything else is false.
#[must_use]
pub fn parse_scale_adjustment(value: &str) -> bool {
    ["true", "t", "1", "yes", "y", "on"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AdjustmentSource {
    /// `fp8_dtype_flavor` of the checkpoint.
    Flavor,
    /// `VLLM_SCALE_ADJUSTMENT`.
    Environment,
    /// Neither: a checkpoint without a flavor is taken for 448.
    Default,
}

/// The decision for one loaded model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScaleAdjustment {
    /// Whether scales are adjusted.
    pub enabled: bool,
    /// The largest value that the checkpoint was quantized to.
    pub fp8_max_quant: u32,
    /// The largest value of the device's FP8.
    pub fp8_max_deploy: u32,
    /// What decided.
    pub source: AdjustmentSource,
    /// Why, in a sentence.
    pub reason: String,
}

impl ScaleAdjustment {
    /// Decides: adjustment is due where the checkpoint's range is larger than the device's. `requested` is the value
    /// of `VLLM_SCALE_ADJUSTMENT`, `None` where it is unset.
    pub fn decide(
        flavor: Option<Flavor>,
        generation: Generation,
        requested: Option<bool>,
        findings: &mut Findings,
    ) -> Self {
        let fp8_max_quant = flavor.unwrap_or(Flavor::UNLABELLED).fp8_max();
        let fp8_max_deploy = whole_fp8_max(generation);
        let is_due = fp8_max_quant > fp8_max_deploy;
        let range = match flavor {
            Some(flavor) => format!("the checkpoint is labelled {} ({fp8_max_quant})", flavor.name()),
            None => format!("the checkpoint has no fp8_dtype_flavor, so {fp8_max_quant} is assumed"),
        };
        let compare = match fp8_max_quant.cmp(&fp8_max_deploy) {
            std::cmp::Ordering::Greater => format!("{generation} reaches only {fp8_max_deploy}"),
            std::cmp::Ordering::Equal => format!("{generation} reaches the same"),
            std::cmp::Ordering::Less => format!("{generation} reaches {fp8_max_deploy}, which is more"),
        };
        let by_checkpoint =
            if flavor.is_some() { AdjustmentSource::Flavor } else { AdjustmentSource::Default };
        let (enabled, source, reason) = match requested {
            None => (is_due, by_checkpoint, format!("{range}; {compare}")),
            Some(true) if is_due => {
                let reason = format!("{SCALE_ADJUSTMENT_ENV} asks for it, and it is due: {range}; {compare}");
                (true, AdjustmentSource::Environment, reason)
            }
            Some(true) => {
                if flavor == Some(Flavor::E4m3fnuz) {
                    let message = format!(
                        "{SCALE_ADJUSTMENT_ENV} asks for adjustment, which is refused: {range}; {compare}"
                    );
                    findings.warn(FindingCode::AdjustmentRefused, None, message);
                }
                let reason = format!(
                    "{SCALE_ADJUSTMENT_ENV} asks for adjustment, but there is nothing to adjust: {range}; {compare}"
                );
                (false, by_checkpoint, reason)
            }
            Some(false) => {
                if is_due {
                    let message = format!(
                        "{SCALE_ADJUSTMENT_ENV} turns adjustment off although {range} and {compare}: cached values \
                         beyond {fp8_max_deploy} times their scale saturate, where the scales were made to reach \
                         {fp8_max_quant} times"
                    );
                    findings.warn(FindingCode::AdjustmentDisabled, None, message);
                }
                let reason = format!("{SCALE_ADJUSTMENT_ENV} turns it off; {range}; {compare}");
                (false, AdjustmentSource::Environment, reason)
            }
        };
        Self { enabled, fp8_max_quant, fp8_max_deploy, source, reason }
    }

    /// What a scale is multiplied by before it divides the device's range: the checkpoint's range with adjustment, else
    /// the device's.
    #[must_use]
    pub fn max(&self) -> f32 {
        if self.enabled { self.fp8_max_quant as f32 } else { self.fp8_max_deploy as f32 }
    }

    /// The multipliers of the checkpoint scale `s`, each step rounded to float32: `fp8_max_deploy / (s * max)` and its
    /// reciprocal. `None` where one of them is not finite and positive.
    ///
    /// They are what vllm-gaudi computes as `input_scale` and `output_scale` in its scenarios where the checkpoint's
    /// range is at least the device's.
    #[must_use]
    pub fn factors(&self, s: f32) -> Option<ScaleFactors<f32>> {
        let factors = ScaleFactors::from_quant(self.fp8_max_deploy as f32 / (s * self.max()));
        let is_usable = |x: f32| x.is_finite() && x > 0.0;
        (is_usable(factors.quant) && is_usable(factors.dequant)).then_some(factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                assert_eq!(column.factors(s), Some(ScaleFactors { quant, dequant }), "{s} {column:?}");
            }
        }
    }

    #[test]
    fn what_leaves_float32_is_refused() {
        let gaudi2 = adjustment(Generation::Gaudi2, None);
        assert_eq!(gaudi2.factors(1e-45), None);
        assert_eq!(gaudi2.factors(3e38), None);
        assert_eq!(gaudi2.factors(0.0), None);
        assert!(gaudi2.factors(4.359_7e-6).is_some());
    }
}
