//! Why activations cannot be read.

use std::path::PathBuf;

use crate::checkpoint::CheckpointError;

/// Activations that cannot be read, or that do not fit the model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActivationError {
    /// A file, or a tensor in it, cannot be read or does not fit the model.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// An activation file without anything for this model.
    #[error("{}: holds activations of no layer with a KV cache; needed are {wanted}", path.display())]
    NoLayer {
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
}
