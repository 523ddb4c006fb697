//! Inspections and checks of models, as their JSON.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use gaudi_kv::Generation;
use gaudi_kv::check::{ModelJson, check as check_model};
use gaudi_kv::checkpoint::{ModelFolder, TensorParallel};
use gaudi_kv::device::{DeviceChoice, installed_generation};
use gaudi_kv::scales::{
    Inspection, OptionError, Options, SkipLayer, inspect as inspect_model, requested_scale_adjustment,
};
use pyo3::prelude::*;

use crate::device::{choice, mode};
use crate::dispatch::in_pool;
use crate::error::Failure;

/// A layer, or a kind of layers, as Python gives it.
#[derive(Debug, FromPyObject)]
pub(crate) enum Skip {
    Index(usize),
    Kind(String),
}

/// What an inspection is asked for, by the names of the package's function.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Wish {
    device: Option<String>,
    kv_cache_dtype: String,
    mla_scale: String,
    q_missing: String,
    /// The number of ranks, and the rank.
    tensor_parallel: Option<(usize, usize)>,
    skip_layers: Vec<Skip>,
    scale_adjustment: Option<bool>,
    verify_weights: bool,
    strict: bool,
}

impl Wish {
    /// The device that is asked for: without one, the generation of this machine's Gaudi or a Gaudi2, emulated.
    fn device(&self) -> Result<DeviceChoice, Failure> {
        match &self.device {
            Some(name) => choice(name),
            None => Ok(DeviceChoice::Emulated(installed_generation().unwrap_or(Generation::Gaudi2))),
        }
    }

    fn options(&self, device: Generation) -> Result<Options, Failure> {
        let layers = self.skip_layers.iter().map(|layer| match layer {
            Skip::Index(index) => Ok(SkipLayer::Index(*index)),
            Skip::Kind(kind) => option("skip_layers", kind),
        });
        Ok(Options {
            kv_cache_dtype: option("kv_cache_dtype", &self.kv_cache_dtype)?,
            mla_scale: option("mla_scale", &self.mla_scale)?,
            q_missing: option("q_missing", &self.q_missing)?,
            tensor_parallel: self.tensor_parallel.map(|(size, rank)| TensorParallel { size, rank }),
            skip_layers: layers.collect::<Result<_, _>>()?,
            scale_adjustment: self.scale_adjustment.or_else(requested_scale_adjustment),
            verify_weights: self.verify_weights,
            strict: self.strict,
            ..Options::new(device)
        })
    }

    fn inspection(&self, model: &Path, device: DeviceChoice) -> Result<(ModelFolder, Inspection), Failure> {
        let options = self.options(device.generation()?)?;
        let folder = ModelFolder::open(model)?;
        let inspection = inspect_model(&folder, &options, &|_| {})?;
        Ok((folder, inspection))
    }
}

/// The value of an option that has a name in the library.
fn option<T: FromStr<Err = OptionError>>(what: &str, name: &str) -> Result<T, Failure> {
    name.parse().map_err(|error| Failure::Option(format!("{what}: {error}")))
}

/// The JSON text of an inspection.
#[pyfunction]
#[pyo3(signature = (model, options))]
pub(crate) fn inspect(py: Python<'_>, model: PathBuf, options: Wish) -> PyResult<String> {
    in_pool(py, || {
        let device = options.device()?;
        let (_, inspection) = options.inspection(&model, device)?;
        Ok(serde_json::to_string(&ModelJson::new(&inspection, device.backend_name()))?)
    })
}

/// The JSON text of an inspection and a check.
#[pyfunction]
#[pyo3(signature = (model, options, mode, activations))]
pub(crate) fn check(
    py: Python<'_>,
    model: PathBuf,
    options: Wish,
    mode: Option<&str>,
    activations: Option<PathBuf>,
) -> PyResult<String> {
    let mode = mode.map(self::mode).transpose()?;
    in_pool(py, || {
        let choice = options.device()?;
        let (folder, inspection) = options.inspection(&model, choice)?;
        let device = choice.open(mode)?;
        let check = check_model(&folder, &inspection, &device, activations.as_deref(), &mut |_| {})?;
        Ok(serde_json::to_string(&ModelJson::new(&inspection, choice.backend_name()).with_check(&check))?)
    })
}
