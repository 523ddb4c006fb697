//! Why a conversion was not made. Nothing has appeared under the destination's name then.

use std::io;
use std::path::{Path, PathBuf};

use safetensors::Dtype;

use crate::checkpoint::{CheckpointError, Finding};
use crate::fp8::Fp8Error;
use crate::scales::InspectError;

/// A conversion that was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The source cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
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
    /// A tensor looks like a KV scale and stands where no attention is known.
    #[error(
        "{}: tensor `{tensor}` is named like a KV scale but no attention layer of a text decoder is known under this \
         name, so it can neither be multiplied nor left alone", file.display()
    )]
    UnknownScale {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
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
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// The disk is full, or a quota is. What had been written is removed, unless other machines work on the same result.
    #[error("no room left while writing {}: {source}; {}", path.display(), remains(kept.as_ref()))]
    NoSpace {
        /// The file that was written.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
        /// Where finished files are kept; `None` where nothing is left behind.
        kept: Option<PathBuf>,
    },
    /// The destination is refused.
    #[error("{}: {reason}", path.display())]
    Destination {
        /// The path given.
        path: PathBuf,
        /// Why, and what would be accepted.
        reason: String,
    },
    /// Something in the source folder is neither a file, a folder nor a link.
    #[error("{}: is neither a file, a folder nor a link, so it cannot be carried over", path.display())]
    SpecialFile {
        /// Where it is.
        path: PathBuf,
    },
    /// A file of the source changed while it was read.
    #[error("{}: changed while it was converted", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

fn messages(findings: &[Finding]) -> String {
    findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn remains(kept: Option<&PathBuf>) -> String {
    match kept {
        Some(folder) => format!("what is finished is kept in {}", folder.display()),
        None => "what was written is removed".to_owned(),
    }
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
                | Self::UnknownScale { .. }
                | Self::ZeroPoint { .. }
                | Self::WeightsNan { .. }
                | Self::NoQuantConfig { .. }
                | Self::IncScales { .. }
        )
    }

    /// Whether a second run could go on where this one stopped.
    pub(super) fn keeps_finished_files(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Checkpoint(_) | Self::Changed { .. })
    }

    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path, source, kept: None }
            }
            _ => Self::Io { doing, path, source },
        }
    }

    pub(super) fn destination(path: &Path, reason: impl Into<String>) -> Self {
        Self::Destination { path: path.to_owned(), reason: reason.into() }
    }
}
