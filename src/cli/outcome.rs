//! How a command ends.

use std::io;

use gaudi_kv::device::DeviceError;

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
    Device(DeviceError),
    #[error("--mode is for an emulated device; a Gaudi accumulates products in its own way")]
    ModeOfHpu,
    #[error("cannot write {what}: {source}")]
    Write { what: String, source: io::Error },
}

impl From<DeviceError> for CommandError {
    /// Names the option that asked for what no device does.
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::ModeOfHpu => Self::ModeOfHpu,
            other => Self::Device(other),
        }
    }
}
