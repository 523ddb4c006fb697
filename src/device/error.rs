//! The failures of a device.

use std::error::Error;

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
    /// Memory of another size than the plane that is to lie in it.
    #[error("memory of {found} bytes for a cache plane of {expected}")]
    PlaneMemory {
        /// Bytes of the memory.
        found: usize,
        /// Bytes of the plane.
        expected: usize,
    },
    /// Memory that no plane can lie in.
    #[error("memory for a cache plane is null or not aligned to its elements of {alignment} bytes")]
    PlaneAddress {
        /// What the address must be a multiple of.
        alignment: usize,
    },
    /// A product that the matrix engine does not have.
    #[error(transparent)]
    Mme(#[from] MmeError),
    /// A conversion that cannot be made.
    #[error(transparent)]
    Fp8(#[from] Fp8Error),
    /// A cache plane of an emulated device given to a Gaudi, or the other way round.
    #[error("the cache plane lies in the memory of another kind of device")]
    OtherKind,
    /// A mode of accumulation for a Gaudi.
    #[error("a mode is for an emulated device; a Gaudi accumulates products in its own way")]
    ModeOfHpu,
    /// A Gaudi where the library has no support for one.
    #[error("gaudi-kv was built without the feature hpu, so it cannot use a Gaudi")]
    NoHpu,
    /// The hardware, or the way to it, failed. What it was is known to the device: `hpu::HpuError` for a Gaudi.
    #[error(transparent)]
    Hardware(Box<dyn Error + Send + Sync>),
}

impl DeviceError {
    /// Whether it is the device that failed, and not what it was given that does not fit.
    #[must_use]
    pub const fn is_of_the_device(&self) -> bool {
        match self {
            Self::Hardware(_) | Self::NoHpu => true,
            Self::OutOfMemory { .. }
            | Self::PlaneMemory { .. }
            | Self::PlaneAddress { .. }
            | Self::Mme(_)
            | Self::Fp8(_)
            | Self::OtherKind
            | Self::ModeOfHpu => false,
        }
    }
}
