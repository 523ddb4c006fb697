//! One layer: what it needs is gathered, and it is run under every variant.

use super::activations::{ActivationFile, Activations};
use super::layer::{Layer, Run};
use super::shape::{LayerShape, Scoring};
use super::variant::RunScales;
use super::weights::{AttentionWeights, Weight};
use super::{CheckError, Errors, LayerCheck, LayerOutputs, Variant, Variants, reference, synthetic};
use crate::attention::AttentionError;
use crate::checkpoint::{AttentionConfig, CacheLayer, ModelFolder, TensorParallel};
use crate::device::{Device, StorageDtype};
use crate::scales::{CacheDtype, Inspection, LayerReport};

/// A model, ready to run its layers.
pub(super) struct Checker<'a, D> {
    pub(super) folder: &'a ModelFolder,
    pub(super) inspection: &'a Inspection,
    pub(super) device: &'a D,
    pub(super) weights: AttentionWeights<'a>,
    pub(super) file: Option<&'a ActivationFile>,
    pub(super) config: &'a AttentionConfig,
}

/// A layer's result, or why it was skipped.
pub(super) type LayerResult = Result<(LayerCheck, LayerOutputs), String>;

impl<D: Device> Checker<'_, D> {
    /// Runs one layer under all variants.
    pub(super) fn layer(&self, report: &LayerReport) -> Result<LayerResult, CheckError> {
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
        let run = match runner.run(self.device, &scales) {
            Ok(run) => run,
            Err(error) => return not_run(report.layer, error),
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
                None => match runner.run(self.device, &scales) {
                    Ok(run) => of(&run),
                    Err(error) => return not_run(report.layer, error),
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
        let outputs = LayerOutputs { layer: report.layer, tokens, prefill: run.prefill, decode: run.decode };
        Ok(Ok((checked, outputs)))
    }

    fn activations(
        &self,
        report: &LayerReport,
        layer: &CacheLayer,
        shape: &LayerShape,
    ) -> Result<Activations, CheckError> {
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

/// A layer that does not fit is skipped; a device that fails ends the check.
fn not_run(layer: usize, error: AttentionError) -> Result<LayerResult, CheckError> {
    if error.is_of_the_device() {
        return Err(CheckError::Device { layer, source: Box::new(error) });
    }
    Ok(Err(error.to_string()))
}
