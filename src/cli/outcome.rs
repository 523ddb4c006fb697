//! How a command ends.

use std::io;

/// How a command ended that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing is wrong: 0.
    Fine,
    /// The model has errors, or warnings under `--strict`: 1.
    ModelHasErrors,
}

/// Why a command could not do its work: 2.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error(transparent)]
    Inspect(#[from] gaudi_kv::scales::InspectError),
    #[error(transparent)]
    Checkpoint(#[from] gaudi_kv::checkpoint::CheckpointError),
    #[error(transparent)]
    Check(#[from] gaudi_kv::check::CheckError),
    #[error(transparent)]
    Calibrate(#[from] gaudi_kv::calibrate::CalibrateError),
    #[error(transparent)]
    Convert(#[from] gaudi_kv::convert::ConvertError),
    #[error(transparent)]
    Device(#[from] gaudi_kv::device::DeviceError),
    #[error("cannot write {what}: {source}")]
    Write { what: String, source: io::Error },
}
