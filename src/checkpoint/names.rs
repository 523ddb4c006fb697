//! The grammar of KV-scale tensor names.
//!
//! A name is read as a whole, never by replacing parts of it: a [place](super::places), and the suffix that says the role:
//! `k_scale`, `k_proj.k_scale`, `k_proj.output_scale`, `k_cache.scale`, ..
//!
//! Anything that ends like a KV scale but does not parse is reported by the caller, never dropped.

use super::places::{is_cross_attention, is_other_place, locate};
use super::scale_name::{LayerIndex, NameClass, NameFormat, Refusal, Role};

/// Projections of query, key and value together.
const FUSED: [&str; 12] = [
    "qkv_proj",
    "qkqkv_proj",
    "query_key_value",
    "Wqkv",
    "W_pack",
    "wqkv",
    "c_attn",
    "qkv",
    "qkvz",
    "linear_qkv",
    "in_proj_qkv",
    "att_proj",
];

/// Those of them whose `output_scale` is that of query, key and value, whatever module it is in.
const FUSED_OUTPUTS: [&str; 5] = ["qkv_proj", "qkqkv_proj", "query_key_value", "Wqkv", "W_pack"];

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
        Some(suffix) if is_other_place(suffix.place) => NameClass::OtherRole,
        Some(suffix) if is_cross_attention(suffix.place) => match suffix.meaning {
            Meaning::Scale(_, format) => NameClass::CrossAttention(format),
            Meaning::Refused(refusal) => NameClass::Refused(refusal),
            _ => NameClass::Other,
        },
        Some(Suffix { place, meaning, may_be_wrapped }) => match (locate(place, may_be_wrapped), meaning) {
            // Letters and formats that are refused are refused wherever they stand.
            (_, Meaning::Refused(refusal)) => NameClass::Refused(refusal),
            (Some(_), Meaning::RefusedInAttention(refusal)) => NameClass::Refused(refusal),
            (Some(_), Meaning::Transient) => NameClass::OtherRole,
            (None, Meaning::Transient | Meaning::ZeroPoint(_) | Meaning::RefusedInAttention(_)) => {
                NameClass::Other
            }
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
    /// Too common a suffix to mean anything elsewhere.
    RefusedInAttention(Refusal),
}

/// Splits what says the role off the end of a name.
fn suffix<'a>(parents: &'a str, last: &str) -> Option<Suffix<'a>> {
    // An adapter keeps the projection that it was put beside in `base_layer`.
    let parents = parents.strip_suffix(".base_layer").unwrap_or(parents);
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
        "output_scale" => below(output_scale(owner, projection)?),
        // Those of a running cache whose scales are computed with each token.
        "q_scales" | "k_scales" | "v_scales" => direct(Meaning::Transient),
        "_amax" if is_bmm_quantizer(owner) => below(Meaning::RefusedInAttention(Refusal::Amax)),
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

/// The scale of what comes out of a projection; `letter` is its own, if it has one.
fn output_scale(projection: &str, letter: Option<&str>) -> Option<Meaning> {
    match letter {
        Some(letter) => Some(Meaning::Scale(Role::from_letter(letter)?, NameFormat::OutputScale)),
        None if FUSED_OUTPUTS.contains(&projection) => Some(Meaning::Refused(Refusal::Ambiguous)),
        None if makes_keys(projection) => Some(Meaning::RefusedInAttention(Refusal::Projection)),
        None => None,
    }
}

/// Whether keys or values come out of a projection of this name, alone or with others.
fn makes_keys(projection: &str) -> bool {
    projection.contains("kv") || matches!(projection, "c_attn" | "key" | "value" | "wk" | "wv")
}

/// The quantizers that ModelOpt puts around the products of attention.
fn is_bmm_quantizer(module: &str) -> bool {
    matches!(module, "q_bmm_quantizer" | "k_bmm_quantizer" | "v_bmm_quantizer")
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

/// The layer and what stands below the attention module in the name of a tensor of the text decoder's attention:
/// `kv_b_proj.weight`, `sinks`.
pub(crate) fn attention_tensor(name: &str) -> Option<(LayerIndex, &str)> {
    if is_other_place(name) {
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
