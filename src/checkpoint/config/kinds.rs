//! The kind of every layer: from a list that names it, else from a rule, else from the class.

use serde_json::Value;

use super::cached_layers::cached_by_rule;
use super::kind::{Kind, LayerKind};
use super::model_type::ModelType;
use super::sliding_rule::SlidingRule;
use super::text::TextConfig;
use crate::checkpoint::{CheckpointError, Findings};

/// Families of state-space models: no layer attends.
const WITHOUT_ATTENTION: [&str; 5] = ["mamba", "falcon_mamba", "rwkv", "xlstm", "codestral_mamba"];

/// Decoders whose class says that they are none.
const DECODERS: [&str; 8] = [
    "gpt_neox",
    "gpt_neox_japanese",
    "evolla",
    "EvollaModel",
    "trocr",
    "t5_gemma_module",
    "musicgen_decoder",
    "musicgen_melody_decoder",
];

/// A key of a list of numbers, and what a number means.
type NumberedKind = (&'static str, fn(usize) -> LayerKind);

/// Lists that give each layer's kind as a number. MiMo's says 1 for a window.
const NUMBERED_KINDS: [NumberedKind; 3] = [
    ("attn_type_list", |number| LayerKind::derived(number != 0, false)),
    ("compress_ratios", compressed_kind),
    ("hybrid_layer_pattern", |number| LayerKind::derived(true, number == 1)),
];

/// The kinds of all layers, those of drafts behind them where a list goes on to them.
pub(super) struct LayerKinds {
    kinds: Vec<LayerKind>,
    layers: usize,
}

impl LayerKinds {
    pub(super) fn read(
        config: &TextConfig<'_>,
        layers: usize,
        findings: &mut Findings,
    ) -> Result<Self, CheckpointError> {
        let mut kinds = match named_kinds(config, layers)? {
            Some(kinds) => kinds,
            None => derived_kinds(config, layers, findings)?,
        };
        let without = layers_without_attention(config, layers)?;
        for (index, kind) in kinds.iter_mut().enumerate() {
            if let Some(reason) = without.get(index).copied().flatten() {
                *kind = LayerKind::without_cache(reason);
            }
        }
        Ok(Self { kinds, layers })
    }

    /// The kind of a layer, or of a draft where a list goes on to the drafts.
    pub(super) fn of(&self, index: usize) -> Option<&LayerKind> {
        self.kinds.get(index)
    }

    /// The kinds of the model's own layers.
    pub(super) fn own(&self) -> &[LayerKind] {
        &self.kinds[..self.layers.min(self.kinds.len())]
    }
}

/// Layers that other keys take the attention away from, each with the reason.
fn layers_without_attention(
    config: &TextConfig<'_>,
    layers: usize,
) -> Result<Vec<Option<&'static str>>, CheckpointError> {
    let mut without = vec![None; layers];
    if config.is_family(&WITHOUT_ATTENTION) {
        without.fill(Some("state_space"));
    }
    let is_decoder = config.bool("is_decoder")? == Some(true) || config.is_one_of(&DECODERS);
    if config.class().is_some_and(ModelType::is_encoder) && !is_decoder {
        without.fill(Some("encoder"));
    }
    let mut mark = |index: usize, reason| {
        if let Some(entry) = without.get_mut(index) {
            *entry = Some(reason);
        }
    };
    // `no_op` and linear replacements of a pruned model override what a list says.
    for (index, block) in config.objects("block_configs")?.into_iter().flatten().enumerate() {
        let attention = block.get("attention");
        let is = |key: &str| attention.and_then(|a| a.get(key)).and_then(Value::as_bool) == Some(true);
        if is("no_op") || is("replace_with_linear") {
            mark(index, "no_op");
        }
    }
    for (index, own) in config.object("per_layer_config")?.into_iter().flatten() {
        let skip = own.get("skip").and_then(Value::as_array).into_iter().flatten();
        if let (true, Ok(index)) = (skip.into_iter().any(|part| part == "attention"), index.parse()) {
            mark(index, "skip");
        }
    }
    for index in config.counts("cross_attention_layers")?.unwrap_or_default() {
        mark(index, "cross_attention");
    }
    Ok(without)
}

