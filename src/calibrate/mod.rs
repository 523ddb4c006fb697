//! KV scales from captured activations, or from INC's measurements, written into a copy of the model.
//!
//! [`check()`] looks at what would be in the way, [`calibrate()`] measures and chooses, [`write()`] makes the folder.
//! `docs/calibrate.md` defines every number.

mod arithmetic;
mod config;
mod error;
mod histogram;
mod maker;
mod measure;
mod method;
mod old_scales;
mod place;
mod range;
mod weight_files;
mod write;

pub use arithmetic::Loss;
pub use error::CalibrateError;
pub use method::{Choice, Choices, Method, PartLoss, Settings};
pub use range::Range;
pub use write::{Carry, WriteOptions, check, write};

use std::path::Path;

use serde::{Serialize, Serializer};
use tracing::info_span;

use crate::Generation;
use crate::checkpoint::{Attention, ModelFolder, Strategy};
use crate::scales::generation_name;
use arithmetic::Arithmetic;
use maker::Maker;
use measure::activation_files;
use place::Places;
use range::weight_bytes;

/// Where values come from: a file, or all files of a folder together.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Captured activations, safetensors: `layers.N.{k,v}` or `layers.N.{kv_c,k_pe}`.
    Activations(&'a Path),
    /// INC measurements, JSON: the largest magnitudes alone.
    IncMeasurements(&'a Path),
}

/// What to make scales for.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The device.
    pub device: Generation,
    /// One scale for a layer's keys and one for its values, or one for each head.
    pub strategy: Strategy,
    /// How scales are chosen.
    pub settings: Settings,
}

/// The scales of a model, and what each choice would have done.
#[derive(Debug, Clone, Serialize)]
pub struct Calibration {
    /// The device.
    #[serde(serialize_with = "generation_name")]
    pub device: Generation,
    /// The range and its flavor.
    #[serde(flatten)]
    pub range: Range,
    /// `tensor` or `attn_head`.
    #[serde(serialize_with = "strategy_name")]
    pub strategy: Strategy,
    /// How scales were chosen.
    #[serde(flatten)]
    pub settings: Settings,
    /// The layers that own a cache.
    pub layers: Vec<LayerCalibration>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

fn strategy_name<S: Serializer>(strategy: &Strategy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(strategy.name())
}

/// The scales of one layer.
#[derive(Debug, Clone, Serialize)]
pub struct LayerCalibration {
    /// The layer's number.
    pub layer: usize,
    /// The kind of its cache.
    pub attention: Attention,
    /// Its attention module, under which the scales are written.
    pub module: String,
    /// Tokens measured; `None` for INC measurements.
    pub tokens: Option<u64>,
    /// Key and value, of all heads or of each in turn; one for a latent.
    pub scales: Vec<ScaleCalibration>,
}

/// One scale.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleCalibration {
    /// `k` or `v`.
    pub role: &'static str,
    /// The KV head; `None` for all of them.
    pub head: Option<usize>,
    /// Values measured; `None` for INC measurements.
    pub elements: Option<u64>,
    /// Their largest magnitude.
    pub amax: f32,
    /// The scale that is written.
    pub scale: f32,
    /// What each method comes to.
    pub choices: Choices,
}

/// Measures the values of every layer's cache and chooses its scales. `progress` is told of the bytes read, from
/// several threads.
///
/// # Errors
/// The source cannot be read, does not fit the model or lacks a layer; values are missing, not finite, or all zero; or
/// the model's own labels contradict its weights.
pub fn calibrate(
    folder: &ModelFolder,
    source: Source<'_>,
    request: &Request,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Calibration, CalibrateError> {
    let _span = info_span!("calibrate", device = %request.device).entered();
    request.settings.check()?;
    folder_is_sound(folder)?;
    let has_latents = folder.layers().cached.iter().any(|layer| layer.attention == Attention::Mla);
    if request.strategy == Strategy::AttnHead && has_latents {
        return Err(CalibrateError::PerHead("an MLA layer has one latent for all heads".to_owned()));
    }
    let range = Range::decide(folder, request.device, progress)?;
    let arithmetic = Arithmetic { generation: request.device, adjustment: range.adjustment(request.device) };
    let maker = Maker { folder, arithmetic, settings: request.settings, places: Places::find(folder) };
    let (layers, notes) = match source {
        Source::Activations(path) => maker.by_activations(path, request.strategy, progress)?,
        Source::IncMeasurements(path) => maker.by_inc(path, request.strategy)?,
    };
    Ok(Calibration {
        device: request.device,
        range,
        strategy: request.strategy,
        settings: request.settings,
        layers,
        notes,
    })
}

/// Refuses a model with errors.
fn folder_is_sound(folder: &ModelFolder) -> Result<(), CalibrateError> {
    match &folder.findings().errors {
        errors if errors.is_empty() => Ok(()),
        errors => Err(CalibrateError::Model(errors.clone())),
    }
}

/// The bytes that [`calibrate`] reads at most: the activation files, and FP8 weights whose label is verified.
///
/// # Errors
/// A folder of activations cannot be read, or holds none.
pub fn bytes_to_read(folder: &ModelFolder, source: Source<'_>) -> Result<u64, CalibrateError> {
    let size = |path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let source_bytes: u64 = match source {
        Source::Activations(path) => activation_files(path)?.into_iter().map(size).sum(),
        Source::IncMeasurements(_) => 0,
    };
    Ok(source_bytes + weight_bytes(folder))
}
