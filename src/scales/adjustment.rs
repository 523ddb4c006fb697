//! Whether scales are adjusted from the checkpoint's FP8 range to the device's, and why.

use serde::Serialize;

use crate::Generation;
use crate::checkpoint::{FindingCode, Findings, Flavor};

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
        let fp8_max_quant = flavor.map_or(448, Flavor::fp8_max);
        let fp8_max_deploy = generation.fp8_max() as u32;
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

    /// The divisor of the effective scale: 448 with adjustment, else the device's range.
    #[must_use]
    pub fn max(&self) -> f32 {
        if self.enabled { self.fp8_max_quant as f32 } else { self.fp8_max_deploy as f32 }
    }
}
