//! MLA: one latent, one scale. I-16, I-27 to I-29, I-32.

use gaudi_kv::Generation;
use gaudi_kv::scales::{MlaScale, Options};
use safetensors::Dtype;
use serde_json::json;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, adjusted, on_gaudi3};

const K: &str = "model.layers.0.self_attn.k_scale";
const V: &str = "model.layers.0.self_attn.v_scale";

fn max_kv() -> Options {
    Options { mla_scale: MlaScale::MaxKv, ..Options::new(Generation::Gaudi3) }
}

// I-27
#[test]
fn k_scale_becomes_the_latents() {
    let model = Checkpoint::mla(1).scale(K, 0.0547).scale(V, 0.0312);
    let (gaudi2, gaudi3) = (model.gaudi2(), model.gaudi3());
    gaudi2.assert_clean();
    gaudi2.assert_scale(0, "k", "loaded", 0.0547, adjusted(0.0547));
    gaudi3.assert_scale(0, "k", "loaded", 0.0547, on_gaudi3(0.0547));
    assert_eq!(gaudi2.0["model"]["attention"], "mla");
    assert_eq!(gaudi2.of_layer(0, "attention"), "mla");
    assert!(gaudi2.of_layer(0, "v").is_null());
    assert_eq!(gaudi2.notes(), [("mla-v-scale-ignored", Some(0))]);
}

// I-28
#[test]
fn a_larger_v_does_not_win() {
    let report = Checkpoint::mla(1).scale(K, 0.02).scale(V, 0.5).gaudi3();
    report.assert_scale(0, "k", "loaded", 0.02, (50.0, 0.02));
}

// I-28
#[test]
fn a_missing_v_costs_nothing() {
    let report = Checkpoint::mla(1).scale(K, 0.0547).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0547, on_gaudi3(0.0547));
    assert!(report.notes().is_empty());
}

/// Absent, wrong or NaN: v changes nothing but the note.
#[test]
fn v_of_any_kind_changes_nothing() {
    let base = Checkpoint::mla(1).scale(K, 0.0547);
    let without = |mut report: Report| {
        report.0["notes"] = json!([]);
        report.0["model"]["path"] = json!("");
        report
    };
    let expected = without(base.gaudi2());
    let nan = f32::NAN.to_le_bytes();
    let v = |dtype, shape: &[usize], bytes: &[u8]| base.clone().raw(V, dtype, shape, bytes);
    for model in [
        base.clone().scale(V, 0.5),
        base.clone().scale(V, 0.0),
        base.clone().scale(V, -3.0),
        base.clone().scale(V, f32::INFINITY),
        v(Dtype::F32, &[1], &nan),
        v(Dtype::F32, &[2], &[nan, nan].concat()),
        v(Dtype::I8, &[3, 1], &[1, 2, 3]),
        v(Dtype::F32, &[0], &[]),
        base.clone().scale("model.layers.0.self_attn.v_proj.v_scale", 9.0),
        base.clone().scale(V, 0.5).scale("model.layers.0.self_attn.v_proj.v_scale", 9.0),
        base.clone().raw("model.layers.0.self_attn.v_zero_point", Dtype::I8, &[1], &[3]),
    ] {
        assert_eq!(without(model.gaudi2()), expected);
    }
    let noted = base.scale(V, f32::NAN).gaudi2();
    assert_eq!(noted.notes(), [("mla-v-scale-ignored", Some(0))]);
    assert!(noted.message("mla-v-scale-ignored").contains(V));
}

// I-16
#[test]
fn v_alone_leaves_the_latent_uncalibrated() {
    let report = Checkpoint::mla(1).scale(V, 0.08).gaudi2();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-missing", Some(0))], vec![]));
    report.assert_defaulted(0, "k");
    assert!(report.of_layer(0, "v").is_null());
    assert!(report.unused().is_empty());
}

/// An MLA checkpoint of Quark or AutoFP8 has one scale for both.
#[test]
fn kv_scale_is_the_latents() {
    let report = Checkpoint::mla(1).scale("model.layers.0.self_attn.kv_scale", 0.05).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, (20.0, 0.05));
    assert!(report.of_layer(0, "v").is_null());
}

/// ModelOpt names projections that an MLA layer has not.
#[test]
fn modelopt_names_are_taken() {
    let report = Checkpoint::mla(1)
        .scale("model.layers.0.self_attn.k_proj.k_scale", 0.05)
        .scale("model.layers.0.self_attn.v_proj.v_scale", 0.9)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, (20.0, 0.05));
}

