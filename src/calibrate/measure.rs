//! What each layer's cache is given, counted over any number of activation files.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::CalibrateError;
use super::histogram::Histogram;
use crate::activations::{ActivationFile, Heads, LayerShape, Operand, layer_of, stream_bf16};
use crate::checkpoint::{
    Attention, CacheLayer, CheckpointError, LayerPlan, ModelFolder, Shard, Strategy, TensorEntry,
    TensorParallel, list_files,
};

/// The values of one layer that owns its cache.
pub(super) struct LayerValues<'a> {
    pub(super) layer: &'a CacheLayer,
    shape: LayerShape,
    strategy: Strategy,
    /// Over all files.
    pub(super) tokens: u64,
    /// For each of the two operands, of all heads together or of each.
    histograms: [Vec<Histogram>; 2],
}

/// The values of one operand: of all heads together, or of each.
pub(super) struct OperandValues<'a> {
    pub(super) name: &'static str,
    pub(super) heads: &'a [Histogram],
}

impl<'a> LayerValues<'a> {
    pub(super) fn new(
        folder: &ModelFolder,
        layer: &'a CacheLayer,
        strategy: Strategy,
    ) -> Result<Self, CalibrateError> {
        let shape = LayerShape::read(folder, layer, TensorParallel::default())?;
        let heads = |operand: Operand<'_>| match (strategy, operand.heads) {
            (Strategy::AttnHead, Some(heads)) => heads.all,
            _ => 1,
        };
        let histograms = Operand::cached(&shape).map(|operand| vec![Histogram::default(); heads(operand)]);
        Ok(Self { layer, shape, strategy, tokens: 0, histograms })
    }

    /// Both operands.
    pub(super) fn operands(&self) -> [OperandValues<'_>; 2] {
        let [first, second] = Operand::cached(&self.shape);
        [
            OperandValues { name: first.name, heads: &self.histograms[0] },
            OperandValues { name: second.name, heads: &self.histograms[1] },
        ]
    }

    /// Counts what a file has for this layer, all or nothing of it. `progress` is told of the bytes read.
    fn add(&mut self, file: &ActivationFile, progress: &(dyn Fn(u64) + Sync)) -> Result<(), CalibrateError> {
        let layer = self.layer.index;
        let operands = Operand::cached(&self.shape);
        if !operands.iter().any(|operand| file.contains(layer, operand.name)) {
            return Ok(());
        }
        let (tokens, _) = file.find(layer, &operands[0], None)?;
        // A latent without a rope part has no second operand.
        let present = operands.iter().zip(&mut self.histograms).filter(|(operand, _)| operand.dim > 0);
        for (operand, histograms) in present {
            let (_, tensor) = file.find(layer, operand, Some(tokens))?;
            let heads = operand.heads.filter(|_| self.strategy == Strategy::AttnHead);
            count(file.shard(), tensor, (heads, operand.dim), histograms, progress)?;
        }
        self.tokens += tokens as u64;
        Ok(())
    }
}

/// Counts a tensor, `[tokens, heads, dim]` by head where `heads` are given.
fn count(
    shard: &Shard,
    tensor: &TensorEntry,
    (heads, dim): (Option<&Heads>, usize),
    histograms: &mut [Histogram],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), CheckpointError> {
    let element_bytes = (tensor.dtype.bitsize() / 8) as u64;
    stream_bf16(shard, tensor, |first, values| {
        match (heads, &mut *histograms) {
            (None, [all]) => all.add(values),
            (_, histograms) => {
                // A block may begin and end within a head.
                let (mut at, mut rest) = (first, values);
                while !rest.is_empty() {
                    let (head, behind) = rest.split_at(rest.len().min(dim - at % dim));
                    let number = at / dim % histograms.len();
                    histograms[number].add(head);
                    (at, rest) = (at + head.len(), behind);
                }
            }
        }
        progress(values.len() as u64 * element_bytes);
    })
}

/// The activation files at a path: itself, or every `*.safetensors` of a folder.
pub(super) fn activation_files(path: &Path) -> Result<Vec<PathBuf>, CalibrateError> {
    let metadata = std::fs::metadata(path).map_err(|e| CheckpointError::io(path, e))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = list_files(path)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "safetensors"));
    if files.is_empty() {
        return Err(CalibrateError::NoFiles { path: path.to_owned(), wanted: "*.safetensors" });
    }
    Ok(files)
}

/// Counts every file, one after the other, the layers of each on all cores. Returns what was passed over, in words.
pub(super) fn measure(
    layers: &mut [LayerValues<'_>],
    plan: &LayerPlan,
    files: &[PathBuf],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<String>, CalibrateError> {
    let mut passed_over = PassedOver::default();
    for path in files {
        let file = ActivationFile::open(path)?;
        passed_over.check(&file, plan)?;
        let results: Vec<Result<(), CalibrateError>> =
            layers.par_iter_mut().map(|layer| layer.add(&file, progress)).collect();
        results.into_iter().collect::<Result<(), _>>()?;
    }
    Ok(passed_over.words())
}

/// Tensors that take no part in the measurement.
#[derive(Default)]
struct PassedOver {
    /// The first and how many: keys and values of layers that read another layer's cache.
    shared: Option<(String, usize)>,
    /// Queries, outputs and whatever else was captured.
    other: Option<(String, usize)>,
}

impl PassedOver {
    /// Refuses a tensor of a layer that the model has not, or that has no cache.
    fn check(&mut self, file: &ActivationFile, plan: &LayerPlan) -> Result<(), CalibrateError> {
        for tensor in file.shard().tensors() {
            let place = layer_of(&tensor.name);
            let layer = place.map(|layer| {
                plan.get(layer).ok_or_else(|| foreign_layer(file.shard().path(), &tensor.name, layer, plan))
            });
            let layer = layer.transpose()?;
            let is_cached = layer.is_some_and(|layer| {
                let operand = tensor.name.rsplit('.').next().unwrap_or_default();
                match layer.attention {
                    Attention::Mha => matches!(operand, "k" | "v"),
                    Attention::Mla => matches!(operand, "kv_c" | "k_pe"),
                }
            });
            let counted = match layer {
                Some(layer) if is_cached && layer.owner.is_none() => continue,
                Some(_) if is_cached => &mut self.shared,
                _ => &mut self.other,
            };
            counted.get_or_insert_with(|| (tensor.name.clone(), 0)).1 += 1;
        }
        Ok(())
    }

    fn words(self) -> Vec<String> {
        let shared = self.shared.map(|(first, count)| {
            format!(
                "{count} tensors of layers that read another layer's cache are passed over, such as {first}"
            )
        });
        let other = self.other.map(|(first, count)| {
            format!("{count} tensors are passed over, because no cache stores them, such as {first}")
        });
        shared.into_iter().chain(other).collect()
    }
}

/// The error of a layer that cannot be measured.
pub(super) fn foreign_layer(path: &Path, name: &str, layer: usize, plan: &LayerPlan) -> CalibrateError {
    let (model, drafts) = (plan.model_layers, plan.draft_layers);
    let reason = if layer < model + drafts {
        "has no KV cache".to_owned()
    } else {
        format!("the model has not: it has {model} layers and {drafts} draft layers")
    };
    CalibrateError::ForeignLayer { path: path.to_owned(), name: name.to_owned(), layer, reason }
}
