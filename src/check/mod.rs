//! What a checkpoint's KV scales do to attention: every layer through its real cache, compared with float64.
//!
//! Each layer takes queries, keys and values (from a file, or drawn to the calibrated range), stores them in its cache
//! and computes them as one prefill and through the cache, with its own scales and with three ways to get them wrong.
//! `docs/check.md` defines every number.

mod activations;
mod error;
mod errors;
mod layer;
mod reference;
mod shape;
mod stored;
mod synthetic;
mod tensor;
mod variant;
mod verdict;
mod weights;

pub use error::CheckError;
pub use errors::Errors;
pub use stored::{CodeCounts, StoredCache, StoredPart};
pub use variant::{Variant, Variants};
pub use verdict::{Concern, Verdict};

use std::path::Path;

use serde::{Serialize, Serializer};
use tracing::info_span;

use crate::checkpoint::{AttentionConfig, CacheLayer, ModelFolder, TensorParallel};
use crate::device::StorageDtype;
use crate::device::emulated::{Emulated, Mode};
use crate::scales::{CacheDtype, Inspection, LayerReport};

use activations::ActivationFile;
use layer::{Layer, Run};
use shape::{LayerShape, Scoring};
use variant::RunScales;
use weights::{AttentionWeights, Weight};

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
    /// How products were accumulated.
    #[serde(serialize_with = "mode_name")]
    pub mode: Mode,
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

fn mode_name<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(mode)
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

/// Runs the caches of a model. `activations` is a safetensors file; without one they are drawn. `observer` is given the
/// outputs of each layer in order, `None` for a layer that was skipped.
///
/// # Errors
/// A file or a weight cannot be read or does not fit the model. What is wrong with the scales is in the result.
pub fn check(
    folder: &ModelFolder,
    inspection: &Inspection,
    mode: Mode,
    activations: Option<&Path>,
    observer: &mut dyn FnMut(Option<LayerOutputs>),
) -> Result<Check, CheckError> {
    let _span = info_span!("check", device = %inspection.device, %mode).entered();
    let file = activations.map(ActivationFile::open).transpose()?;
    if let Some(file) = &file {
        file.check_layers(folder.layers())?;
    }
    let config = folder.attention_config()?;
    let checker = Checker {
        folder,
        inspection,
        device: Emulated::new(inspection.device, mode),
        weights: AttentionWeights::find(folder)?,
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
        mode,
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

struct Checker<'a> {
    folder: &'a ModelFolder,
    inspection: &'a Inspection,
    device: Emulated,
    weights: AttentionWeights<'a>,
    file: Option<&'a ActivationFile>,
    config: &'a AttentionConfig,
}

/// A layer's result, or why it was skipped.
type LayerResult = Result<(LayerCheck, LayerOutputs), String>;

impl Checker<'_> {
    fn layer(&self, report: &LayerReport) -> Result<LayerResult, CheckError> {
        let Some(layer) = self.folder.layers().get(report.layer) else {
            return Ok(Err("the model has no such layer".to_owned()));
        };
        if self.file.is_some_and(|file| !file.has(report.layer)) {
            return Ok(Err("the activation file has none for it".to_owned()));
        }
        let all = Variant::ALL.map(|v| RunScales::of(report, v, &self.inspection.scale_adjustment));
        let [Some(scales), Some(scale_one), Some(missing), Some(twice)] = all else {
            return Ok(Err("an error of the model left it without scales".to_owned()));
        };
        let shape = LayerShape::read(self.folder, self.config, layer, self.tensor_parallel())?;
        let kv_b_proj = match self.weights.kv_b_proj(report.layer, &shape)? {
            Weight::Found(values) => values,
            Weight::Unavailable(reason) => return Ok(Err(reason)),
        };
        let sinks = self.weights.sinks(report.layer, &shape)?;
        let scoring = Scoring::new(self.config, &shape, layer.is_sliding, sinks);
        let activations = self.activations(report, layer, &shape)?;
        let runner = Layer {
            shape: &shape,
            scoring: &scoring,
            activations: &activations,
            kv_b_proj: &kv_b_proj,
            dtype: match report.kv_cache_dtype {
                CacheDtype::Fp8 => StorageDtype::Fp8,
                CacheDtype::Bf16 => StorageDtype::Bf16,
            },
        };
        let run = match runner.run(&self.device, &scales) {
            Ok(run) => run,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let reference = reference::attend(&shape, &activations, &kv_b_proj, &scoring);
        let of = |run: &Run| (Errors::of(&run.prefill, &reference), Errors::of(&run.decode, &reference));
        let own = of(&run);
        let mut done = vec![(scales, own.clone())];
        let mut variants = Vec::with_capacity(3);
        for scales in [scale_one, missing, twice] {
            // Variants that come to the same scales come to the same outputs.
            let known = done.iter().find(|(other, _)| *other == scales).map(|(_, errors)| errors.clone());
            let errors = match known {
                Some(errors) => errors,
                None => match runner.run(&self.device, &scales) {
                    Ok(run) => of(&run),
                    Err(error) => return Ok(Err(error.to_string())),
                },
            };
            done.push((scales, errors.clone()));
            variants.push(errors);
        }
        let [scale_one, missing, twice]: [(Errors, Errors); 3] = match variants.try_into() {
            Ok(three) => three,
            Err(_) => return Ok(Err("not all variants were run".to_owned())),
        };
        let tokens = activations.tokens();
        let checked = LayerCheck {
            layer: report.layer,
            kv_cache_dtype: report.kv_cache_dtype,
            tokens,
            prefill: Variants {
                scales: own.0,
                scale_one: scale_one.0,
                adjustment_missing: missing.0,
                adjustment_twice: twice.0,
            },
            decode: Variants {
                scales: own.1,
                scale_one: scale_one.1,
                adjustment_missing: missing.1,
                adjustment_twice: twice.1,
            },
            cache: run.stored,
        };
        debug_assert_eq!(run.decode.len(), tokens * shape.out_row());
        let outputs =
            LayerOutputs { layer: report.layer, tokens, prefill: run.prefill, decode: run.decode };
        Ok(Ok((checked, outputs)))
    }

    fn activations(
        &self,
        report: &LayerReport,
        layer: &CacheLayer,
        shape: &LayerShape,
    ) -> Result<activations::Activations, CheckError> {
        match self.file {
            Some(file) => file.read(layer.index, layer.owner.unwrap_or(layer.index), shape),
            None => Ok(synthetic::draw(report, shape, self.inspection.scale_adjustment.fp8_max_quant)),
        }
    }

    fn tensor_parallel(&self) -> TensorParallel {
        let rank = self.inspection.tensor_parallel;
        rank.map_or_else(TensorParallel::default, |rank| TensorParallel { size: rank.size, rank: rank.rank })
    }
}
