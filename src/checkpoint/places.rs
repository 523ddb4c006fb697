//! Where an attention module may stand: what comes before the suffix of a scale's name.
//!
//! ```text
//! place  = [prefix "."] (list "." number | midlayer | mtp_block) "." [outer "."] attention ["." wrapper] [".impl"]
//! prefix = text segments only: model, language_model, backbone, transformer, thinker, mtp, eagle_module, ..
//! list   = layers, h, blocks, mtp, ..
//! outer  = what a block calls its parts: shared_transformer, mtp_block, ..
//! ```

use super::scale_name::{LayerIndex, NameFormat, Role, ScaleName};

const LISTS: [&str; 7] = ["layers", "h", "blocks", "block", "mtp_layers", "mtp", "mtp_block"];

/// Layers without a number: the one that an EAGLE3 draft model consists of, and an engine's only draft layer.
const ONLY_LAYERS: [(&str, LayerIndex); 2] =
    [("midlayer", LayerIndex::Model(0)), ("mtp_block", LayerIndex::Draft(0))];

/// LongCat has two attentions in each layer, and each has a cache: they are counted through.
pub(super) const ATTENTIONS_OF_A_LAYER: [&str; 2] = ["0", "1"];

/// Prefixes that are one name. Others are made of [`TEXT_WORDS`].
const PREFIXES: [&str; 8] = [
    "mtp",
    "gpt_neox",
    // PLaMo 2 calls its list `model.layers.layers`.
    "layers",
    // What torch's compiler and data parallelism put around a model.
    "_orig_mod",
    "module",
    // NeMo's decoder.
    "transf_decoder",
    "_decoder",
    "mtp_block",
];

/// What prefixes of a text decoder are made of: `language_model`, `text_decoder`, `base_model`, ..
const TEXT_WORDS: [&str; 12] = [
    "text",
    "language",
    "llm",
    "lm",
    "causal",
    "model",
    "backbone",
    "transformer",
    "thinker",
    "decoder",
    "base",
    "draft",
];

/// Words that keep a prefix a text place, whatever else it is called.
const LANGUAGE: [&str; 4] = ["text", "language", "llm", "lm"];

/// Words of prefixes and lists that count draft layers.
const DRAFT_WORDS: [&str; 6] = ["mtp", "eagle", "eagle3", "nextn", "speculator", "drafter"];

const OUTER: [&[&str]; 8] = [
    &["shared_transformer"],
    &["shared_transf"],
    &["block"],
    &["mtp_block"],
    &["transformer_layer"],
    &["transformer"],
    // The first part of a block of T5's decoder is its self-attention.
    &["layer", "0"],
    &[],
];

const MODULES: [&[&str]; 12] = [
    // GPT-Neo has one attention inside another.
    &["attn", "attention"],
    &["self_attn", "attention"],
    &["self_attn"],
    &["attn"],
    &["attention"],
    &["self_attention"],
    &["mixer"],
    &["norm_attn_norm", "attn"],
    &["temporal_block"],
    &["attention", "self"],
    &["SelfAttention"],
    &["first_sub_layer"],
];

const WRAPPERS: [&[&str]; 8] = [
    &["attn"],
    &["mla_attn", "mla_attn"],
    &["mla_attn"],
    &["attn_mqa"],
    &["attn_mha"],
    &["core_attention"],
    &["inner_attn"],
    &["kv_cache"],
];

/// Attention of a decoder to what an encoder made.
const CROSS_ATTENTION: [&str; 8] = [
    "cross_attn",
    "cross_attention",
    "crossattention",
    "encoder_attn",
    "encoder_attention",
    "encdec_attn",
    "EncDecAttention",
    "second_sub_layer",
];

/// Segments below a layer that have no KV cache.
const OTHER_PARTS: [&str; 2] = ["indexer", "compressor"];

/// Words that put a prefix outside the text decoder: what a tower sees or speaks, what it is built of, what joins it to the
/// text decoder. Numbers of versions are left out.
const TOWER_WORDS: [&str; 66] = [
    "vision",
    "visual",
    "image",
    "images",
    "img",
    "video",
    "pixel",
    "patch",
    "ocr",
    "vit",
    "sam",
    "clip",
    "siglip",
    "aim",
    "radio",
    "dino",
    "eva",
    "swin",
    "beit",
    "deit",
    "hiera",
    "convnext",
    "vpm",
    "audio",
    "speech",
    "sound",
    "voice",
    "speaker",
    "acoustic",
    "semantic",
    "wav",
    "whisper",
    "conformer",
    "hubert",
    "apm",
    "codec",
    "tts",
    "vocoder",
    "talker",
    "code2wav",
    "token2wav",
    "predictor",
    "depth",
    "depformer",
    "flow",
    "tower",
    "encoder",
    "tokenizer",
    "vae",
    "dvae",
    "vq",
    "dit",
    "diffusion",
    "unet",
    "aligner",
    "resampler",
    "perceiver",
    "qformer",
    "projector",
    "connector",
    "merger",
    "abstractor",
    "mlp",
    "mm",
    "indexer",
    "compressor",
];

/// Whether the place has no KV cache of a text decoder: a tower's, an indexer's.
pub(super) fn is_other_place(place: &str) -> bool {
    let segments: Vec<&str> = place.split('.').collect();
    let prefix = layer_at(&segments).map_or(segments.len(), |(start, _)| start);
    segments.iter().enumerate().any(|(i, segment)| {
        // ChatGLM calls its text decoder `transformer.encoder`.
        let is_text_encoder = *segment == "encoder" && i > 0 && segments[i - 1] == "transformer";
        let is_tower = !is_text(segment) && is_tower(segment, i < prefix);
        !is_text_encoder && (OTHER_PARTS.contains(segment) || is_tower)
    })
}

