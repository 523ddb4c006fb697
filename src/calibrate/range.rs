//! The FP8 range that scales are made for, and the flavor that says so.

use serde::Serialize;

use super::CalibrateError;
use crate::Generation;
use crate::checkpoint::{FindingCode, Findings, Flavor, ModelFolder};
use crate::scales::{Options, ScaleAdjustment, fp8_weight_bytes, inspect};

/// The range of the scales to write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Range {
    /// The largest FP8 value that the scales are made for.
    pub fp8_max_quant: u32,
    /// The flavor that the model will have; `None` leaves a model without one as it is.
    pub fp8_dtype_flavor: Option<Flavor>,
    /// Why, in a sentence.
    #[serde(rename = "range_reason")]
    pub reason: String,
}

/// The bytes of weights that [`Range::decide`] reads: those of a label that they may contradict.
pub(super) fn weight_bytes(folder: &ModelFolder) -> u64 {
    match folder.quant_config().flavor {
        Some(Flavor::E4m3fnuz) => fp8_weight_bytes(folder),
        Some(Flavor::E4m3fn) | None => 0,
    }
}

impl Range {
    /// Decides. One flavor serves a whole model, so FP8 weights decide where there are any: a label that they
    /// contradict is refused, and a model without a label is left without one, for every reader takes it for 448.
    pub(super) fn decide(
        folder: &ModelFolder,
        device: Generation,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self, CalibrateError> {
        if fp8_weight_bytes(folder) == 0 {
            let reason = format!("the model has no FP8 weights, so the scales are made for {device}");
            return Ok(Self::new(Some(Flavor::of(device)), reason));
        }
        let flavor = folder.quant_config().flavor;
        let reason = match flavor {
            Some(flavor) => format!("the model's FP8 weights are labelled {}", flavor.name()),
            None => "the model has FP8 weights without a flavor, which every reader takes for 448".to_owned(),
        };
        if flavor == Some(Flavor::E4m3fnuz) {
            let options = Options { verify_weights: true, ..Options::new(device) };
            let mut errors = inspect(folder, &options, progress)?.findings.errors;
            errors.retain(|e| {
                matches!(e.code, FindingCode::FlavorContradictsWeights | FindingCode::WeightsNan)
            });
            if !errors.is_empty() {
                return Err(CalibrateError::Model(errors));
            }
        }
        Ok(Self::new(flavor, reason))
    }

    fn new(flavor: Option<Flavor>, reason: String) -> Self {
        let fp8_max_quant = flavor.unwrap_or(Flavor::UNLABELLED).fp8_max();
        Self { fp8_max_quant, fp8_dtype_flavor: flavor, reason }
    }

    /// The adjustment that loading the model on a device will decide on.
    pub(super) fn adjustment(&self, device: Generation) -> ScaleAdjustment {
        ScaleAdjustment::decide(self.fp8_dtype_flavor, device, None, &mut Findings::default())
    }
}
