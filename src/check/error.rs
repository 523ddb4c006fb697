//! Why a check cannot be made.

use std::path::PathBuf;

use crate::Generation;
use crate::attention::AttentionError;
use crate::checkpoint::CheckpointError;

/// A check that cannot be made. The command line exits with 2 on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A file, or a tensor in it, cannot be read or does not fit the model.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// An activation file without anything for this model.
    #[error("{}: holds activations of no layer with a KV cache; needed are {wanted}", path.display())]
    NoActivations {
        /// The file.
        path: PathBuf,
        /// The tensors of the first layer.
        wanted: String,
    },
    /// Ranks that cannot share the query heads.
    #[error(
        "{size} ranks cannot share the {num_heads} query heads of layer {layer}: one must divide the other"
    )]
    QueryHeads {
        /// The number of ranks.
        size: usize,
        /// The layer.
        layer: usize,
        /// Its query heads.
        num_heads: usize,
    },
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