/// Whether a word of this segment says so; below a layer only the first one does.
fn is_tower(segment: &str, is_prefix: bool) -> bool {
    let segment = segment.to_lowercase();
    let words = || segment.split('_');
    if words().any(|word| LANGUAGE.contains(&word)) {
        return false;
    }
    if is_prefix {
        words().any(|word| TOWER_WORDS.contains(&without_version(word)) || word.ends_with("vit"))
    } else {
        segment.starts_with("vision_") || segment.starts_with("audio_")
    }
}

/// `dinov2` and `sam2` are versions of `dino` and `sam`.
fn without_version(word: &str) -> &str {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if name.len() < word.len() { name.strip_suffix('v').unwrap_or(name) } else { word }
}

/// Whether the place is attention of a decoder layer to what an encoder made.
pub(super) fn is_cross_attention(place: &str) -> bool {
    let segments: Vec<&str> = place.split('.').collect();
    layer_at(&segments).is_some_and(|(start, layer)| {
        has_text_prefix(&segments[..start])
            && segments[layer.after..].iter().any(|segment| CROSS_ATTENTION.contains(segment))
    })
}

/// An attention module in a layer of the text decoder.
pub(super) struct Located {
    pub(super) module: String,
    pub(super) layer: LayerIndex,
    is_wrapped: bool,
}

impl Located {
    pub(super) fn name(self, role: Role, format: NameFormat) -> ScaleName {
        let format =
            if self.is_wrapped && format == NameFormat::Attention { NameFormat::Runtime } else { format };
        ScaleName { module: self.module, layer: self.layer, role, format }
    }
}

/// Finds prefix, list, layer and attention module.
pub(super) fn locate(place: &str, may_be_wrapped: bool) -> Option<Located> {
    let segments: Vec<&str> = place.split('.').collect();
    let (start, layer) = layer_at(&segments)?;
    if !has_text_prefix(&segments[..start]) {
        return None;
    }
    let rest = &segments[layer.after..];
    let (outer, found) = OUTER.iter().find_map(|outer| {
        Some((outer.len(), attention_module(rest.strip_prefix(*outer)?, may_be_wrapped)?))
    })?;
    let index = match (layer.index, found.part) {
        (LayerIndex::Model(layer), Some(part)) => {
            LayerIndex::Model(layer.checked_mul(ATTENTIONS_OF_A_LAYER.len())?.checked_add(part)?)
        }
        (index, _) => index,
    };
    let module = segments[..layer.after + outer + found.len].join(".");
    Some(Located { module, layer: index, is_wrapped: found.is_wrapped })
}

/// An attention module at the beginning of what stands below a layer.
struct AttentionModule {
    /// Its segments.
    len: usize,
    /// Which attention of the layer it is, where there are several.
    part: Option<usize>,
    /// Whether an engine's own module is inside.
    is_wrapped: bool,
}

fn attention_module(rest: &[&str], may_be_wrapped: bool) -> Option<AttentionModule> {
    MODULES.iter().find_map(|module| {
        let inner = rest.strip_prefix(*module)?;
        let part =
            inner.first().and_then(|first| ATTENTIONS_OF_A_LAYER.iter().position(|part| part == first));
        let inner = if part.is_some() { &inner[1..] } else { inner };
        let is_wrapped = !inner.is_empty();
        let inner = if inner.last() == Some(&"impl") { &inner[..inner.len() - 1] } else { inner };
        let fits = inner.is_empty() || WRAPPERS.contains(&inner);
        let len = module.len() + usize::from(part.is_some());
        (fits && (may_be_wrapped || !is_wrapped)).then_some(AttentionModule { len, part, is_wrapped })
    })
}

/// A layer among the segments of a name.
struct Layer {
    index: LayerIndex,
    /// The first segment below it.
    after: usize,
}

/// Where the layer begins, and which it is.
fn layer_at(segments: &[&str]) -> Option<(usize, Layer)> {
    let numbered = segments.iter().enumerate().find_map(|(start, segment)| {
        let number = LISTS.contains(segment).then(|| layer_number(segments.get(start + 1)?)).flatten()?;
        let is_draft = segments[..=start].iter().any(|segment| is_draft(segment));
        let index = if is_draft { LayerIndex::Draft(number) } else { LayerIndex::Model(number) };
        Some((start, Layer { index, after: start + 2 }))
    });
    let only = || {
        segments.iter().enumerate().find_map(|(start, segment)| {
            let (_, index) = ONLY_LAYERS.iter().find(|(name, _)| name == segment)?;
            Some((start, Layer { index: *index, after: start + 1 }))
        })
    };
    numbered.or_else(only)
}

fn has_text_prefix(prefix: &[&str]) -> bool {
    let is_encoder = |i: usize| prefix[i] == "encoder" && i > 0 && prefix[i - 1] == "transformer";
    (0..prefix.len()).all(|i| is_text(prefix[i]) || is_draft(prefix[i]) || is_encoder(i))
}

fn is_text(segment: &str) -> bool {
    PREFIXES.contains(&segment) || segment.split('_').all(|word| TEXT_WORDS.contains(&word))
}

fn is_draft(segment: &str) -> bool {
    segment.split('_').any(|word| DRAFT_WORDS.contains(&word))
}

/// A layer number as every producer writes it: digits without a leading zero.
fn layer_number(segment: &str) -> Option<usize> {
    let is_plain =
        segment.bytes().all(|b| b.is_ascii_digit()) && (segment.len() == 1 || !segment.starts_with('0'));
    if is_plain { segment.parse::<u32>().ok().map(|n| n as usize) } else { None }
}