#[test]
fn max_kv_takes_the_larger() {
    let model = |k, v| Checkpoint::mla(1).scale(K, k).scale(V, v).inspect(&max_kv());
    let report = model(0.02, 0.5);
    report.assert_clean();
    report.assert_scale(0, "k", "duplicated", 0.5, (2.0, 0.5));
    report.assert_scale(0, "v", "loaded", 0.5, (2.0, 0.5));
    assert_eq!(report.scale(0, "k").tensor.as_deref(), Some(V));
    let report = model(0.5, 0.02);
    report.assert_scale(0, "k", "loaded", 0.5, (2.0, 0.5));
    report.assert_scale(0, "v", "duplicated", 0.5, (2.0, 0.5));
    assert!(report.notes().iter().all(|(code, _)| *code != "mla-v-scale-ignored"));
}

/// Unlike vllm-gaudi, whose missing v is 1.0 and wins.
#[test]
fn max_kv_of_one_scale_is_that_scale() {
    let report = Checkpoint::mla(1).scale(K, 0.0547).inspect(&max_kv());
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0547, on_gaudi3(0.0547));
    let report = Checkpoint::mla(1).scale(V, 0.08).inspect(&max_kv());
    report.assert_clean();
    report.assert_scale(0, "k", "duplicated", 0.08, (12.5, 0.08));
}

#[test]
fn max_kv_reads_v_and_finds_its_faults() {
    let report = Checkpoint::mla(1).scale(K, 0.05).scale(V, f32::NAN).inspect(&max_kv());
    assert_eq!(report.errors(), [("scale-not-finite", Some(0))]);
    assert!(report.message("scale-not-finite").contains(V));
    assert!(report.of_layer(0, "k").is_null());
}

#[test]
fn max_kv_of_nothing_is_one_for_both() {
    let report = Checkpoint::mla(1).inspect(&max_kv());
    assert_eq!(report.warnings(), [("scale-missing", Some(0))]);
    report.assert_defaulted(0, "k");
    report.assert_defaulted(0, "v");
}

/// max-kv is about MLA: other layers keep two scales.
#[test]
fn max_kv_leaves_other_attention_alone() {
    let report = Checkpoint::gqa(1).scale(K, 0.02).scale(V, 0.5).inspect(&max_kv());
    report.assert_scale(0, "k", "loaded", 0.02, (50.0, 0.02));
    report.assert_scale(0, "v", "loaded", 0.5, (2.0, 0.5));
}

/// The kind is decided for each layer, from the config.
#[test]
fn layers_of_both_kinds_are_decided_one_by_one() {
    let report = Checkpoint::mla(2)
        .set("layer_types", json!(["mla", "mha"]))
        .scale(K, 0.02)
        .scale(V, 0.5)
        .scale("model.layers.1.self_attn.k_scale", 0.02)
        .scale("model.layers.1.self_attn.v_scale", 0.5)
        .gaudi3();
    report.assert_clean();
    assert_eq!(report.0["model"]["attention"], "mixed");
    assert!(report.of_layer(0, "v").is_null());
    report.assert_scale(1, "v", "loaded", 0.5, (2.0, 0.5));
}

/// `kv_lora_rank` makes an MLA model, and a model that turns MLA off has keys and values.
#[test]
fn mla_is_what_the_config_says() {
    let both = |model: Checkpoint| model.scale(K, 0.02).scale(V, 0.5).gaudi3();
    assert_eq!(both(Checkpoint::mla(1)).of_layer(0, "attention"), "mla");
    assert_eq!(both(Checkpoint::mla(1).set("use_mla", false)).of_layer(0, "attention"), "mha");
    assert_eq!(both(Checkpoint::mla(1).set("kv_lora_rank", 0)).of_layer(0, "attention"), "mha");
    // A name with `mla_attn` in it decides nothing.
    let report =
        Checkpoint::gqa(1).scale("model.layers.0.self_attn.mla_attn.mla_attn.k_scale", 0.02).gaudi3();
    assert_eq!(report.of_layer(0, "attention"), "mha");
    report.assert_scale(0, "v", "duplicated", 0.02, (50.0, 0.02));
}

/// One latent has no heads: the largest serves, with a warning.
#[test]
fn heads_of_a_latent_are_reduced() {
    let heads = [0.01, 0.08, 0.02, 0.04, 0.01, 0.01, 0.01, 0.01];
    let report = Checkpoint::mla(1)
        .floats(K, Dtype::F32, &[8], &heads)
        .floats("model.layers.0.self_attn.q_scale", Dtype::F32, &[8, 1, 1], &heads)
        .gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("mla-per-head-reduced", Some(0))], vec![]));
    report.assert_scale(0, "k", "loaded", 0.08, (12.5, 0.08));
    report.assert_scale(0, "q", "loaded", 0.08, (12.5, 0.08));
}
