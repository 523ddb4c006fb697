//! Why a conversion was not made. Nothing has appeared under the destination's name then.

use std::path::PathBuf;

use safetensors::Dtype;

use crate::checkpoint::{CheckpointError, Finding};
use crate::fp8::Fp8Error;
use crate::rewrite::RewriteError;
use crate::scales::InspectError;

/// A conversion that was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The source cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The result cannot be written, or its place is refused.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The source cannot be inspected.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The factor gives no conversion of codes.
    #[error(transparent)]
    Fp8(#[from] Fp8Error),
    /// The model has errors that a conversion would carry on, such as a label that its weights contradict.
    #[error("the model is not converted: {}", messages(.0))]
    Model(Vec<Finding>),
    /// An FP8 tensor has no scale that could make up for a factor.
    #[error(
        "{}: tensor `{tensor}` is FP8 (e4m3) and no scale of it was found, so it cannot be re-ranged; looked for {}",
        file.display(), looked_for.join(", ")
    )]
    NoScale {
        /// The file.
        file: PathBuf,
        /// The FP8 tensor.
        tensor: String,
        /// The names that its scale may have.
        looked_for: Vec<String>,
    },
    /// A scale has a type that cannot hold the product.
    #[error(
        "{}: tensor `{tensor}`: dtype {dtype:?} cannot be multiplied by {factor}; allowed are F32, BF16, F16, F64, and \
         F8_E8M0 with the power-of-two factor", file.display()
    )]
    ScaleDtype {
        /// The file.
        file: PathBuf,
        /// The scale.
        tensor: String,
        /// Its type.
        dtype: Dtype,
        /// What it was to be multiplied by.
        factor: f64,
    },
    /// A scale leaves the range of its type.
    #[error("{}: tensor `{tensor}`: {value} times {factor} is beyond the range of {dtype:?}", file.display())]
    ScaleRange {
        /// The file.
        file: PathBuf,
        /// The scale.
        tensor: String,
        /// Its value.
        value: f64,
        /// What it was to be multiplied by.
        factor: f64,
        /// The type of the product.
        dtype: Dtype,
    },
    /// A zero point that is not zero belongs to the old codes.
    #[error("{}: tensor `{tensor}` is an FP8 zero point that is not zero", file.display())]
    ZeroPoint {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// NaN codes in the weights.
    #[error("{}: {nan_codes} FP8 codes are NaN, first in tensor `{tensor}`; the checkpoint is damaged", file.display())]
    WeightsNan {
        /// The file.
        file: PathBuf,
        /// The first tensor that holds one.
        tensor: String,
        /// How many there are in the file.
        nan_codes: u64,
    },
    /// Nothing can hold the label of the new range.
    #[error(
        "{}: no quantization config in config.json, hf_quant_config.json or quantization_config.json could hold \
         fp8_dtype_flavor, so the result would be adjusted once more when it is loaded", path.display()
    )]
    NoQuantConfig {
        /// The source.
        path: PathBuf,
    },
    /// A file of scales that INC rounded for one device.
    #[error(
        "{}: holds scales that INC rounded for one device; they cannot be converted. Remove the file, and measure on \
         the new device or keep the measurement file beside it", file.display()
    )]
    IncScales {
        /// The file.
        file: PathBuf,
    },
}

fn messages(findings: &[Finding]) -> String {
    findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ")
}

impl ConvertError {
    /// Whether the model is at fault, and not the request, the disk or a file that cannot be read.
    #[must_use]
    pub fn is_the_models(&self) -> bool {
        matches!(
            self,
            Self::Model(_)
                | Self::NoScale { .. }
                | Self::ScaleDtype { .. }
                | Self::ScaleRange { .. }
                | Self::ZeroPoint { .. }
                | Self::WeightsNan { .. }
                | Self::NoQuantConfig { .. }
                | Self::IncScales { .. }
        )
    }

    /// Whether a second run could go on where this one stopped.
    pub(super) fn keeps_finished_files(&self) -> bool {
        match self {
            Self::Checkpoint(_) => true,
            Self::Rewrite(error) => error.keeps_finished_files(),
            _ => false,
        }
    }

    /// The error with where what is finished stays.
    pub(super) fn kept_in(self, folder: Option<PathBuf>) -> Self {
        match self {
            Self::Rewrite(error) => Self::Rewrite(error.kept_in(folder)),
            other => other,
        }
    }
}
