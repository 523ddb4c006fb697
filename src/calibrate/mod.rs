//! KV scales from captured activations, or from INC's measurements, written into a copy of the model.
//!
//! [`check()`] looks at what would be in the way, [`calibrate()`] measures and chooses, [`write()`] makes the folder.
//! `docs/calibrate.md` defines every number.

mod arithmetic;
mod attention_modules;
mod calibration;
mod choose;
mod config;
mod error;
mod histogram;
mod inc;
mod measure;
mod method;
mod old_scales;
mod range;
mod weight_files;
mod write;

pub use arithmetic::Loss;
pub use calibration::{Calibration, LayerCalibration, ScaleCalibration};
pub use error::CalibrateError;
pub use method::{Choice, Choices, Method, PartLoss, Settings};
pub use range::Range;
pub use write::{Carry, WriteOptions, check, write};

use std::path::Path;

use tracing::info_span;

use crate::Generation;
use crate::checkpoint::{Attention, ModelFolder, Strategy};
use arithmetic::Arithmetic;
use attention_modules::AttentionModules;
use choose::ScaleChooser;
use error::refuse_unsound;
use measure::activation_files;
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
    /// The device's generation.
    pub device: Generation,
    /// One scale for a layer's keys and one for its values, or one for each head.
    pub strategy: Strategy,
    /// How scales are chosen.
    pub settings: Settings,
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
    refuse_unsound(folder)?;
    let has_latents = folder.layers().cached.iter().any(|layer| layer.attention == Attention::Mla);
    if request.strategy == Strategy::AttnHead && has_latents {
        return Err(CalibrateError::PerHead("an MLA layer has one latent for all heads".to_owned()));
    }
    let range = Range::decide(folder, request.device, progress)?;
    let arithmetic = Arithmetic { generation: request.device, adjustment: range.adjustment(request.device) };
    let modules = AttentionModules::find(folder);
    let chooser = ScaleChooser { folder, arithmetic, settings: request.settings, modules };
    let (layers, notes) = match source {
        Source::Activations(path) => chooser.by_activations(path, request.strategy, progress)?,
        Source::IncMeasurements(path) => chooser.by_inc(path, request.strategy)?,
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
