//! From the library's errors to the package's exceptions.

use gaudi_kv::attention::AttentionError;
use gaudi_kv::cache::CacheError;
use gaudi_kv::check::CheckError;
use gaudi_kv::checkpoint::CheckpointError;
use gaudi_kv::convert::ConvertError;
use gaudi_kv::device::DeviceError;
use gaudi_kv::fp8::Fp8Error;
use gaudi_kv::rewrite::RewriteError;
use gaudi_kv::scales::InspectError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No array, or one of another type or place.
    #[error("{0}")]
    Dtype(String),
    /// An array or a size that does not fit.
    #[error("{0}")]
    Shape(String),
    /// An option that is not known or has no such value.
    #[error("{0}")]
    Option(String),
    /// The threads cannot be had.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A cache in tensors of the CPU for a Gaudi.
    #[error("the caches of a Gaudi lie in its own memory, not in tensors of the CPU")]
    NotOfTensors,
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Attention(#[from] AttentionError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    Fp8(#[from] Fp8Error),
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error("the result cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The exceptions of `gaudi_kv`, by the names that they have there.
const BASE: &str = "GaudiKvError";
const MODEL: &str = "ModelError";
const OPTION: &str = "OptionError";
const DTYPE: &str = "DtypeError";
const SHAPE: &str = "ShapeError";
const SCALE: &str = "ScaleError";
const DEVICE: &str = "DeviceError";

impl Failure {
    fn exception(&self) -> &'static str {
        match self {
            Self::Dtype(_) => DTYPE,
            Self::Shape(_) => SHAPE,
            Self::Option(_) => OPTION,
            Self::Threads(_) => DEVICE,
            Self::NotOfTensors => DEVICE,
            Self::Device(error) => of_device(error),
            Self::Attention(error) => of_attention(error),
            Self::Cache(error) => of_cache(error),
            Self::Fp8(error) => of_fp8(error),
            Self::Inspect(InspectError::Rank { .. } | InspectError::TensorParallel { .. }) => OPTION,
            Self::Convert(ConvertError::Rewrite(RewriteError::Destination { .. })) => OPTION,
            Self::Inspect(_) | Self::Checkpoint(_) | Self::Check(_) | Self::Convert(_) => MODEL,
            Self::Json(_) => BASE,
        }
    }
}

fn of_attention(error: &AttentionError) -> &'static str {
    match error {
        AttentionError::Value { what: "the prob scale", .. } => SCALE,
        AttentionError::Value { .. } => OPTION,
        AttentionError::Cache(error) => of_cache(error),
        AttentionError::Device(error) => of_device(error),
        AttentionError::Length { .. }
        | AttentionError::Size { .. }
        | AttentionError::Batch { .. }
        | AttentionError::OtherBlocks { .. }
        | AttentionError::NoCache { .. } => SHAPE,
        _ => BASE,
    }
}

fn of_cache(error: &CacheError) -> &'static str {
    match error {
        CacheError::NoScales { .. } | CacheError::OtherDevice { .. } | CacheError::Generation { .. } => {
            DEVICE
        }
        CacheError::ScaleHeads { .. } | CacheError::ScaleValue { .. } | CacheError::Fingerprint { .. } => {
            SCALE
        }
        CacheError::Dtype { .. } => DTYPE,
        CacheError::Device(error) => of_device(error),
        CacheError::BlockSize(_)
        | CacheError::Size { .. }
        | CacheError::Slot { .. }
        | CacheError::Block { .. }
        | CacheError::Length { .. }
        | CacheError::Shape { .. } => SHAPE,
        _ => BASE,
    }
}

fn of_device(error: &DeviceError) -> &'static str {
    match error {
        DeviceError::PlaneMemory { .. } | DeviceError::PlaneAddress { .. } => SHAPE,
        DeviceError::ModeOfHpu => OPTION,
        DeviceError::Fp8(error) => of_fp8(error),
        _ => DEVICE,
    }
}

fn of_fp8(error: &Fp8Error) -> &'static str {
    match error {
        Fp8Error::Length { .. } | Fp8Error::Rows { .. } => SHAPE,
        Fp8Error::Scale(_) => SCALE,
        _ => OPTION,
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| {
            let find = || -> PyResult<_> {
                let class = py.import("gaudi_kv._errors")?.getattr(failure.exception())?;
                Ok(class.cast_into::<PyType>()?)
            };
            match find() {
                Ok(class) => PyErr::from_type(class, failure.to_string()),
                Err(error) => error,
            }
        })
    }
}
