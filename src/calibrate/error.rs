//! Why a model cannot be calibrated.

use std::path::PathBuf;

use super::method::Method;
use crate::activations::ActivationError;
use crate::checkpoint::{CheckpointError, Finding, ModelFolder, list_layers};
use crate::rewrite::RewriteError;
use crate::scales::InspectError;

/// A calibration that cannot be made. Nothing has been written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// A file, or a tensor in it, cannot be read or does not fit the model.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The result cannot be written, or its place is refused.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// Activations cannot be read, or do not fit the model.
    #[error(transparent)]
    Activations(#[from] ActivationError),
    /// The model cannot be inspected.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The model has errors that scales cannot mend.
    #[error("the model has errors: {}", messages(.0))]
    Model(Vec<Finding>),
    /// A setting outside its range.
    #[error("{name} is {value}; allowed is {allowed}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would be accepted.
        allowed: &'static str,
    },
    /// A folder without any source file.
    #[error("{}: holds no {wanted}", path.display())]
    NoFiles {
        /// The folder.
        path: PathBuf,
        /// The files looked for.
        wanted: &'static str,
    },
    /// Layers that nothing was measured for.
    #[error(
        "{}: nothing was measured for {}; needed are {wanted}, and so on of each layer with a KV cache",
        path.display(),
        list_layers(layers)
    )]
    MissingLayers {
        /// The file or folder.
        path: PathBuf,
        /// The layers.
        layers: Vec<usize>,
        /// The operands of the first of them.
        wanted: String,
    },
    /// Activations, or a measurement, of a layer that the model has not.
    #[error("{}: `{name}` is of layer {layer}, which {reason}", path.display())]
    ForeignLayer {
        /// The file.
        path: PathBuf,
        /// The tensor or module.
        name: String,
        /// The layer.
        layer: usize,
        /// Why nothing can be measured for it.
        reason: String,
    },
    /// Values from which no scale follows.
    #[error("layer {layer}: no scale follows from {what}: {reason}")]
    NoScale {
        /// The layer.
        layer: usize,
        /// The operand, and the head where there is one.
        what: String,
        /// Why not.
        reason: String,
    },
    /// Measurements hold the amax alone.
    #[error("INC measurements hold the largest magnitude alone, so --method {} cannot be used; use amax", .0.name())]
    AmaxOnly(Method),
    /// One scale for each head where there cannot be any.
    #[error("one scale for each head is not possible: {0}")]
    PerHead(String),
    /// A layer whose scales have no name.
    #[error("layer {layer}: its scales cannot be named: {reason}")]
    Name {
        /// The layer.
        layer: usize,
        /// What was looked for, and found.
        reason: String,
    },
    /// The model has KV scales or a KV-cache scheme already.
    #[error("{reason}; --replace leaves them behind")]
    OldScales {
        /// Which.
        reason: String,
    },
    /// The folder was made but reading it gives something else than was meant. It has been removed.
    #[error("the calibrated model would not be read as it is meant: {0}")]
    ReadBack(String),
}

fn messages(findings: &[Finding]) -> String {
    findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ")
}

/// Refuses a model with errors.
pub(super) fn refuse_unsound(folder: &ModelFolder) -> Result<(), CalibrateError> {
    match &folder.findings().errors {
        errors if errors.is_empty() => Ok(()),
        errors => Err(CalibrateError::Model(errors.clone())),
    }
}
