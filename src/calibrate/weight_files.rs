//! Weight files: the new scales, weight files without old ones, and the index over all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Map, Value, json};

use super::calibration::Calibration;
use super::error::CalibrateError;
use crate::checkpoint::{
    Attention, CheckpointError, ModelFolder, Shard, Strategy, TensorEntry, find_index, list_files,
};
use crate::rewrite::{Edits, Fate, IndexEdit, RewriteError, ShardLayout, copy_range};

/// The file that holds the new scales.
pub(super) const SCALE_FILE: &str = "model-kv-scales.safetensors";
/// The index of a model that had none.
const INDEX_FILE: &str = "model.safetensors.index.json";

/// The scale tensors of a model by name: `(1)`, or `(H,1,1)` of a scale for each head.
pub(super) fn scale_tensors(calibration: &Calibration) -> BTreeMap<String, Vec<f32>> {
    let mut tensors: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for layer in &calibration.layers {
        for scale in &layer.scales {
            tensors.entry(format!("{}.{}_scale", layer.module, scale.role)).or_default().push(scale.scale);
            // Readers that take the larger of both for the one latent must find the same number twice: where v_scale is
            // missing they assume 1.0.
            if layer.attention == Attention::Mla {
                tensors.entry(format!("{}.v_scale", layer.module)).or_default().push(scale.scale);
            }
        }
    }
    tensors
}

/// A weight file of the scales in float32.
pub(super) fn scale_file(
    tensors: &BTreeMap<String, Vec<f32>>,
    strategy: Strategy,
) -> Result<Vec<u8>, CheckpointError> {
    let bytes = |scales: &Vec<f32>| scales.iter().flat_map(|scale| scale.to_le_bytes()).collect::<Vec<u8>>();
    let bytes: Vec<(&String, usize, Vec<u8>)> =
        tensors.iter().map(|(name, scales)| (name, scales.len(), bytes(scales))).collect();
    let views = bytes.iter().map(|(name, count, bytes)| {
        let shape = if strategy == Strategy::AttnHead { vec![*count, 1, 1] } else { vec![*count] };
        Ok((*name, TensorView::new(Dtype::F32, shape, bytes)?))
    });
    let views = views.collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    views
        .and_then(|views| safetensors::serialize(views, Some(metadata)))
        .map_err(|e| CheckpointError::safetensors(Path::new(SCALE_FILE), e.to_string()))
}

/// What becomes of the tensors of a file where some are left out.
pub(super) fn fates(shard: &Shard, dropped: &BTreeSet<String>) -> Vec<Fate> {
    let fate = |tensor: &TensorEntry| if dropped.contains(&tensor.name) { Fate::Dropped } else { Fate::Kept };
    shard.tensors().iter().map(fate).collect()
}

/// Writes a weight file without some of its tensors, everything else as it is.
pub(super) fn write_without(
    shard: &Shard,
    fates: &[Fate],
    out: &File,
    out_path: &Path,
) -> Result<(), RewriteError> {
    let layout = ShardLayout::new(shard, fates)?;
    out.write_all_at(&layout.header, 0).map_err(|e| RewriteError::io("write", out_path, e))?;
    let mut segments = layout.segments.iter();
    segments.try_for_each(|s| copy_range(shard.file(), shard.path(), s.start..s.end, out, out_path, s.at))
}

/// The index with the new scales and without the dropped tensors; a new one where there is none.
pub(super) fn index(
    folder: &ModelFolder,
    scales: &BTreeMap<String, Vec<f32>>,
    dropped: &BTreeSet<String>,
    edits: &mut Edits,
) -> Result<(), CalibrateError> {
    let mut file_bytes: BTreeMap<String, u64> = BTreeMap::new();
    for shard in folder.shards() {
        let kept = shard.tensors().iter().filter(|tensor| !dropped.contains(&tensor.name));
        let bytes: usize = kept.map(|tensor| tensor.end - tensor.start).sum();
        file_bytes.insert(file_name(shard), bytes as u64);
    }
    let scale_bytes: usize = scales.values().map(|scales| scales.len() * size_of::<f32>()).sum();
    file_bytes.insert(SCALE_FILE.to_owned(), scale_bytes as u64);
    if let Some(path) = find_index(&list_files(folder.path())?) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let added = scales.keys().map(String::as_str).collect();
        let edit = IndexEdit { dropped, added, added_file: SCALE_FILE, file_bytes: &file_bytes };
        return Ok(edits.index(folder.path(), &name, &edit)?);
    }
    let mut entries = Map::new();
    for shard in folder.shards() {
        for tensor in shard.tensors().iter().filter(|tensor| !dropped.contains(&tensor.name)) {
            entries.insert(tensor.name.clone(), json!(file_name(shard)));
        }
    }
    entries.extend(scales.keys().map(|name| (name.clone(), json!(SCALE_FILE))));
    let total: u64 = file_bytes.values().sum();
    let index: Value = json!({"metadata": {"total_size": total}, "weight_map": entries});
    let text = format!("{index:#}\n");
    edits.files.insert(INDEX_FILE.to_owned(), text.into_bytes());
    Ok(())
}

/// The name of a weight file.
pub(super) fn file_name(shard: &Shard) -> String {
    shard.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
}
