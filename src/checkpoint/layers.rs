//! The layers of a model: which have a KV cache, of which kind, and whose cache each one reads.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use super::model_config::{Shape, TextConfig};
use super::scale_name::LayerIndex;
use super::{CheckpointError, FindingCode, Findings};

/// How a layer attends, as far as its cache goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attention {
    /// Keys and values, one or several query heads to a KV head (MHA, GQA, MQA).
    Mha,
    /// One latent for keys and values.
    Mla,
}

/// A layer that reads a KV cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheLayer {
    /// The layer's number in the model; draft layers are numbered on from the last one.
    pub index: usize,
    /// The kind of its cache.
    pub attention: Attention,
    /// Whether it is a draft (multi-token prediction) layer.
    pub is_draft: bool,
    /// The layer whose cache it reads, where that is not its own.
    pub owner: Option<usize>,
    /// Whether it attends to a sliding window only.
    pub is_sliding: bool,
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads.
    pub num_kv_heads: usize,
}

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

    pub(crate) fn read(
        config: &TextConfig<'_>,
        shape: &Shape,
        findings: &mut Findings,
    ) -> Result<Self, CheckpointError> {
        let drafts = config
            .count(&["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"])?
            .unwrap_or(0);
        if drafts > shape.layers.max(64) {
            return Err(config.fail("num_nextn_predict_layers", format!("{drafts} draft layers")));
        }
        let kinds = LayerKinds::read(config, shape.layers)?;
        let owners = Owners::read(config, &kinds, shape.layers)?;
        let grouped = grouped_kv_heads(config, shape)?;
        let global_kv_heads = config.count(&["num_global_key_value_heads"])?;
        let mut cached = Vec::new();
        for index in 0..shape.layers + drafts {
            let is_draft = index >= shape.layers;
            let Some(kind) = kinds.of(index, is_draft) else { continue };
            let owner = if is_draft { None } else { owners.of(index) };
            if let Some(Err(reason)) = &owner {
                findings.error(FindingCode::SharedCacheWithoutOwner, Some(index), reason.clone());
            }
            let num_kv_heads = match shape.num_kv_heads.as_slice() {
                [one] => *one,
                many => many.get(index).or(many.last()).copied().unwrap_or(1),
            };
            let num_kv_heads = grouped.get(index).copied().flatten().unwrap_or(num_kv_heads);
            cached.push(CacheLayer {
                index,
                attention: kind.attention(shape),
                is_draft,
                owner: owner.and_then(Result::ok),
                is_sliding: kind == Kind::Sliding,
                num_heads: shape.num_heads,
                num_kv_heads: match global_kv_heads {
                    Some(heads) if heads > 0 && kind == Kind::Full => heads,
                    _ => num_kv_heads,
                },
            });
        }
        Ok(Self { cached, model_layers: shape.layers, draft_layers: drafts })
    }
}

/// The KV heads of each layer of a pruned model, whose blocks say how many query heads share one.
fn grouped_kv_heads(config: &TextConfig<'_>, shape: &Shape) -> Result<Vec<Option<usize>>, CheckpointError> {
    let blocks = config.objects("block_configs")?.unwrap_or_default();
    let group =
        |block: &serde_json::Map<String, Value>| block.get("attention")?.get("n_heads_in_group")?.as_u64();
    Ok(blocks
        .into_iter()
        .map(|block| {
            let group = usize::try_from(group(block)?).ok().filter(|group| *group > 0)?;
            Some((shape.num_heads / group).max(1))
        })
        .collect())
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

/// What one entry of `layer_types` and its relatives means for the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Full,
    Sliding,
    /// Other attention with a cache, such as Llama 4's chunks.
    Windowed,
    Mla,
    Mha,
    NoCache,
}

impl Kind {
    fn attention(self, shape: &Shape) -> Attention {
        match self {
            Self::Mla => Attention::Mla,
            Self::Mha => Attention::Mha,
            _ if shape.kv_lora_rank.is_some() => Attention::Mla,
            _ => Attention::Mha,
        }
    }
}

/// The kind of every layer, and its name for finding the owner of a shared cache.
struct LayerKinds {
    kinds: Vec<(Kind, String)>,
}

