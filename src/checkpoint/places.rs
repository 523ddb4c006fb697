//! Where an attention module may stand: what comes before the suffix of a scale's name.
//!
//! ```text
//! place  = [prefix "."] (list "." number | midlayer) "." [outer "."] attention ["." wrapper] [".impl"]
//! prefix = text segments only: model, language_model, backbone, transformer, thinker, mtp, ..
//! list   = layers, h, blocks, mtp, ..
//! outer  = what a block calls its parts: shared_transformer, mtp_block, ..
//! ```

use super::scale_name::{LayerIndex, NameFormat, Role, ScaleName};

const LISTS: [&str; 7] = ["layers", "h", "blocks", "block", "mtp_layers", "mtp", "mtp_block"];

/// A layer without a number: the one that an EAGLE3 draft model consists of.
const ONLY_LAYER: &str = "midlayer";

const PREFIXES: [&str; 23] = [
    "model",
    "language_model",
    "text_model",
    "text",
    "language",
    "llm",
    "backbone",
    "transformer",
    "thinker",
    "decoder",
    "mtp",
    "gpt_neox",
    "lm",
    "causal_lm",
    "draft",
    // PLaMo 2 calls its list `model.layers.layers`.
    "layers",
    // What PEFT, torch's compiler and data parallelism put around a model.
    "base_model",
    "_orig_mod",
    "module",
    "eagle_module",
    // NeMo's decoder.
    "transf_decoder",
    "_decoder",
    "mtp_block",
];

/// Prefixes and lists that count draft layers.
const DRAFTS: [&str; 4] = ["mtp", "mtp_layers", "mtp_block", "eagle_module"];

const OUTER: [&[&str]; 7] = [
    &["shared_transformer"],
    &["shared_transf"],
    &["block"],
    &["mtp_block"],
    &["transformer_layer"],
    // The first part of a block of T5's decoder is its self-attention.
    &["layer", "0"],
    &[],
];

const MODULES: [&[&str]; 10] = [
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

const WRAPPERS: [&[&str]; 9] = [
    &["attn"],
    &["mla_attn", "mla_attn"],
    &["mla_attn"],
    &["attn_mqa"],
    &["attn_mha"],
    &["core_attention"],
    &["inner_attn"],
    &["attention"],
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
/// text decoder.
const TOWER_WORDS: [&str; 48] = [
    "vision",
    "visual",
    "vit",
    "image",
    "img",
    "video",
    "pixel",
    "patch",
    "sam",
    "clip",
    "siglip",
    "aimv2",
    "radio",
    "vpm",
    "audio",
    "speech",
    "sound",
    "voice",
    "acoustic",
    "wav",
    "whisper",
    "conformer",
    "apm",
    "codec",
    "tts",
    "vocoder",
    "talker",
    "code2wav",
    "token2wav",
    "predictor",
    "tower",
    "encoder",
    "vae",
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

/// Words that keep a prefix a text place, whatever else it is called.
const TEXT_WORDS: [&str; 4] = ["language", "text", "llm", "lm"];

/// Whether the place has no KV cache of a text decoder: a tower's, an indexer's.
pub(super) fn is_other_place(place: &str) -> bool {
    let segments: Vec<&str> = place.split('.').collect();
    let prefix = layer_at(&segments).map_or(segments.len(), |(start, _)| start);
    segments.iter().enumerate().any(|(i, segment)| {
        // ChatGLM calls its text decoder `transformer.encoder`.
        let is_text_encoder = *segment == "encoder" && i > 0 && segments[i - 1] == "transformer";
        let is_tower = !PREFIXES.contains(segment) && is_tower(segment, i < prefix);
        !is_text_encoder && (OTHER_PARTS.contains(segment) || is_tower)
    })
}

/// Whether a word of this segment says so; below a layer only the first one does.
fn is_tower(segment: &str, is_prefix: bool) -> bool {
    let segment = segment.to_lowercase();
    let words = || segment.split('_');
    if words().any(|word| TEXT_WORDS.contains(&word)) {
        return false;
    }
    if is_prefix {
        words().any(|word| TOWER_WORDS.contains(&word) || word.ends_with("vit"))
    } else {
        segment.starts_with("vision_") || segment.starts_with("audio_")
    }
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
    let (module_len, is_wrapped) = OUTER.iter().find_map(|outer| {
        let (len, is_wrapped) = attention_module(rest.strip_prefix(*outer)?, may_be_wrapped)?;
        Some((outer.len() + len, is_wrapped))
    })?;
    Some(Located { module: segments[..layer.after + module_len].join("."), layer: layer.index, is_wrapped })
}

/// The segments of the attention module, and whether an engine's own module is inside.
fn attention_module(rest: &[&str], may_be_wrapped: bool) -> Option<(usize, bool)> {
    MODULES.iter().find_map(|module| {
        let inner = rest.strip_prefix(*module)?;
        let inner = if inner.last() == Some(&"impl") { &inner[..inner.len() - 1] } else { inner };
        let is_wrapped = module.len() < rest.len();
        let fits = inner.is_empty() || WRAPPERS.contains(&inner);
        (fits && (may_be_wrapped || !is_wrapped)).then_some((module.len(), is_wrapped))
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
    segments.iter().enumerate().find_map(|(start, segment)| {
        if *segment == ONLY_LAYER {
            return Some((start, Layer { index: LayerIndex::Model(0), after: start + 1 }));
        }
        let number = LISTS.contains(segment).then(|| layer_number(segments.get(start + 1)?)).flatten()?;
        let is_draft = segments[..=start].iter().any(|segment| DRAFTS.contains(segment));
        let index = if is_draft { LayerIndex::Draft(number) } else { LayerIndex::Model(number) };
        Some((start, Layer { index, after: start + 2 }))
    })
}

fn has_text_prefix(prefix: &[&str]) -> bool {
    let is_text = |i: usize| {
        PREFIXES.contains(&prefix[i]) || (prefix[i] == "encoder" && i > 0 && prefix[i - 1] == "transformer")
    };
    (0..prefix.len()).all(is_text)
}

/// A layer number as every producer writes it: digits without a leading zero.
fn layer_number(segment: &str) -> Option<usize> {
    let is_plain =
        segment.bytes().all(|b| b.is_ascii_digit()) && (segment.len() == 1 || !segment.starts_with('0'));
    if is_plain { segment.parse::<u32>().ok().map(|n| n as usize) } else { None }
}
