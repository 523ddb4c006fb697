//! The layers of a model: which have a KV cache, of which kind and size, and whose cache each one reads.

use std::collections::HashMap;

use super::cache_layer::{CacheLayer, read_layer};
use super::drafts::Drafts;
use super::heads::check_lists;
use super::kind::Kind;
use super::kinds::LayerKinds;
use super::layer_count::count_layers;
use super::layer_value::{LayerConfig, own_configs};
use super::owners::Owners;
use super::text::TextConfig;
use crate::checkpoint::places::ATTENTIONS_OF_A_LAYER;
use crate::checkpoint::scale_name::LayerIndex;
use crate::checkpoint::{CheckpointError, FindingCode, Findings};

/// All layers of a model.
#[derive(Debug, Clone)]
pub struct LayerPlan {
    /// The layers with a cache, in order.
    pub cached: Vec<CacheLayer>,
    /// Layers of the model itself, with or without a cache.
    pub model_layers: usize,
    /// Draft layers that follow them.
    pub draft_layers: usize,
}

impl LayerPlan {
    /// The cached layer of that number.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&CacheLayer> {
        self.cached.binary_search_by_key(&index, |layer| layer.index).ok().map(|at| &self.cached[at])
    }

    /// The number of a layer in the model, with draft layers numbered on from its last one; `None` for a draft layer that
    /// the config does not declare.
    #[must_use]
    pub fn number(&self, index: LayerIndex) -> Option<usize> {
        match index {
            LayerIndex::Model(layer) => Some(layer),
            LayerIndex::Draft(draft) => (draft < self.draft_layers).then_some(self.model_layers + draft),
        }
    }

    /// Reads the layers off a configuration. `has_draft_weights` says whether the weight files hold any of a draft that
    /// follows so many layers.
    pub(crate) fn read(
        config: &TextConfig<'_>,
        has_draft_weights: &dyn Fn(usize) -> bool,
        findings: &mut Findings,
    ) -> Result<Self, CheckpointError> {
        let Some(layers) = count_layers(config)? else {
            let name = config.model_type().unwrap_or_default();
            let message = format!("model_type is {name:?}, whose text decoder is not known; assumed: none");
            findings.warn(FindingCode::ArchitectureUnknown, None, message);
            return Ok(Self { cached: Vec::new(), model_layers: 0, draft_layers: 0 });
        };
        let attentions = attentions_per_layer(config);
        let layers = layers.saturating_mul(attentions);
        let drafts = Drafts::read(config, layers, has_draft_weights)?;
        check_lists(config, layers)?;
        let kinds = LayerKinds::read(config, layers, findings)?;
        let owners = Owners::read(config, kinds.own())?;
        let own_configs = own_configs(config);
        let mut assumed = Vec::new();
        let mut cached = Vec::new();
        let mut of_type: HashMap<String, usize> = HashMap::new();
        for index in 0..layers + drafts.count {
            let is_draft = index >= layers;
            let listed = kinds.of(index).cloned();
            let Some(kind) = listed.or_else(|| is_draft.then(|| drafts.kind(index - layers))) else {
                continue;
            };
            if kind.kind == Kind::NoCache {
                continue;
            }
            let owner = if is_draft { None } else { owners.of(index) };
            if let Some(Err(reason)) = &owner {
                findings.error(FindingCode::SharedCacheWithoutOwner, Some(index), reason.clone());
            }
            let nth_of_type =
                *of_type.entry(kind.name.clone()).and_modify(|count| *count += 1).or_insert(0usize);
            let own = own_configs.get(&index).copied();
            let layer = LayerConfig { config, index, kind: &kind, nth_of_type, own };
            let mut layer = read_layer(&layer, &mut assumed, findings)?;
            layer.is_draft = is_draft;
            layer.owner = owner.and_then(Result::ok);
            cached.push(layer);
        }
        if !assumed.is_empty() {
            let name = config.model_type().map_or_else(|| "none".to_owned(), |name| format!("{name:?}"));
            assumed.dedup();
            let message =
                format!("model_type is {name}, which is not known; assumed: {}", assumed.join(", "));
            findings.warn(FindingCode::ArchitectureUnknown, None, message);
        }
        Ok(Self { cached, model_layers: layers, draft_layers: drafts.count })
    }
}

/// LongCat attends twice in each layer, with a cache for each; its `num_layers` counts pairs.
fn attentions_per_layer(config: &TextConfig<'_>) -> usize {
    let is_longcat = config.is_one_of(&["longcat_flash", "longcat_causal_lm", "longcat"]);
    let counts_pairs = is_longcat && config.written("num_hidden_layers").is_none();
    if counts_pairs { ATTENTIONS_OF_A_LAYER.len() } else { 1 }
}

/// Layer numbers in words, runs of sorted numbers drawn together: "layer 3", "layers 0-2, 5".
#[must_use]
pub fn list_layers(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let run = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let noun = if numbers.len() == 1 { "layer" } else { "layers" };
    format!("{noun} {}", runs.iter().map(run).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_in_words() {
        assert_eq!(list_layers(&[3]), "layer 3");
        assert_eq!(list_layers(&[0, 1, 2, 5]), "layers 0-2, 5");
    }

    /// Draft layers are numbered on from the model's last layer, as far as the config declares any.
    #[test]
    fn draft_layers_beyond_those_declared_have_no_number() {
        let plan = LayerPlan { cached: Vec::new(), model_layers: 61, draft_layers: 1 };
        assert_eq!(plan.number(LayerIndex::Model(3)), Some(3));
        assert_eq!(plan.number(LayerIndex::Draft(0)), Some(61));
        assert_eq!(plan.number(LayerIndex::Draft(1)), None);
    }
}
