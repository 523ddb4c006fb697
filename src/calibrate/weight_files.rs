//! Weight files: the new scales, weight files without old ones, and the index over all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Map, Value, json};

use super::{CalibrateError, Calibration};
use crate::checkpoint::{
    Attention, CheckpointError, ModelFolder, Shard, Strategy, find_index, list_files, read_object,
};

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

/// Writes the scales in float32.
pub(super) fn write_scales(
    tensors: &BTreeMap<String, Vec<f32>>,
    strategy: Strategy,
    path: &Path,
) -> Result<(), CheckpointError> {
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
        .map_err(|e| CheckpointError::safetensors(path, e.to_string()))
        .and_then(|bytes| fs::write(path, bytes).map_err(|e| CheckpointError::io(path, e)))
}

/// Writes a shard without some of its tensors, everything else as it is. Returns whether anything is left to write.
pub(super) fn write_without(
    shard: &Shard,
    dropped: &BTreeSet<String>,
    path: &Path,
) -> Result<bool, CheckpointError> {
    let kept: Vec<_> = shard.tensors().iter().filter(|tensor| !dropped.contains(&tensor.name)).collect();
    if kept.is_empty() {
        return Ok(false);
    }
    let views = kept.into_iter().map(|tensor| {
        Ok((&tensor.name, TensorView::new(tensor.dtype, tensor.shape.clone(), shard.data(tensor))?))
    });
    let views = views.collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
    let metadata = read_metadata(shard)?;
    views
        .and_then(|views| safetensors::serialize_to_file(views, metadata, path))
        .map_err(|e| CheckpointError::safetensors(path, e.to_string()))?;
    // The library makes files that nobody else may read.
    let permissions =
        shard.file().metadata().map_err(|e| CheckpointError::io(shard.path(), e))?.permissions();
    fs::set_permissions(path, permissions).map_err(|e| CheckpointError::io(path, e))?;
    Ok(true)
}

/// `__metadata__`, which loaders ask for the framework.
fn read_metadata(shard: &Shard) -> Result<Option<HashMap<String, String>>, CheckpointError> {
    #[derive(serde::Deserialize)]
    struct Header {
        #[serde(rename = "__metadata__")]
        metadata: Option<HashMap<String, String>>,
    }
    let read = |buffer: &mut [u8], at| {
        shard.file().read_exact_at(buffer, at).map_err(|e| CheckpointError::io(shard.path(), e))
    };
    let mut length = [0; 8];
    read(&mut length, 0)?;
    // The header was checked when the shard was opened.
    let first = shard.tensors().iter().map(|tensor| tensor.start).min().unwrap_or(8) as u64;
    let mut header = vec![0; u64::from_le_bytes(length).min(first) as usize];
    read(&mut header, 8)?;
    let header: Header = serde_json::from_slice(&header)
        .map_err(|e| CheckpointError::safetensors(shard.path(), format!("invalid header: {e}")))?;
    Ok(header.metadata)
}

/// The index with the new scales and without the dropped tensors. Returns its file name and content.
pub(super) fn index(
    folder: &ModelFolder,
    scales: &BTreeMap<String, Vec<f32>>,
    dropped: &BTreeSet<String>,
) -> Result<(String, Value), CalibrateError> {
    let (name, mut index) = match find_index(&list_files(folder.path())?) {
        Some(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, read_object(path)?.value)
        }
        None => (INDEX_FILE.to_owned(), json!({"metadata": {}})),
    };
    if let Some(entries) = index.get_mut("weight_map").and_then(Value::as_object_mut) {
        entries.retain(|tensor, _| !dropped.contains(tensor));
    } else {
        index["weight_map"] = Value::Object(entries_of(folder, dropped));
    }
    let new_bytes: usize = scales.values().map(|scales| scales.len() * size_of::<f32>()).sum();
    let kept = folder.shards().iter().flat_map(|shard| shard.tensors());
    let kept = kept.filter(|tensor| !dropped.contains(&tensor.name));
    let total: usize = kept.map(|tensor| tensor.end - tensor.start).sum::<usize>() + new_bytes;
    if let Some(metadata) = index.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("total_size".to_owned(), json!(total));
    }
    for name in scales.keys() {
        index["weight_map"][name] = json!(SCALE_FILE);
    }
    Ok((name, index))
}

fn entries_of(folder: &ModelFolder, dropped: &BTreeSet<String>) -> Map<String, Value> {
    let mut entries = Map::new();
    for shard in folder.shards() {
        let file = shard.path().file_name().unwrap_or_default().to_string_lossy();
        for tensor in shard.tensors().iter().filter(|tensor| !dropped.contains(&tensor.name)) {
            entries.insert(tensor.name.clone(), json!(file));
        }
    }
    entries
}
