//! Files that Intel Neural Compressor (INC) writes: measurements (amax) and scales of the modules that it patches.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use serde_json::Value;

use super::scale::{SidecarNumber, SidecarScale, TensorParallel, number};
use crate::checkpoint::json::{Document, read_object};
use crate::checkpoint::names::classify;
use crate::checkpoint::scale_name::{LayerIndex, NameClass, Role};
use crate::checkpoint::{CheckpointError, FindingCode, Findings};

/// Reads measurement files, `*_hooks_maxabs[_RANK_WORLD].json`, and scale files, `*_hooks_maxabs_METHOD..json`.
///
/// A measurement serves any device. A scale was rounded and backed off for one device that the file does not name, so
/// it is taken with a warning, and only where no measurement lies beside it.
pub(super) fn read(
    paths: &[PathBuf],
    tensor_parallel: TensorParallel,
    findings: &mut Findings,
) -> Result<Vec<SidecarScale>, CheckpointError> {
    let mut measurements = Vec::new();
    let mut scales = Vec::new();
    for path in paths {
        let document = read_object(path)?;
        match document.value.get("Mode").and_then(Value::as_str) {
            Some("DynamicRange") => measurements.push(document),
            Some("Scale") => scales.push(document),
            other => {
                let reason = format!("{other:?}; known are \"DynamicRange\" (measurements) and \"Scale\"");
                return Err(CheckpointError::key(path, "Mode", reason));
            }
        }
    }
    let documents = if measurements.is_empty() { &scales } else { &measurements };
    if measurements.is_empty() {
        for document in documents {
            findings.warn(
                FindingCode::IncScalesDependOnDevice,
                None,
                format!(
                    "{} holds scales that INC rounded for one device and does not say for which; measure on this one, \
                     or give the measurement file",
                    document.file_name()
                ),
            );
        }
    }
    warn_of_missing_ranks(documents, tensor_parallel, findings);
    let mut found: Vec<SidecarScale> = Vec::new();
    let mut numbers: HashMap<(usize, Role), usize> = HashMap::new();
    for document in ranks_to_read(documents, tensor_parallel) {
        for scale in read_nodes(document)? {
            match numbers.get(&(scale.layer, scale.role)).map(|number| &found[*number]) {
                None => {
                    numbers.insert((scale.layer, scale.role), found.len());
                    found.push(scale);
                }
                Some(first) if first.number == scale.number => {}
                Some(first) => findings.error(
                    FindingCode::RanksDisagree,
                    Some(scale.layer),
                    format!("files of several ranks disagree: {} and {}", first.name, scale.name),
                ),
            }
        }
    }
    Ok(found)
}

/// Reads measurement files of all ranks: what each of them saw, by layer. Scale files are refused, and so are files of
/// some ranks only, because what the others saw would be missing.
pub(super) fn read_measurements(paths: &[PathBuf]) -> Result<Vec<SidecarScale>, CheckpointError> {
    let mut ranks: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut found = Vec::new();
    for path in paths {
        let document = read_object(path)?;
        match document.value.get("Mode").and_then(Value::as_str) {
            Some("DynamicRange") => found.extend(read_nodes(&document)?),
            other => {
                let reason = format!("{other:?}; measurements have \"DynamicRange\"");
                return Err(CheckpointError::key(path, "Mode", reason));
            }
        }
        if let Some((rank, world)) = rank_and_world(&document.file_name()) {
            ranks.entry(world).or_default().insert(rank);
        }
    }
    for (world, ranks) in ranks {
        if let (Some(path), true) = (paths.first(), ranks.len() < world) {
            let reason = format!(
                "measurements of {world} ranks: only those of rank {ranks:?} are given, and each saw only its own heads"
            );
            return Err(CheckpointError::json(path, reason));
        }
    }
    Ok(found)
}

/// The file of this rank where the files were made for this number of ranks, else all of them.
fn ranks_to_read(documents: &[Document], tensor_parallel: TensorParallel) -> Vec<&Document> {
    let own: Vec<&Document> = documents
        .iter()
        .filter(|d| rank_and_world(&d.file_name()) == Some((tensor_parallel.rank, tensor_parallel.size)))
        .collect();
    if own.is_empty() { documents.iter().collect() } else { own }
}

/// A rank measures its own heads only. Files of another number of ranks serve if all of them are there.
fn warn_of_missing_ranks(documents: &[Document], tensor_parallel: TensorParallel, findings: &mut Findings) {
    let mut by_world: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (rank, world) in documents.iter().filter_map(|d| rank_and_world(&d.file_name())) {
        by_world.entry(world).or_default().insert(rank);
    }
    for (world, ranks) in by_world {
        let has_own = world == tensor_parallel.size && ranks.contains(&tensor_parallel.rank);
        if !has_own && ranks.len() < world {
            let message = format!(
                "INC files of {world} ranks: only those of rank {ranks:?} are here, and each saw only its own heads"
            );
            findings.warn(FindingCode::IncRanksIncomplete, None, message);
        }
    }
}

/// `.._RANK_WORLD.json`.
fn rank_and_world(name: &str) -> Option<(usize, usize)> {
    let mut parts = name.strip_suffix(".json")?.rsplit('_');
    let world = parts.next()?.parse().ok()?;
    Some((parts.next()?.parse().ok()?, world))
}

fn read_nodes(document: &Document) -> Result<Vec<SidecarScale>, CheckpointError> {
    let is_measurement = document.value.get("Mode").and_then(Value::as_str) == Some("DynamicRange");
    let Some(nodes) = document.value.get("Nodes").and_then(Value::as_object) else {
        return Err(CheckpointError::key(&document.path, "Nodes", "is missing or no object"));
    };
    let mut scales = Vec::new();
    for (module, node) in nodes {
        let Some((layer, role)) = cache_module(module) else { continue };
        let value = node.get("inputs").and_then(first_number).ok_or_else(|| {
            CheckpointError::key(&document.path, format!("Nodes.{module}.inputs"), "holds no number")
        })?;
        scales.push(SidecarScale {
            name: format!("{}: {module}", document.file_name()),
            layer,
            role,
            number: if is_measurement { SidecarNumber::Amax(value) } else { SidecarNumber::Scale(value) },
        });
    }
    Ok(scales)
}

/// The layer and role of a cache module: `..self_attn.attn.impl.k_cache`. What `matmul_qk` saw of the query is
/// already multiplied by the softmax scale, so it is no q scale here.
fn cache_module(module: &str) -> Option<(usize, Role)> {
    let role = match module.rsplit('.').next()? {
        "k_cache" | "latent_cache_k" => Role::K,
        "v_cache" => Role::V,
        _ => return None,
    };
    match classify(&format!("{module}.dequant_output.scale")) {
        NameClass::Scale(name) => match name.layer {
            LayerIndex::Model(layer) => Some((layer, role)),
            LayerIndex::Draft(_) => None,
        },
        _ => None,
    }
}

/// The first number in lists nested one to three deep, as versions differ.
fn first_number(value: &Value) -> Option<f64> {
    let mut value = value;
    for _ in 0..4 {
        match value {
            Value::Array(items) => value = items.first()?,
            other => return number(other),
        }
    }
    None
}