impl LayerKinds {
    fn read(config: &TextConfig<'_>, layers: usize) -> Result<Self, CheckpointError> {
        let mut kinds = match named_kinds(config, layers)? {
            Some(kinds) => kinds,
            None => {
                let has_cache = cached_by_rule(config, layers)?;
                let windows = SlidingRule::read(config)?;
                (0..layers).map(|i| derived_kind(has_cache[i], windows.is_sliding(i))).collect()
            }
        };
        // `no_op` and linear replacements of a pruned model override what the list says.
        for (index, block) in config.objects("block_configs")?.into_iter().flatten().enumerate() {
            let attention = block.get("attention");
            let is = |key: &str| attention.and_then(|a| a.get(key)).and_then(Value::as_bool) == Some(true);
            if (is("no_op") || is("replace_with_linear")) && index < kinds.len() {
                kinds[index] = (Kind::NoCache, "no_op".to_owned());
            }
        }
        Ok(Self { kinds })
    }

    /// The kind of a layer that has a cache. Draft layers attend fully unless the list goes on to them.
    fn of(&self, index: usize, is_draft: bool) -> Option<Kind> {
        match self.kinds.get(index) {
            Some((Kind::NoCache, _)) => None,
            Some((kind, _)) => Some(*kind),
            None => is_draft.then_some(Kind::Full),
        }
    }
}

fn derived_kind(has_cache: bool, is_sliding: bool) -> (Kind, String) {
    match (has_cache, is_sliding) {
        (false, _) => (Kind::NoCache, "none".to_owned()),
        (true, true) => (Kind::Sliding, "sliding_attention".to_owned()),
        (true, false) => (Kind::Full, "full_attention".to_owned()),
    }
}

/// A list that names each layer's kind: `layer_types` and the older keys that do the same.
fn named_kinds(
    config: &TextConfig<'_>,
    layers: usize,
) -> Result<Option<Vec<(Kind, String)>>, CheckpointError> {
    if let Some(pattern) = config.string("hybrid_override_pattern")? {
        let kinds: Vec<_> = pattern.chars().map(|c| named_kind(&c.to_string())).collect();
        return check_length(config, "hybrid_override_pattern", kinds, layers).map(Some);
    }
    for key in ["layer_types", "layers_block_type", "attention_types"] {
        if let Some(names) = config.strings(key)? {
            let kinds: Vec<_> = names.iter().map(|name| named_kind(name)).collect();
            return check_length(config, key, kinds, layers).map(Some);
        }
    }
    // RecurrentGemma repeats its list.
    for key in ["block_types", "_block_types"] {
        if let Some(names) = config.strings(key)?.filter(|names| !names.is_empty()) {
            return Ok(Some((0..layers).map(|i| named_kind(names[i % names.len()])).collect()));
        }
    }
    if let Some(types) = config.counts("attn_type_list")? {
        let kinds = types.iter().map(|t| derived_kind(*t != 0, false)).collect();
        return check_length(config, "attn_type_list", kinds, layers).map(Some);
    }
    Ok(None)
}

fn check_length(
    config: &TextConfig<'_>,
    key: &str,
    kinds: Vec<(Kind, String)>,
    layers: usize,
) -> Result<Vec<(Kind, String)>, CheckpointError> {
    if kinds.len() < layers {
        return Err(config.fail(key, format!("{} entries for {layers} layers", kinds.len())));
    }
    Ok(kinds)
}

fn named_kind(name: &str) -> (Kind, String) {
    let kind = match name {
        "sliding_attention" | "sliding_window" | "sliding" | "local_attention" | "local" | "swa" => {
            Kind::Sliding
        }
        "chunked_attention" => Kind::Windowed,
        "mla" | "mla_attention" | "multi_latent_attention" => Kind::Mla,
        "mha" | "gqa" | "mqa" => Kind::Mha,
        "linear_attention" | "linear" | "mamba" | "mamba2" | "conv" | "recurrent" | "rglru"
        | "gated_deltanet" | "gdn" | "kda" | "rwkv" | "ssm" | "gmu" | "mlp" | "moe" | "none" | "no_op"
        | "M" | "-" | "E" => Kind::NoCache,
        // `attention`, `full_attention`, `hybrid`, `*` and whatever comes next: a layer that is listed as having no
        // scale is seen, one that is not listed is lost.
        _ => Kind::Full,
    };
    (kind, name.to_owned())
}

