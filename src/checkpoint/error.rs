//! Why a model folder cannot be read. Every variant names the file, and the tensor where there is one.

use std::path::{Path, PathBuf};

use safetensors::Dtype;

/// A model folder that cannot be read. The command line exits with 2 on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's own error.
        source: std::io::Error,
    },
    /// The path is not a folder that holds a model.
    #[error("{}: {reason}", path.display())]
    NotAModel {
        /// The path given.
        path: PathBuf,
        /// What is missing, and what would be accepted.
        reason: String,
    },
    /// A JSON file is not valid JSON, is too large, or repeats a key.
    #[error("{}: {reason}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where known.
        reason: String,
    },
    /// A JSON file is valid but a key holds something else than it must.
    #[error("{}: {key}: {reason}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// The key, dotted from the top level.
        key: String,
        /// The value found and what is allowed.
        reason: String,
    },
    /// A safetensors file is damaged as a whole.
    #[error("{}: {reason}", path.display())]
    Safetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A safetensors header entry is damaged.
    #[error("{}: tensor `{tensor}`: {reason}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A KV-scale tensor has a type that no scale has.
    #[error("{}: tensor `{tensor}`: dtype {dtype:?} is not a scale; allowed are F32, BF16, F16, F64 and F8_E8M0", path.display())]
    ScaleDtype {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// Its type.
        dtype: Dtype,
    },
    /// A KV-scale tensor has a shape that fits neither one scale nor one a head.
    #[error("{}: tensor `{tensor}` of layer {layer}: shape {shape:?}; allowed are {allowed}", path.display())]
    ScaleShape {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// The layer it belongs to.
        layer: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// The shapes that fit this model.
        allowed: String,
    },
}

impl CheckpointError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn json(path: &Path, reason: impl Into<String>) -> Self {
        Self::Json { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn key(path: &Path, key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Key { path: path.to_owned(), key: key.into(), reason: reason.into() }
    }

    pub(crate) fn safetensors(path: &Path, reason: impl Into<String>) -> Self {
        Self::Safetensors { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn tensor(path: &Path, tensor: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Tensor { path: path.to_owned(), tensor: tensor.into(), reason: reason.into() }
    }
}
