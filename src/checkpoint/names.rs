//! The grammar of KV-scale tensor names.
//!
//! A name is read as a whole, never by replacing parts of it:
//!
//! ```text
//! name    = [prefix "."] container "." layer "." module ["." wrapper] "." suffix
//! prefix  = text segments only: model, language_model, backbone, transformer, thinker, mtp, ..
//! module  = self_attn | attn | attention | mixer | norm_attn_norm.attn | ..
//! wrapper = attn | mla_attn.mla_attn | attn_mqa | .. [".impl"]       (names of an engine at run time)
//! suffix  = what says the role: k_scale, k_proj.k_scale, k_proj.output_scale, k_cache.scale, ..
//! ```
//!
//! Anything that ends like a KV scale but does not parse is reported by the caller, never dropped.

use super::scale_name::{LayerIndex, NameClass, NameFormat, Refusal, Role, ScaleName};

const CONTAINERS: [&str; 4] = ["layers", "h", "blocks", "mtp_layers"];

const PREFIXES: [&str; 15] = [
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
];

const MODULES: [&[&str]; 8] = [
    &["self_attn"],
    &["attn"],
    &["attention"],
    &["self_attention"],
    &["mixer"],
    &["norm_attn_norm", "attn"],
    &["temporal_block"],
    &["attention", "self"],
];

const WRAPPERS: [&[&str]; 5] =
    [&["attn"], &["mla_attn", "mla_attn"], &["mla_attn"], &["attn_mqa"], &["attn_mha"]];

const FUSED: [&str; 5] = ["qkv_proj", "qkqkv_proj", "query_key_value", "Wqkv", "W_pack"];

/// Segments that put a name outside the text decoder.
const OTHER_PLACES: [&str; 18] = [
    "visual",
    "vit",
    "image_encoder",
    "audio_tower",
    "audio_encoder",
    "speech_encoder",
    "encoder",
    "indexer",
    "compressor",
    "talker",
    "token2wav",
    "code2wav",
    "code_predictor",
    "multi_modal_projector",
    "mm_projector",
    "resampler",
    "perceiver",
    "connector",
];

/// Whether a tensor of this name is, or looks like, a KV scale.
pub(crate) fn is_scale_like(name: &str) -> bool {
    matches!(classify(name), NameClass::Scale(_) | NameClass::Refused(_))
}

/// Reads a tensor name.
#[must_use]
pub fn classify(name: &str) -> NameClass {
    let (parents, last) = name.rsplit_once('.').unwrap_or(("", name));
    match suffix(parents, last) {
        None => NameClass::Other,
        Some(suffix) if in_other_place(suffix.place) => NameClass::OtherRole,
        Some(Suffix { place, meaning, may_be_wrapped }) => match (locate(place, may_be_wrapped), meaning) {
            // Letters and formats that are refused are refused wherever they stand.
            (_, Meaning::Refused(refusal)) => NameClass::Refused(refusal),
            (Some(_), Meaning::Transient) => NameClass::OtherRole,
            (None, Meaning::Transient | Meaning::ZeroPoint(_)) => NameClass::Other,
            (None, Meaning::Scale(_, format)) => match format {
                // These suffixes alone say too little to make another tensor suspicious.
                NameFormat::Cache | NameFormat::IncDequant | NameFormat::IncQuantReciprocal => {
                    NameClass::Other
                }
                _ => NameClass::Refused(Refusal::UnknownPlace),
            },
            (Some(found), Meaning::ZeroPoint(role)) => {
                NameClass::ZeroPoint(found.name(role, NameFormat::Attention))
            }
            (Some(found), Meaning::Scale(role, format)) => NameClass::Scale(found.name(role, format)),
        },
    }
}

/// A suffix that says a role, and the place before it.
struct Suffix<'a> {
    place: &'a str,
    meaning: Meaning,
    may_be_wrapped: bool,
}

enum Meaning {
    Scale(Role, NameFormat),
    ZeroPoint(Role),
    Transient,
    Refused(Refusal),
}

