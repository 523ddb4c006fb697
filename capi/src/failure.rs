//! From the library's errors to a status, a message, and what they name.

use std::path::PathBuf;

use kv::attention::AttentionError;
use kv::cache::CacheError;
use kv::checkpoint::CheckpointError;
use kv::device::DeviceError;
use kv::fp8::Fp8Error;
use kv::scales::InspectError;

use crate::status::{
    GAUDI_KV_DEVICE_FAILED, GAUDI_KV_INTERNAL, GAUDI_KV_INVALID_ARGUMENT, GAUDI_KV_INVALID_FACTOR,
    GAUDI_KV_INVALID_MODEL, GAUDI_KV_INVALID_SHAPE, GAUDI_KV_MISMATCH, GAUDI_KV_NOT_FOUND,
    GAUDI_KV_OUT_OF_MEMORY, GAUDI_KV_UNSUPPORTED, gaudi_kv_status,
};

/// Why a call failed.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    pub(crate) status: gaudi_kv_status,
    pub(crate) message: String,
    pub(crate) file: Option<PathBuf>,
    pub(crate) tensor: Option<String>,
    pub(crate) layer: Option<usize>,
}

impl Failure {
    fn new(status: gaudi_kv_status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), ..Self::default() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_INVALID_ARGUMENT, message)
    }

    pub(crate) fn factor(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_INVALID_FACTOR, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_INTERNAL, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_UNSUPPORTED, message)
    }

    pub(crate) fn shape(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_INVALID_SHAPE, message)
    }

    pub(crate) fn mismatch(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_MISMATCH, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_NOT_FOUND, message)
    }

    pub(crate) fn no_threads(message: impl Into<String>) -> Self {
        Self::new(GAUDI_KV_OUT_OF_MEMORY, message)
    }

    /// A length that does not fit.
    pub(crate) fn length(what: &str, len: usize, expected: usize) -> Self {
        Self::shape(format!("{what} has {len} elements, {expected} are needed"))
    }
}

/// A status for an error, by the variant that it is.
macro_rules! failure_by_status {
    ($error:ty, $status:path) => {
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new($status(&error), error.to_string())
            }
        }
    };
}

failure_by_status!(AttentionError, of_attention);
failure_by_status!(CacheError, of_cache);
failure_by_status!(DeviceError, of_device);
failure_by_status!(Fp8Error, of_fp8);

fn of_attention(error: &AttentionError) -> gaudi_kv_status {
    match error {
        AttentionError::Value { what: "the prob scale", .. } => GAUDI_KV_INVALID_FACTOR,
        AttentionError::Value { .. } => GAUDI_KV_INVALID_ARGUMENT,
        AttentionError::OtherBlocks { .. } => GAUDI_KV_MISMATCH,
        AttentionError::Cache(error) => of_cache(error),
        AttentionError::Device(error) => of_device(error),
        _ => GAUDI_KV_INVALID_SHAPE,
    }
}

fn of_cache(error: &CacheError) -> gaudi_kv_status {
    match error {
        CacheError::NoScales { .. } => GAUDI_KV_UNSUPPORTED,
        CacheError::ScaleHeads { .. } | CacheError::ScaleValue { .. } => GAUDI_KV_INVALID_FACTOR,
        CacheError::OtherDevice { .. }
        | CacheError::Generation { .. }
        | CacheError::Dtype { .. }
        | CacheError::Shape { .. }
        | CacheError::Fingerprint { .. } => GAUDI_KV_MISMATCH,
        CacheError::NotMha | CacheError::NotMla => GAUDI_KV_INVALID_ARGUMENT,
        CacheError::Device(error) => of_device(error),
        _ => GAUDI_KV_INVALID_SHAPE,
    }
}

fn of_device(error: &DeviceError) -> gaudi_kv_status {
    match error {
        DeviceError::OutOfMemory { .. } => GAUDI_KV_OUT_OF_MEMORY,
        DeviceError::PlaneMemory { .. } => GAUDI_KV_INVALID_SHAPE,
        DeviceError::OtherKind => GAUDI_KV_MISMATCH,
        DeviceError::NoHpu => GAUDI_KV_UNSUPPORTED,
        DeviceError::PlaneAddress { .. } => GAUDI_KV_INVALID_ARGUMENT,
        DeviceError::Fp8(error) => of_fp8(error),
        #[cfg(feature = "hpu")]
        DeviceError::Hardware(error) => error.downcast_ref().map_or(GAUDI_KV_DEVICE_FAILED, of_hpu),
        _ => GAUDI_KV_DEVICE_FAILED,
    }
}

fn of_fp8(error: &Fp8Error) -> gaudi_kv_status {
    match error {
        Fp8Error::Length { .. } | Fp8Error::Rows { .. } => GAUDI_KV_INVALID_SHAPE,
        Fp8Error::Scale(_) => GAUDI_KV_INVALID_FACTOR,
        _ => GAUDI_KV_UNSUPPORTED,
    }
}

#[cfg(feature = "hpu")]
const fn of_hpu(error: &kv::device::hpu::HpuError) -> gaudi_kv_status {
    match error {
        kv::device::hpu::HpuError::OutOfMemory { .. } => GAUDI_KV_OUT_OF_MEMORY,
        _ => GAUDI_KV_DEVICE_FAILED,
    }
}

#[cfg(feature = "hpu")]
impl From<kv::device::hpu::HpuError> for Failure {
    fn from(error: kv::device::hpu::HpuError) -> Self {
        Self::new(of_hpu(&error), error.to_string())
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        let message = error.to_string();
        let (file, tensor, layer) = match error {
            CheckpointError::Io { path, .. }
            | CheckpointError::NotAModel { path, .. }
            | CheckpointError::Json { path, .. }
            | CheckpointError::Key { path, .. }
            | CheckpointError::Safetensors { path, .. } => (Some(path), None, None),
            CheckpointError::Tensor { path, tensor, .. }
            | CheckpointError::ScaleDtype { path, tensor, .. } => (Some(path), Some(tensor), None),
            CheckpointError::ScaleShape { path, tensor, layer, .. } => {
                (Some(path), Some(tensor), Some(layer))
            }
            _ => (None, None, None),
        };
        Self { status: GAUDI_KV_INVALID_MODEL, message, file, tensor, layer }
    }
}

impl From<InspectError> for Failure {
    fn from(error: InspectError) -> Self {
        let message = error.to_string();
        match error {
            InspectError::Checkpoint(error) => error.into(),
            InspectError::Rank { .. } => Self::argument(message),
            InspectError::TensorParallel { layer, .. } => {
                Self { status: GAUDI_KV_INVALID_MODEL, message, layer: Some(layer), ..Self::default() }
            }
            _ => Self::new(GAUDI_KV_INVALID_MODEL, message),
        }
    }
}
