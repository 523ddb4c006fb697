//! Why a check cannot be made.

use crate::Generation;
use crate::activations::ActivationError;
use crate::attention::AttentionError;
use crate::checkpoint::CheckpointError;

/// A check that cannot be made. The command line exits with 2 on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A file, or a tensor in it, cannot be read or does not fit the model.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The activations cannot be read, or do not fit the model.
    #[error(transparent)]
    Activations(#[from] ActivationError),
    /// Scales that were made for another device than the one that runs.
    #[error("the model was inspected for {inspected}, and the device is a {device}")]
    Generation {
        /// The device's generation.
        device: Generation,
        /// The inspection's.
        inspected: Generation,
    },
    /// The device failed while a layer was run.
    #[error("layer {layer}: {source}")]
    Device {
        /// The layer.
        layer: usize,
        /// Its failure.
        source: Box<AttentionError>,
    },
}
