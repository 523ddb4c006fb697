//! What a checkpoint's KV scales do to attention: every layer through its real cache, compared with float64.
//!
//! Each layer takes queries, keys and values (from a file, or drawn to the calibrated range), stores them in its cache
//! and computes them as one prefill and through the cache, with its own scales and with three ways to get them wrong.
//! `docs/check.md` defines every number.

pub(crate) mod activations;
mod checker;
mod error;
mod errors;
mod layer;
mod model_json;
mod one_part;
mod reference;
pub(crate) mod shape;
pub(crate) mod stored;
mod synthetic;
pub(crate) mod tensor;
mod variant;
mod verdict;
mod weights;

pub use error::CheckError;
pub use errors::Errors;
pub use model_json::ModelJson;
pub use stored::{CodeCounts, StoredCache, StoredPart};
pub use variant::{Variant, Variants};
pub use verdict::{Concern, Verdict};

use std::path::Path;

use serde::{Serialize, Serializer};
use tracing::info_span;

use crate::checkpoint::{AttentionConfig, ModelFolder};
use crate::device::{Backend, Device};
use crate::scales::{CacheDtype, Inspection};

use activations::ActivationFile;
use checker::Checker;
use weights::AttentionWeights;

/// Where the activations come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivationSource {
    /// A file of captured ones.
    File,
    /// Drawn to the range that the scales were calibrated for.
    Synthetic,
}

/// What a check found.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Where the activations come from.
    pub activations: ActivationSource,
    /// What computed, and how products were accumulated.
    #[serde(rename = "mode", serialize_with = "arithmetic")]
    pub backend: Backend,
    /// The layers that were run.
    pub layers: Vec<LayerCheck>,
    /// The layers with a KV cache that were not.
    pub skipped: Vec<SkippedLayer>,
    /// What is not as it should be, most severe first.
    pub warnings: Vec<String>,
    /// What the numbers leave out.
    pub notes: Vec<String>,
    /// All of it in a sentence.
    pub verdict: String,
    /// The verdict as a value.
    #[serde(skip)]
    pub kind: Verdict,
}

fn arithmetic<S: Serializer>(backend: &Backend, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(backend.arithmetic())
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerCheck {
    /// The layer's number.
    pub layer: usize,
    /// The type of its cache.
    pub kv_cache_dtype: CacheDtype,
    /// The tokens that were run.
    pub tokens: usize,
    /// All tokens in one prefill, which uses keys and values as they were computed.
    pub prefill: Variants<Errors>,
    /// Every token computed through the cache.
    pub decode: Variants<Errors>,
    /// What the cache holds with the scales as inspected.
    pub cache: StoredCache,
}

/// A layer that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedLayer {
    /// The layer's number.
    pub layer: usize,
    /// Why.
    pub reason: String,
}

/// The outputs of a layer with the scales as inspected, `[tokens, heads * v_head_dim]`.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerOutputs {
    /// The layer's number.
    pub layer: usize,
    /// The tokens.
    pub tokens: usize,
    /// All tokens in one prefill.
    pub prefill: Vec<f32>,
    /// Every token computed through the cache.
    pub decode: Vec<f32>,
}

/// Runs the caches of a model on `device`, whose generation is the one that was inspected for. `activations` is a
/// safetensors file; without one they are drawn. `observer` is given the outputs of each layer in order, `None` for a
/// layer that was skipped.
///
/// # Errors
/// A file or a weight cannot be read or does not fit the model, or the device failed. What is wrong with the scales is
/// in the result.
pub fn check<D: Device>(
    folder: &ModelFolder,
    inspection: &Inspection,
    device: &D,
    activations: Option<&Path>,
    observer: &mut dyn FnMut(Option<LayerOutputs>),
) -> Result<Check, CheckError> {
    if device.generation() != inspection.device {
        let (device, inspected) = (device.generation(), inspection.device);
        return Err(CheckError::Generation { device, inspected });
    }
    let _span = info_span!("check", device = device.description()).entered();
    let file = activations.map(ActivationFile::open).transpose()?;
    if let Some(file) = &file {
        file.check_layers(folder.layers())?;
    }
    let config = folder.attention_config()?;
    let checker = Checker {
        folder,
        inspection,
        device,
        weights: AttentionWeights::find(folder, inspection.scale_adjustment.enabled)?,
        file: file.as_ref(),
        config: &config,
    };
    let (mut layers, mut skipped) = (Vec::new(), Vec::new());
    for report in &inspection.layers {
        match checker.layer(report)? {
            Ok((checked, outputs)) => {
                layers.push(checked);
                observer(Some(outputs));
            }
            Err(reason) => {
                skipped.push(SkippedLayer { layer: report.layer, reason });
                observer(None);
            }
        }
    }
    let source = if file.is_some() { ActivationSource::File } else { ActivationSource::Synthetic };
    let judged = verdict::judge(&layers, &skipped, inspection);
    Ok(Check {
        activations: source,
        backend: device.backend(),
        layers,
        skipped,
        warnings: judged.warnings,
        notes: notes(&config, file.as_ref(), folder),
        verdict: judged.words,
        kind: judged.kind,
    })
}

/// What a result does not say by itself.
fn notes(config: &AttentionConfig, file: Option<&ActivationFile>, folder: &ModelFolder) -> Vec<String> {
    let mut notes = Vec::new();
    match file {
        None => notes.push(
            "the activations are synthetic, drawn to the range that the scales were calibrated for: they show what \
             the arithmetic loses, not whether the calibration fits real text"
                .to_owned(),
        ),
        Some(file) => {
            let strangers = file.strangers(folder.layers());
            if let Some(first) = strangers.first() {
                let count = strangers.len();
                notes.push(format!("{count} tensors of the activation file belong to no layer, such as {first}"));
            }
        }
    }
    notes.extend(config.other_parts.iter().map(|part| format!("not modelled: {part}")));
    notes
}
