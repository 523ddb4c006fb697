//! The grammar of names: what it makes of a name it makes of its own output.

use gaudi_kv::checkpoint::{LayerIndex, NameClass, Role, ScaleName, classify};

/// Every spelling that is taken, with its role; MLA or not is the model's business.
const NAMES: &[(&str, Role)] = &[
    ("model.layers.3.self_attn.k_scale", Role::K),
    ("model.layers.3.self_attn.v_scale", Role::V),
    ("model.layers.3.self_attn.q_scale", Role::Q),
    ("model.layers.3.self_attn.kv_scale", Role::Kv),
    ("model.layers.3.self_attn.attn.k_scale", Role::K),
    ("model.layers.3.self_attn.attn.prob_scale", Role::Prob),
    ("model.layers.3.self_attn.mla_attn.mla_attn.k_scale", Role::K),
    ("model.layers.3.self_attn.attn_mqa.k_scale", Role::K),
    ("model.layers.3.self_attn.attn_mha.v_scale", Role::V),
    ("model.layers.3.self_attn.k_proj.k_scale", Role::K),
    ("model.layers.3.self_attn.q_proj.q_scale", Role::Q),
    ("model.layers.3.self_attn.qkv_proj.v_scale", Role::V),
    ("model.layers.3.self_attn.qkqkv_proj.k_scale", Role::K),
    ("model.layers.3.self_attn.v_proj.output_scale", Role::V),
    ("model.layers.3.self_attn.prob_output_scale", Role::Prob),
    ("model.layers.3.self_attn.q.scale", Role::Q),
    ("model.layers.3.self_attn.k_cache.scale", Role::K),
    ("model.layers.3.self_attn.attn.impl.kv_scale", Role::Kv),
    ("model.layers.3.self_attn.attn.impl.v_cache.dequant_output.scale", Role::V),
    ("model.layers.3.self_attn.mla_attn.mla_attn.impl.latent_cache_k.quant_input.scale_inv", Role::K),
    ("backbone.layers.3.mixer.k_proj.k_scale", Role::K),
    ("backbone.layers.3.mixer.q_scale", Role::Q),
    ("layers.3.attention.kv_fake_quantizer.qscale_act", Role::Kv),
    ("transformer.h.3.attn.kv_scale", Role::Kv),
    ("transformer.h.3.attn.attn.k_scale", Role::K),
    ("transformer.blocks.3.norm_attn_norm.attn.k_scale", Role::K),
    ("transformer.layers.3.attention.kv_cache_scaling_factor", Role::Kv),
    ("transformer.layers.3.attention.v_cache_scaling_factor", Role::V),
    ("transformer.layers.3.attention.kv_cache_rcp_scaling_factor", Role::Kv),
    ("model.language_model.layers.3.self_attn.k_scale", Role::K),
    ("language_model.model.layers.3.self_attn.k_proj.k_scale", Role::K),
    ("mtp.layers.3.self_attn.k_scale", Role::K),
    ("model.mtp.layers.3.self_attn.v_proj.v_scale", Role::V),
];

#[track_caller]
fn scale(name: &str) -> ScaleName {
    match classify(name) {
        NameClass::Scale(scale) => scale,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn role_and_layer_are_read_from_every_spelling() {
    for (name, role) in NAMES {
        let read = scale(name);
        let layer = if name.contains("mtp") { LayerIndex::Draft(3) } else { LayerIndex::Model(3) };
        assert_eq!((read.role, read.layer), (*role, layer), "{name}");
        assert!(name.starts_with(&read.module), "{name}: {}", read.module);
    }
}

/// I-11: `remap(remap(x)) == remap(x)`.
#[test]
fn canonical_names_stay_as_they_are() {
    for (name, _) in NAMES {
        let read = scale(name);
        let again = scale(&read.canonical());
        assert_eq!(again.canonical(), read.canonical(), "{name}");
        assert_eq!((&again.module, again.layer, again.role), (&read.module, read.layer, read.role), "{name}");
    }
}

/// S-09: a runtime name is fed back and must come out unchanged, MLA or not.
#[test]
fn runtime_names_stay_as_they_are() {
    for (name, role) in NAMES {
        for is_mla in [false, true] {
            let read = scale(name);
            let runtime = read.runtime(is_mla);
            let again = scale(&runtime);
            assert_eq!(again.runtime(is_mla), runtime, "{name}");
            assert_eq!((&again.module, again.layer), (&read.module, read.layer), "{name}");
            let role = if *role == Role::Kv { Role::K } else { *role };
            assert_eq!(again.role, role, "{name}");
        }
    }
}

/// I-11: three inputs, one target.
#[test]
fn all_mla_spellings_lead_to_one_runtime_name() {
    for name in [
        "model.layers.3.self_attn.k_scale",
        "model.layers.3.self_attn.attn.k_scale",
        "model.layers.3.self_attn.mla_attn.mla_attn.k_scale",
    ] {
        assert_eq!(scale(name).runtime(true), "model.layers.3.self_attn.mla_attn.mla_attn.k_scale");
    }
}

/// I-12: the attention module itself is called `attn`, and the runtime module is one deeper.
#[test]
fn a_parent_called_attn_gets_its_runtime_module() {
    assert_eq!(scale("transformer.h.0.attn.kv_scale").runtime(false), "transformer.h.0.attn.attn.k_scale");
    assert_eq!(scale("transformer.h.0.attn.kv_scale").canonical(), "transformer.h.0.attn.kv_scale");
}

/// I-10: the upstream rule gives `q_proj.attn.q_scale`.
#[test]
fn a_query_below_its_projection_is_not_mangled() {
    let read = scale("model.layers.0.self_attn.q_proj.q_scale");
    assert_eq!(read.runtime(false), "model.layers.0.self_attn.attn.q_scale");
}

/// I-03: a loader that renames `k_proj` to `qkv_proj` twice must not make a name that is lost.
#[test]
fn renaming_by_substring_once_or_twice_reads_the_same() {
    let mut name = "model.layers.0.self_attn.k_proj.k_scale".to_owned();
    let first = scale(&name).canonical();
    for _ in 0..2 {
        name = name.replacen("k_proj", "qkv_proj", 1).replace("qkvv_proj", "qkv_proj");
        assert_eq!(scale(&name).canonical(), first, "{name}");
    }
    assert_eq!(scale("model.layers.0.self_attn.qkqkv_proj.k_scale").canonical(), first);
}

/// Odd input is no scale and no panic.
#[test]
fn names_of_any_shape_are_classified() {
    for name in [
        "",
        ".",
        "..",
        ".k_scale",
        "k_scale.",
        "layers",
        "layers.",
        "layers.0",
        "é.k_scale",
        "\u{0}.kv_scale",
    ] {
        assert!(!matches!(classify(name), NameClass::Scale(_)), "{name:?}");
    }
    let long = format!("{}k_scale", "layers.0.".repeat(10_000));
    assert!(!matches!(classify(&long), NameClass::Scale(_)));
}