/// Splits what says the role off the end of a name.
fn suffix<'a>(parents: &'a str, last: &str) -> Option<Suffix<'a>> {
    let (place, owner) = parents.rsplit_once('.').unwrap_or(("", parents));
    let below = |meaning| Some(Suffix { place, meaning, may_be_wrapped: false });
    let direct = |meaning| Some(Suffix { place: parents, meaning, may_be_wrapped: true });
    let projection = owner.strip_suffix("_proj").filter(|letter| matches!(*letter, "q" | "k" | "v"));
    match last {
        "q_scale" | "k_scale" | "v_scale" => {
            let letter = &last[..1];
            let role = Role::from_letter(letter)?;
            match projection {
                Some(own) if own == letter => below(Meaning::Scale(role, NameFormat::Projection)),
                Some(_) => below(Meaning::Refused(Refusal::CrossedLetters)),
                None if FUSED.contains(&owner) => below(Meaning::Scale(role, NameFormat::Fused)),
                None => direct(Meaning::Scale(role, NameFormat::Attention)),
            }
        }
        "kv_scale" => direct(Meaning::Scale(Role::Kv, NameFormat::Attention)),
        "prob_scale" => direct(Meaning::Scale(Role::Prob, NameFormat::Attention)),
        "prob_output_scale" => direct(Meaning::Scale(Role::Prob, NameFormat::ProbOutput)),
        "output_scale" => match projection {
            Some(letter) => below(Meaning::Scale(Role::from_letter(letter)?, NameFormat::OutputScale)),
            None if FUSED.contains(&owner) => below(Meaning::Refused(Refusal::Ambiguous)),
            None => None,
        },
        "scale" => match owner {
            "q" => below(Meaning::Scale(Role::Q, NameFormat::Cache)),
            "k_cache" => below(Meaning::Scale(Role::K, NameFormat::Cache)),
            "v_cache" => below(Meaning::Scale(Role::V, NameFormat::Cache)),
            "fa_q" | "fa_k" | "fa_v" => below(Meaning::Refused(Refusal::Int8)),
            "dequant_output" => inc_module(place, NameFormat::IncDequant),
            _ => None,
        },
        "scale_inv" if owner == "quant_input" => inc_module(place, NameFormat::IncQuantReciprocal),
        "qscale_act" => {
            let role = Role::from_letter(owner.strip_suffix("_fake_quantizer")?)?;
            below(Meaning::Scale(role, NameFormat::FakeQuantizer))
        }
        "kv_cache_scaling_factor" | "k_cache_scaling_factor" | "v_cache_scaling_factor" => {
            let role = Role::from_letter(last.strip_suffix("_cache_scaling_factor")?)?;
            direct(Meaning::Scale(role, NameFormat::ScalingFactor))
        }
        "kv_cache_rcp_scaling_factor" => {
            direct(Meaning::Scale(Role::Kv, NameFormat::ReciprocalScalingFactor))
        }
        "kv_cache_scale" => below(Meaning::Refused(Refusal::Int8)),
        "q_global_scale" | "k_global_scale" | "v_global_scale" | "kv_global_scale" => {
            direct(Meaning::Refused(Refusal::Nvfp4))
        }
        "q_zero_point" | "k_zero_point" | "v_zero_point" => {
            direct(Meaning::ZeroPoint(Role::from_letter(&last[..1])?))
        }
        "q_max" => direct(Meaning::Transient),
        _ => None,
    }
}

/// `<attention>.impl.k_cache` and its like: the modules that INC patches.
fn inc_module(parents: &str, format: NameFormat) -> Option<Suffix<'_>> {
    let (place, owner) = parents.rsplit_once('.')?;
    let role = match owner {
        "k_cache" | "latent_cache_k" => Role::K,
        "v_cache" => Role::V,
        _ => return None,
    };
    Some(Suffix { place, meaning: Meaning::Scale(role, format), may_be_wrapped: true })
}

