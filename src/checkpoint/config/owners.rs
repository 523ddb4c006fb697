//! Who owns the cache that a layer reads.

use std::collections::{HashMap, HashSet};

use super::kind::{Kind, LayerKind};
use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// The owners of all layers' caches; none where a layer has its own.
pub(super) struct Owners {
    owners: Vec<Option<Result<usize, String>>>,
}

impl Owners {
    pub(super) fn read(config: &TextConfig<'_>, kinds: &[LayerKind]) -> Result<Self, CheckpointError> {
        let layers = kinds.len();
        let mut owners = vec![None; layers];
        shared_last_layers(config, kinds, &mut owners)?;
        // Hunyuan: within each group of layers the first one's cache serves all.
        let uses_groups = config.bool("use_cla")? == Some(true);
        if let Some(group) = config.count(&["cla_share_factor"])?.filter(|n| *n > 1 && uses_groups) {
            for (index, owner) in owners.iter_mut().enumerate().filter(|(i, _)| i % group != 0) {
                *owner = Some(Ok(index - index % group));
            }
        }
        named_sources(config, &mut owners)?;
        // Phi-4-flash: the layer in the middle keeps the cache that all attention behind it reads.
        if config.count(&["mb_per_layer"])?.is_some() {
            let owner = layers / 2 + 1;
            owners.iter_mut().skip(owner + 1).for_each(|reader| *reader = Some(Ok(owner)));
        }
        Ok(Self { owners })
    }

    pub(super) fn of(&self, index: usize) -> Option<Result<usize, String>> {
        self.owners.get(index).cloned().flatten()
    }
}

/// Gemma: the last layers read the cache of the last layer before them that has their kind.
fn shared_last_layers(
    config: &TextConfig<'_>,
    kinds: &[LayerKind],
    owners: &mut [Option<Result<usize, String>>],
) -> Result<(), CheckpointError> {
    let shared = config.count(&["num_kv_shared_layers"])?.unwrap_or(0);
    if shared > kinds.len() {
        // A default of the class that is larger than a small model shares nothing.
        if config.written("num_kv_shared_layers").is_none() {
            return Ok(());
        }
        return Err(config.fail("num_kv_shared_layers", format!("{shared} of {} layers", kinds.len())));
    }
    let first = kinds.len() - shared;
    let last_of_kind: HashMap<&str, usize> =
        kinds.iter().take(first).enumerate().map(|(i, kind)| (kind.name.as_str(), i)).collect();
    for (index, owner) in owners.iter_mut().enumerate().skip(first) {
        let kind = &kinds[index];
        if kind.kind == Kind::NoCache {
            continue;
        }
        *owner = Some(last_of_kind.get(kind.name.as_str()).copied().ok_or_else(|| {
            format!("layer {index} ({}) shares a cache, but no layer below {first} has that kind", kind.name)
        }));
    }
    Ok(())
}

/// DeepSeek-V4.1: the layers that keep a compressed cache; those behind one of them read it, but for layers that compress
/// nothing.
fn named_sources(
    config: &TextConfig<'_>,
    owners: &mut [Option<Result<usize, String>>],
) -> Result<(), CheckpointError> {
    let Some(sources) = config.counts("kv_source_layer_ids")? else { return Ok(()) };
    let ratios = config.counts("compress_ratios")?.unwrap_or_default();
    let sources: HashSet<usize> = sources.into_iter().collect();
    let mut nearest = None;
    for (index, owner) in owners.iter_mut().enumerate() {
        if sources.contains(&index) {
            nearest = Some(index);
        }
        let compresses = ratios.get(index).is_none_or(|ratio| *ratio > 0);
        if let Some(source) = nearest.filter(|source| *source < index && compresses) {
            *owner = Some(Ok(source));
        }
    }
    Ok(())
}