/// Which layers have a cache where the config gives a rule and no list.
fn cached_by_rule(config: &TextConfig<'_>, layers: usize) -> Result<Vec<bool>, CheckpointError> {
    if let Some(interval) = config.count(&["full_attention_interval"])?.filter(|n| *n > 0) {
        return Ok((0..layers).map(|i| (i + 1) % interval == 0).collect());
    }
    if let Some(period) = config.count(&["attn_layer_period"])?.filter(|n| *n > 0) {
        let offset = config.count(&["attn_layer_offset"])?.unwrap_or(0);
        return Ok((0..layers).map(|i| i % period == offset % period).collect());
    }
    for key in ["attn_layer_indices", "full_attn_idxs", "hybrid_layer_ids"] {
        if let Some(listed) = config.counts(key)? {
            let listed: HashSet<usize> = listed.into_iter().collect();
            return Ok((0..layers).map(|i| listed.contains(&i)).collect());
        }
    }
    // Kimi Linear counts its layers from one.
    let full = config.object("linear_attn_config")?.and_then(|c| c.get("full_attn_layers"));
    if let Some(full) = full.filter(|full| !full.is_null()) {
        let numbers = full.as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
        let Some(listed): Option<HashSet<u64>> = numbers else {
            return Err(config.fail("linear_attn_config.full_attn_layers", "is no list of whole numbers"));
        };
        return Ok((1..=layers as u64).map(|number| listed.contains(&number)).collect());
    }
    Ok(vec![true; layers])
}

/// Which layers attend to a sliding window, where no list says it.
enum SlidingRule {
    Never,
    Always,
    /// All but every n-th layer.
    AllButEvery(usize),
    From(usize),
}

impl SlidingRule {
    fn read(config: &TextConfig<'_>) -> Result<Self, CheckpointError> {
        if config.count(&["sliding_window"])?.is_none() || config.bool("use_sliding_window")? == Some(false) {
            return Ok(Self::Never);
        }
        if let Some(pattern) = config.count(&["sliding_window_pattern", "_sliding_window_pattern"])? {
            return Ok(if pattern > 0 { Self::AllButEvery(pattern) } else { Self::Never });
        }
        if config.str("model_type") == Some("gemma2") {
            return Ok(Self::AllButEvery(2));
        }
        if config.bool("use_sliding_window")? == Some(true) {
            return Ok(Self::From(config.count(&["max_window_layers"])?.unwrap_or(0)));
        }
        Ok(Self::Always)
    }

    fn is_sliding(&self, layer: usize) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::AllButEvery(n) => !(layer + 1).is_multiple_of(*n),
            Self::From(first) => layer >= *first,
        }
    }
}

/// Who owns the cache that a layer reads.
struct Owners {
    owners: Vec<Option<Result<usize, String>>>,
}

impl Owners {
    fn read(config: &TextConfig<'_>, kinds: &LayerKinds, layers: usize) -> Result<Self, CheckpointError> {
        let mut owners = vec![None; layers];
        let shared = config.count(&["num_kv_shared_layers"])?.unwrap_or(0);
        if shared > layers {
            return Err(config.fail("num_kv_shared_layers", format!("{shared} of {layers} layers")));
        }
        let first = layers - shared;
        let last_of_kind: HashMap<&str, usize> =
            kinds.kinds.iter().take(first).enumerate().map(|(i, (_, name))| (name.as_str(), i)).collect();
        for (index, owner) in owners.iter_mut().enumerate().skip(first) {
            let (kind, name) = &kinds.kinds[index];
            if *kind == Kind::NoCache {
                continue;
            }
            *owner = Some(last_of_kind.get(name.as_str()).copied().ok_or_else(|| {
                format!("layer {index} ({name}) shares a cache, but no layer below {first} has that kind")
            }));
        }
        // Hunyuan: within each group of layers the first one's cache serves all.
        let uses_groups = config.bool("use_cla")? == Some(true);
        if let Some(group) = config.count(&["cla_share_factor"])?.filter(|n| *n > 1 && uses_groups) {
            for (index, owner) in owners.iter_mut().enumerate().filter(|(i, _)| i % group != 0) {
                *owner = Some(Ok(index - index % group));
            }
        }
        Ok(Self { owners })
    }

    fn of(&self, index: usize) -> Option<Result<usize, String>> {
        self.owners.get(index).cloned().flatten()
    }
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
