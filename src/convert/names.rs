//! Which scales belong to an FP8 weight.
//!
//! ```text
//! weight              its scale                                   static activation scale
//! P.weight            P.weight_scale, P.weight_scale_inv          P.input_scale, P.input_scale_inv, P.activation_scale,
//!                     P.scale, P.scale_weight                     P.act_scale, P.scale_input, P.output_scale
//!                     P.qscale_weight (Mistral)                   P.qscale_act
//!                     P.weights_scaling_factor (TensorRT-LLM)     P.activation_scaling_factor
//! P.w13_weight        P.w13_weight_scale, .._scale_inv            P.w13_input_scale
//! P.gate_up_proj      P.gate_up_proj_scale, .._scale_inv          P.gate_up_proj_input_scale, .._activation_scale
//! ```
//!
//! All of them multiply on the way out of FP8, `weight_scale_inv` and `input_scale_inv` too, whatever their names say:
//! the formats that have them (DeepSeek, fine-grained fp8) define them as what the weight is multiplied with.

use crate::checkpoint::{NameClass, Refusal, classify};

/// The names that the scale of this weight may have, in the order of their use.
pub(super) fn weight_scales(weight: &str) -> Vec<String> {
    let beside = ["_scale", "_scale_inv"].map(|suffix| format!("{weight}{suffix}"));
    let rest = match weight.strip_suffix(".weight") {
        Some(module) => ["scale", "scale_weight", "qscale_weight", "weights_scaling_factor"]
            .map(|name| format!("{module}.{name}"))
            .to_vec(),
        None => ["_weight_scale", "_weight_scale_inv"].map(|suffix| format!("{weight}{suffix}")).to_vec(),
    };
    beside.into_iter().chain(rest).filter(|name| !is_kv_scale(name)).collect()
}

/// The names that static scales of the activations beside this weight may have.
pub(super) fn activation_scales(weight: &str) -> Vec<String> {
    const NAMES: [&str; 8] = [
        "input_scale",
        "input_scale_inv",
        "activation_scale",
        "act_scale",
        "scale_input",
        "output_scale",
        "qscale_act",
        "activation_scaling_factor",
    ];
    let stem = match weight.strip_suffix(".weight") {
        Some(module) => format!("{module}."),
        None => format!("{}_", weight.strip_suffix("_weight").unwrap_or(weight)),
    };
    NAMES.iter().map(|name| format!("{stem}{name}")).filter(|name| !is_kv_scale(name)).collect()
}

/// Whether the tensor scales the KV cache, that of cross attention too, or the query or probabilities beside it. The factor is
/// the same for all of them, so names that leave open which one is meant belong here too.
pub(super) fn is_kv_scale(name: &str) -> bool {
    matches!(
        classify(name),
        NameClass::Scale(_)
            | NameClass::CrossAttention(_)
            | NameClass::Refused(Refusal::CrossedLetters | Refusal::Ambiguous)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_looked_for_where_each_format_has_them() {
        for (weight, scale, activation) in [
            ("model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.up_proj.weight_scale", "input_scale"),
            ("a.b.weight", "a.b.weight_scale_inv", "a.b.activation_scale"),
            ("layers.0.attention.wq.weight", "layers.0.attention.wq.qscale_weight", "wq.qscale_act"),
            ("t.qkv.weight", "t.qkv.weights_scaling_factor", "t.qkv.activation_scaling_factor"),
            ("m.experts.w13_weight", "m.experts.w13_weight_scale", "m.experts.w13_input_scale"),
            ("m.experts.gate_up_proj", "m.experts.gate_up_proj_scale_inv", "gate_up_proj_activation_scale"),
            ("m.experts.down_proj", "m.experts.down_proj_scale", "m.experts.down_proj_input_scale"),
        ] {
            assert!(weight_scales(weight).iter().any(|name| name == scale), "{weight} {scale}");
            assert!(activation_scales(weight).iter().any(|name| name.ends_with(activation)), "{weight}");
        }
    }

    #[test]
    fn a_kv_scale_is_no_weight_scale() {
        let names = activation_scales("model.layers.0.self_attn.k_proj.weight");
        assert!(names.iter().all(|name| !name.ends_with("output_scale")), "{names:?}");
        assert!(
            weight_scales("model.layers.0.self_attn.q.weight").iter().all(|name| !name.ends_with("q.scale"))
        );
        assert!(is_kv_scale("model.layers.0.self_attn.k_proj.v_scale"));
        assert!(is_kv_scale("model.layers.0.self_attn.qkv_proj.output_scale"));
        assert!(!is_kv_scale("model.layers.0.self_attn.k_proj.weight_scale"));
    }
}
