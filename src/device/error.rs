//! Why a device could not do its work.

use crate::fp8::Fp8Error;
use crate::mme::MmeError;

/// A failure of a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The memory cannot be had.
    #[error("cannot allocate {bytes} bytes for a cache plane")]
    OutOfMemory {
        /// The size asked for.
        bytes: usize,
    },
    /// A product that the matrix engine does not have.
    #[error(transparent)]
    Mme(#[from] MmeError),
    /// A conversion that cannot be made.
    #[error(transparent)]
    Fp8(#[from] Fp8Error),
}