/// A list that names each layer's kind: `layer_types` and the older keys that do the same.
fn named_kinds(config: &TextConfig<'_>, layers: usize) -> Result<Option<Vec<LayerKind>>, CheckpointError> {
    if let Some(pattern) = config.string("hybrid_override_pattern")? {
        let kinds: Vec<_> = pattern.chars().map(|c| LayerKind::named(&c.to_string())).collect();
        return check_length(config, "hybrid_override_pattern", kinds, layers).map(Some);
    }
    for key in ["layer_types", "layers_block_type", "attention_layers", "attention_types"] {
        // Of GPT-Neo the class has the list itself; of the others it has a rule, which counts after all that is written.
        let value = if key == "attention_types" { config.get(key) } else { config.written(key) };
        let Some(value) = value else { continue };
        let names = match repeated_names(value) {
            Some(names) if key == "attention_types" => names,
            _ => config.strings(key)?.unwrap_or_default().into_iter().map(ToOwned::to_owned).collect(),
        };
        let mut kinds: Vec<_> = names.iter().map(|name| LayerKind::named(name)).collect();
        // Gemma 4 attends fully in its last layer, whatever the list says.
        if let (true, Some(last)) =
            (config.is_family(&["gemma4", "diffusion_gemma"]), kinds.get_mut(layers.saturating_sub(1)))
        {
            *last = LayerKind::derived(true, false);
        }
        return check_length(config, key, kinds, layers).map(Some);
    }
    // RecurrentGemma repeats its list, and all its attention slides.
    for key in ["block_types", "_block_types"] {
        if config.written(key).is_none() {
            continue;
        }
        if let Some(names) = config.strings(key)?.filter(|names| !names.is_empty()) {
            let name = |i: usize| match names[i % names.len()] {
                "attention" => "sliding_attention",
                name => name,
            };
            return Ok(Some((0..layers).map(|i| LayerKind::named(name(i))).collect()));
        }
    }
    for (key, kind) in NUMBERED_KINDS {
        if let Some(numbers) = config.counts(key)? {
            return check_length(config, key, numbers.into_iter().map(kind).collect(), layers).map(Some);
        }
    }
    Ok(None)
}

/// DeepSeek-V4: how many tokens a layer draws together; none are a window alone.
fn compressed_kind(ratio: usize) -> LayerKind {
    LayerKind::named(match ratio {
        0 => "sliding_attention",
        1..=4 => "compressed_sparse_attention",
        _ => "heavily_compressed_attention",
    })
}

/// GPT-Neo's form: a list of pairs, the names of some layers and how often they are repeated.
fn repeated_names(value: &Value) -> Option<Vec<String>> {
    const MOST: usize = 100_000;
    let mut names = Vec::new();
    for pair in value.as_array()? {
        let [of_layers, times] = pair.as_array()?.as_slice() else { return None };
        let words: Vec<&str> = of_layers.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
        let times = usize::try_from(times.as_u64()?).ok()?;
        if words.len().saturating_mul(times).saturating_add(names.len()) > MOST {
            return None;
        }
        for _ in 0..times {
            names.extend(words.iter().map(|word| (*word).to_owned()));
        }
    }
    Some(names)
}

fn check_length(
    config: &TextConfig<'_>,
    key: &str,
    kinds: Vec<LayerKind>,
    layers: usize,
) -> Result<Vec<LayerKind>, CheckpointError> {
    if kinds.len() < layers {
        return Err(config.fail(key, format!("{} entries for {layers} layers", kinds.len())));
    }
    Ok(kinds)
}

/// Kinds by the rules that the config gives, else by its class, else a cache for every layer.
fn derived_kinds(
    config: &TextConfig<'_>,
    layers: usize,
    findings: &mut Findings,
) -> Result<Vec<LayerKind>, CheckpointError> {
    let has_cache = cached_by_rule(config, layers)?;
    let windows = SlidingRule::read(config, layers, findings)?;
    let rule_is_written = has_cache.is_some() || windows.is_written();
    let of_class = config.class().and_then(|class| class.layer_types(layers));
    if let (Some(names), false) = (of_class, rule_is_written) {
        let kind = |name: &str| match LayerKind::named(name) {
            LayerKind { kind: Kind::Sliding, .. } if !windows.has_window() => LayerKind::derived(true, false),
            kind => kind,
        };
        return Ok(names.into_iter().map(kind).collect());
    }
    if let Some(chunked) = chunked_layers(config, layers)? {
        let kind = |is_chunked: &bool| {
            LayerKind::named(if *is_chunked { "chunked_attention" } else { "full_attention" })
        };
        return Ok(chunked.iter().map(kind).collect());
    }
    let of_layer = |i: usize| {
        let has_cache = has_cache.as_ref().is_none_or(|has_cache| has_cache[i]);
        LayerKind::derived(has_cache, windows.is_sliding(i))
    };
    Ok((0..layers).map(of_layer).collect())
}

/// Llama 4: layers with a rope attend in chunks; the list has a 0 for those without.
fn chunked_layers(config: &TextConfig<'_>, layers: usize) -> Result<Option<Vec<bool>>, CheckpointError> {
    if config.get("attention_chunk_size").is_none() {
        return Ok(None);
    }
    let Some(has_rope) = config.counts("no_rope_layers")?.filter(|list| list.len() >= layers) else {
        return Ok(None);
    };
    Ok(Some(has_rope[..layers].iter().map(|has_rope| *has_rope != 0).collect()))
}
