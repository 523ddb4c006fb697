//! Inspections and checks of models, as their JSON.

use std::path::PathBuf;

use gaudi_kv::Generation;
use gaudi_kv::check::Check;
use gaudi_kv::checkpoint::{ModelFolder, TensorParallel};
use gaudi_kv::device::emulated::Emulated;
use gaudi_kv::scales::{
    CacheDtypeRequest, Inspection, MlaScale, Options, QMissing, SCALE_ADJUSTMENT_ENV, SkipLayer,
    parse_scale_adjustment,
};
use pyo3::prelude::*;
use serde::Serialize;

use crate::device::{generation, mode};
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
    fn options(self) -> Result<Options, Failure> {
        let unknown =
            |what, value: &str, known| Failure::Option(format!("{what} {value:?}; {known} are known"));
        let environment =
            || std::env::var_os(SCALE_ADJUSTMENT_ENV).map(|v| parse_scale_adjustment(&v.to_string_lossy()));
        let device = match self.device.as_deref() {
            Some(name) => generation(name)?,
            None => gaudi_kv::device::installed_generation().unwrap_or(Generation::Gaudi2),
        };
        let skip_layers = self.skip_layers.into_iter().map(|layer| match layer {
            Skip::Index(index) => Ok(SkipLayer::Index(index)),
            Skip::Kind(kind) if kind == "sliding_window" => Ok(SkipLayer::SlidingWindow),
            Skip::Kind(kind) => Err(unknown("layer", &kind, "layer numbers and sliding_window")),
        });
        Ok(Options {
            kv_cache_dtype: match self.kv_cache_dtype.as_str() {
                "auto" => CacheDtypeRequest::Auto,
                "bf16" | "bfloat16" => CacheDtypeRequest::Bf16,
                "fp8" | "fp8_e4m3" | "fp8_inc" => CacheDtypeRequest::Fp8,
                other => return Err(unknown("kv_cache_dtype", other, "auto, bf16 and fp8")),
            },
            mla_scale: match self.mla_scale.as_str() {
                "k-only" => MlaScale::KOnly,
                "max-kv" => MlaScale::MaxKv,
                other => return Err(unknown("mla_scale", other, "k-only and max-kv")),
            },
            q_missing: match self.q_missing.as_str() {
                "dynamic" => QMissing::Dynamic,
                "one" => QMissing::One,
                other => return Err(unknown("q_missing", other, "dynamic and one")),
            },
            tensor_parallel: self.tensor_parallel.map(|(size, rank)| TensorParallel { size, rank }),
            skip_layers: skip_layers.collect::<Result<_, _>>()?,
            scale_adjustment: self.scale_adjustment.or_else(environment),
            verify_weights: self.verify_weights,
            strict: self.strict,
            ..Options::new(device)
        })
    }
}

fn inspection(model: &std::path::Path, wish: Wish) -> Result<(ModelFolder, Inspection), Failure> {
    let options = wish.options()?;
    let folder = ModelFolder::open(model)?;
    let inspection = gaudi_kv::scales::inspect(&folder, &options, &|_| {})?;
    Ok((folder, inspection))
}

/// The JSON text of an inspection.
#[pyfunction]
#[pyo3(signature = (model, options))]
pub(crate) fn inspect(py: Python<'_>, model: PathBuf, options: Wish) -> PyResult<String> {
    in_pool(py, || {
        let (_, inspection) = inspection(&model, options)?;
        Ok(serde_json::to_string(&inspection)?)
    })
}

/// The inspection's object with one more key.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    inspection: &'a Inspection,
    check: &'a Check,
}

/// The JSON text of an inspection and a check.
#[pyfunction]
#[pyo3(signature = (model, options, mode, activations))]
pub(crate) fn check(
    py: Python<'_>,
    model: PathBuf,
    options: Wish,
    mode: &str,
    activations: Option<PathBuf>,
) -> PyResult<String> {
    let mode = self::mode(mode)?;
    in_pool(py, || {
        let (folder, inspection) = inspection(&model, options)?;
        let device = Emulated::new(inspection.device, mode);
        let check =
            gaudi_kv::check::check(&folder, &inspection, &device, activations.as_deref(), &mut |_| {})?;
        Ok(serde_json::to_string(&Checked { inspection: &inspection, check: &check })?)
    })
}
