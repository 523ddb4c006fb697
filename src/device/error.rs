//! Why a device could not do its work.

use super::StorageDtype;
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
    /// Memory of another size or type than the plane that is to lie in it.
    #[error("memory of {} {} elements for a cache plane of {} {}", found.0, found.1.name(), expected.0, expected.1.name())]
    PlaneMemory {
        /// Elements of the memory, and their type.
        found: (usize, StorageDtype),
        /// Those of the plane.
        expected: (usize, StorageDtype),
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
    /// A Gaudi, or the way to it, failed.
    #[cfg(feature = "hpu")]
    #[error(transparent)]
    Hpu(Box<super::hpu::HpuError>),
}

#[cfg(feature = "hpu")]
impl From<super::hpu::HpuError> for DeviceError {
    fn from(error: super::hpu::HpuError) -> Self {
        Self::Hpu(Box::new(error))
    }
}

impl DeviceError {
    /// Whether it is the device that failed, and not what it was given that does not fit.
    #[must_use]
    pub const fn is_of_the_device(&self) -> bool {
        match self {
            #[cfg(feature = "hpu")]
            Self::Hpu(_) => true,
            Self::NoHpu => true,
            Self::OutOfMemory { .. }
            | Self::PlaneMemory { .. }
            | Self::Mme(_)
            | Self::Fp8(_)
            | Self::OtherKind
            | Self::ModeOfHpu => false,
        }
    }
}
