//! One layer: what it needs is gathered, and it is run under every variant.

use super::distance::Distance;
use super::error::CheckError;
use super::layer::{LayerRun, LayerRunner};
use super::result::{LayerCheck, LayerOutputs};
use super::scoring::Scoring;
use super::variant::{RunScales, Variant, Variants};
use super::weights::{AttentionWeights, Weight};
use super::{reference, synthetic};
use crate::activations::{ActivationFile, Activations, LayerShape};
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

/// The distances of a prefill and of a decode from the reference.
#[derive(Clone)]
struct Distances {
    prefill: Distance,
    decode: Distance,
}

impl Distances {
    fn of(run: &LayerRun, reference: &[f64]) -> Self {
        Self { prefill: Distance::of(&run.prefill, reference), decode: Distance::of(&run.decode, reference) }
    }
}

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
        let softmax_scale = match softmax_scale(layer) {
            Ok(scale) => scale,
            Err(reason) => return Ok(Err(reason.to_owned())),
        };
        let shape = LayerShape::read(self.folder, layer, self.tensor_parallel())?;
        let kv_b_proj = match self.weights.kv_b_proj(report.layer, &shape)? {
            Weight::Found(values) => values,
            Weight::Unavailable(reason) => return Ok(Err(reason)),
        };
        let sinks = self.weights.sinks(report.layer, &shape)?;
        let scoring = Scoring::new(self.config, layer, softmax_scale, sinks);
        let activations = self.activations(report, layer, &shape)?;
        let runner = LayerRunner {
            shape: &shape,
            scoring: &scoring,
            activations: &activations,
            kv_b_proj: &kv_b_proj,
            dtype: storage_dtype(report.kv_cache_dtype),
        };
        let run_all = || {
            let run = runner.run(self.device, &scales)?;
            let reference = reference::attend(&shape, &activations, &kv_b_proj, &scoring);
            let own = Distances::of(&run, &reference);
            let others = self.others(&runner, (&scales, &own), [scale_one, missing, twice], &reference)?;
            Ok((run, own, others))
        };
        let (run, own, [scale_one, missing, twice]) = match run_all() {
            Ok(all) => all,
            Err(error) => return not_run(report.layer, error),
        };
        let variants = |of: fn(&Distances) -> &Distance| Variants {
            scales: of(&own).clone(),
            scale_one: of(&scale_one).clone(),
            adjustment_missing: of(&missing).clone(),
            adjustment_twice: of(&twice).clone(),
        };
        let tokens = activations.tokens();
        let checked = LayerCheck {
            layer: report.layer,
            kv_cache_dtype: report.kv_cache_dtype,
            tokens,
            prefill: variants(|distances| &distances.prefill),
            decode: variants(|distances| &distances.decode),
            cache: run.stored,
        };
        debug_assert_eq!(run.decode.len(), tokens * shape.out_row());
        let outputs = LayerOutputs { layer: report.layer, tokens, prefill: run.prefill, decode: run.decode };
        Ok(Ok((checked, outputs)))
    }

    /// Runs a layer with other scales. Variants that come to the same scales come to the same outputs.
    fn others(
        &self,
        runner: &LayerRunner<'_>,
        (own_scales, own): (&RunScales, &Distances),
        [first, second, third]: [RunScales; 3],
        reference: &[f64],
    ) -> Result<[Distances; 3], AttentionError> {
        let mut done = vec![(own_scales.clone(), own.clone())];
        let mut distances = |scales: RunScales| -> Result<Distances, AttentionError> {
            if let Some((_, known)) = done.iter().find(|(other, _)| *other == scales) {
                return Ok(known.clone());
            }
            let distances = Distances::of(&runner.run(self.device, &scales)?, reference);
            done.push((scales, distances.clone()));
            Ok(distances)
        };
        Ok([distances(first)?, distances(second)?, distances(third)?])
    }

    fn activations(
        &self,
        report: &LayerReport,
        layer: &CacheLayer,
        shape: &LayerShape,
    ) -> Result<Activations, CheckError> {
        match self.file {
            Some(file) => Ok(file.read(layer.index, layer.owner.unwrap_or(layer.index), shape)?),
            None => Ok(synthetic::draw(report, shape, self.inspection.scale_adjustment.fp8_max_quant)),
        }
    }

    fn tensor_parallel(&self) -> TensorParallel {
        let rank = self.inspection.tensor_parallel;
        rank.map_or_else(TensorParallel::default, |rank| TensorParallel { size: rank.size, rank: rank.rank })
    }
}

/// The softmax scale of a layer, or why its attention is not computed here.
fn softmax_scale(layer: &CacheLayer) -> Result<f64, &'static str> {
    if layer.attends_to_its_latent() {
        return Err("its keys and values are the latent itself, which is not modelled");
    }
    layer.softmax_scale.ok_or("the config does not say what its softmax scale is")
}

const fn storage_dtype(dtype: CacheDtype) -> StorageDtype {
    match dtype {
        CacheDtype::Fp8 => StorageDtype::Fp8,
        CacheDtype::Bf16 => StorageDtype::Bf16,
    }
}

/// A layer that does not fit is skipped; a device that fails ends the check.
fn not_run(layer: usize, error: AttentionError) -> Result<LayerResult, CheckError> {
    if error.is_of_the_device() {
        return Err(CheckError::Device { layer, source: Box::new(error) });
    }
    Ok(Err(error.to_string()))
}