fn in_other_place(place: &str) -> bool {
    let mut before = "";
    place.split('.').any(|segment| {
        // ChatGLM calls its text decoder `transformer.encoder`.
        let is_text_encoder = segment == "encoder" && before == "transformer";
        before = segment;
        !is_text_encoder
            && (OTHER_PLACES.contains(&segment)
                || segment.starts_with("vision_")
                || segment.starts_with("audio_"))
    })
}

/// An attention module in a layer of the text decoder.
struct Located {
    module: String,
    layer: LayerIndex,
    is_wrapped: bool,
}

impl Located {
    fn name(self, role: Role, format: NameFormat) -> ScaleName {
        let format =
            if self.is_wrapped && format == NameFormat::Attention { NameFormat::Runtime } else { format };
        ScaleName { module: self.module, layer: self.layer, role, format }
    }
}

/// Finds prefix, container, layer and attention module in what stands before the suffix.
fn locate(place: &str, may_be_wrapped: bool) -> Option<Located> {
    let segments: Vec<&str> = place.split('.').collect();
    let container = (0..segments.len().saturating_sub(1))
        .find(|i| CONTAINERS.contains(&segments[*i]) && layer_number(segments[*i + 1]).is_some())?;
    let number = layer_number(segments[container + 1])?;
    let prefix = &segments[..container];
    let is_text = |i: usize| {
        PREFIXES.contains(&prefix[i]) || (prefix[i] == "encoder" && i > 0 && prefix[i - 1] == "transformer")
    };
    if !(0..prefix.len()).all(is_text) {
        return None;
    }
    let rest = &segments[container + 2..];
    let (module_len, is_wrapped) = MODULES.iter().find_map(|module| {
        let inner = rest.strip_prefix(*module)?;
        let inner = if inner.last() == Some(&"impl") { &inner[..inner.len() - 1] } else { inner };
        let is_wrapped = module.len() < rest.len();
        let fits = inner.is_empty() || WRAPPERS.contains(&inner);
        (fits && (may_be_wrapped || !is_wrapped)).then_some((module.len(), is_wrapped))
    })?;
    let is_draft = segments[container] == "mtp_layers" || prefix.contains(&"mtp");
    Some(Located {
        module: segments[..container + 2 + module_len].join("."),
        layer: if is_draft { LayerIndex::Draft(number) } else { LayerIndex::Model(number) },
        is_wrapped,
    })
}

/// The layer and what stands below the attention module in the name of a tensor of the text decoder's attention:
/// `kv_b_proj.weight`, `sinks`.
pub(crate) fn attention_tensor(name: &str) -> Option<(LayerIndex, &str)> {
    if in_other_place(name) {
        return None;
    }
    let mut place = name;
    // A weight is one or two levels below its module.
    for _ in 0..2 {
        place = place.rsplit_once('.')?.0;
        if let Some(found) = locate(place, false) {
            return Some((found.layer, &name[place.len() + 1..]));
        }
    }
    None
}

/// A layer number as every producer writes it: digits without a leading zero.
fn layer_number(segment: &str) -> Option<usize> {
    let is_plain =
        segment.bytes().all(|b| b.is_ascii_digit()) && (segment.len() == 1 || !segment.starts_with('0'));
    if is_plain { segment.parse::<u32>().ok().map(|n| n as usize) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_the_attention_are_found_below_any_known_place() {
        for (name, expected) in [
            ("model.layers.3.self_attn.kv_b_proj.weight", Some((LayerIndex::Model(3), "kv_b_proj.weight"))),
            ("layers.0.attn.wkv_b.scale", Some((LayerIndex::Model(0), "wkv_b.scale"))),
            ("mtp.layers.1.self_attn.kv_b_proj.weight", Some((LayerIndex::Draft(1), "kv_b_proj.weight"))),
            ("model.layers.2.self_attn.sinks", Some((LayerIndex::Model(2), "sinks"))),
            ("visual.layers.2.attn.kv_b_proj.weight", None),
            ("model.layers.2.mlp.gate.weight", None),
            ("sinks", None),
        ] {
            assert_eq!(attention_tensor(name), expected, "{name}");
        }
    }
}
