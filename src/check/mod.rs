//! What a checkpoint's KV scales do to attention: every layer through its real cache, compared with float64.
//!
//! Each layer takes queries, keys and values (from a file, or drawn to the calibrated range), stores them in its cache
//! and computes them as one prefill and through the cache, with its own scales and with three ways to get them wrong.
//! `docs/check.md` defines every number.

mod checker;
mod concern;
mod distance;
mod error;
mod layer;
mod model_json;
mod reference;
mod result;
mod scoring;
mod share;
mod stored_cache;
mod synthetic;
mod uneven_latent;
mod variant;
mod verdict;
mod weights;

pub use concern::{Concern, Verdict};
pub use distance::Distance;
pub use error::CheckError;
pub use model_json::ModelJson;
pub use result::{ActivationSource, Check, LayerCheck, LayerOutputs, SkippedLayer};
pub use stored_cache::{CodeCounts, StoredCache, StoredPart};
pub use variant::{Variant, Variants};

use std::collections::BTreeSet;
use std::path::Path;

use tracing::info_span;

use crate::activations::ActivationFile;
use crate::checkpoint::{AttentionConfig, ModelFolder};
use crate::device::Device;
use crate::scales::Inspection;

use checker::Checker;
use weights::AttentionWeights;

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
    let types: BTreeSet<&str> =
        folder.layers().cached.iter().map(|layer| layer.layer_type.as_str()).collect();
    let chooses = |name: &&str| ["sparse", "indexed", "compressed"].iter().any(|word| name.contains(word));
    notes.extend(types.into_iter().filter(chooses).map(|name| {
        format!(
            "not modelled: which tokens layers of the type {name} choose; they attend to all of them here"
        )
    }));
    notes
}
