//! Names that are no KV scale of a text decoder: refused with a word, or passed over.

use gaudi_kv::checkpoint::{NameClass, Refusal, classify};
use safetensors::Dtype;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, on_gaudi3};

/// One layer with good scales and one more tensor.
fn with(name: &str) -> Report {
    Checkpoint::gqa(1)
        .scale("model.layers.0.self_attn.k_scale", 0.05)
        .scale("model.layers.0.self_attn.v_scale", 0.08)
        .scale(name, 0.7)
        .gaudi3()
}

#[track_caller]
fn assert_own_scales_kept(report: &Report) {
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
    assert_eq!(report.scale(0, "q").origin, "dynamic");
    assert!(report.errors().is_empty());
}

/// `name` is in `unused` with a warning, and changes nothing.
#[track_caller]
fn assert_unused(name: &str) {
    let report = with(name);
    assert_own_scales_kept(&report);
    assert_eq!(report.unused(), [name]);
    assert_eq!(report.warnings().len(), 1, "{name}");
    assert_eq!(report.warnings()[0].0, "scale-unused");
    assert!(report.message("scale-unused").contains(name));
}

/// `name` changes nothing at all.
#[track_caller]
fn assert_no_scale(name: &str) {
    let report = with(name);
    report.assert_clean();
    assert_own_scales_kept(&report);
    assert!(report.notes().is_empty(), "{name}");
}

/// `name` changes nothing, and a note names it.
#[track_caller]
fn assert_noted(name: &str, code: &str) {
    let report = with(name);
    report.assert_clean();
    assert_own_scales_kept(&report);
    assert_eq!(report.notes(), [(code, None)], "{name}");
    assert!(report.message(code).contains(name));
}

/// The letters of projection and scale contradict each other: no layer takes it.
#[test]
fn crossed_letters_are_unused() {
    for name in ["k_proj.v_scale", "v_proj.k_scale", "q_proj.k_scale", "k_proj.q_scale"] {
        assert_unused(&format!("model.layers.0.self_attn.{name}"));
    }
}

/// One output scale of a fused projection is query's, key's and value's at once (Phi-3).
#[test]
fn output_scales_of_fused_projections_are_ambiguous_and_unused() {
    assert_unused("model.layers.0.self_attn.qkv_proj.output_scale");
}

/// P23
#[test]
fn int8_scales_of_vllm_ascend_are_unused() {
    assert_unused("model.layers.0.self_attn.k_proj.kv_cache_scale");
    assert_unused("model.layers.0.self_attn.v_proj.kv_cache_scale");
    assert_no_scale("model.layers.0.self_attn.k_proj.kv_cache_offset");
}

/// P24
#[test]
fn int8_scales_of_flash_attention_are_unused() {
    for letter in ["q", "k", "v"] {
        assert_unused(&format!("model.layers.0.self_attn.fa_{letter}.scale"));
    }
    assert_no_scale("model.layers.0.self_attn.fa_k.offset");
}

/// P25
#[test]
fn nvfp4_global_scales_are_unused() {
    assert_unused("model.layers.0.self_attn.k_global_scale");
    assert_unused("model.layers.0.self_attn.v_global_scale");
}

/// P26
#[test]
fn dynamic_scales_of_a_running_cache_are_passed_over_with_a_note() {
    assert_noted("model.layers.0.self_attn.k_scales", "other-role-ignored");
    assert_noted("model.layers.0.self_attn.v_scales", "other-role-ignored");
    assert_no_scale("model.layers.0.mlp.k_scales");
}

/// What comes out of these is not what the cache holds: query, key and value in one, or a latent before its norm. Quark writes
/// such scales.
#[test]
fn output_scales_of_other_projections_are_unused() {
    for projection in ["qkv", "qkvz", "c_attn", "wkv", "wqkv", "kv_a_proj_with_mqa", "kv_b_proj"] {
        assert_unused(&format!("model.layers.0.self_attn.{projection}.output_scale"));
    }
    for name in ["self_attn.q_a_proj", "self_attn.dense", "linear_attn.in_proj_qkvz", "mlp.c_proj"] {
        assert_no_scale(&format!("model.layers.0.{name}.output_scale"));
    }
}

#[test]
fn what_modelopt_measured_is_no_scale_yet() {
    assert_unused("model.layers.0.self_attn.k_bmm_quantizer._amax");
    assert_no_scale("model.layers.0.self_attn.k_proj.weight_quantizer._amax");
}

/// The caches of a decoder's cross attention are those of the encoder's keys and values.
#[test]
fn scales_of_cross_attention_are_passed_over_with_a_note() {
    for name in [
        "model.decoder.layers.0.encoder_attn.k_scale",
        "language_model.model.layers.0.cross_attn.k_proj.k_scale",
        "decoder.block.0.layer.1.EncDecAttention.v_scale",
        "transf_decoder._decoder.layers.0.second_sub_layer.k_scale",
    ] {
        assert_noted(name, "cross-attention-ignored");
    }
    assert_unused("frobnicator.layers.0.cross_attn.k_scale");
    assert_unused("model.layers.0.cross_attn.k_proj.v_scale");
}

/// Scales of weights and activations have similar suffixes (vllm#41982: Mistral's `activation_scale`).
#[test]
fn scales_of_weights_and_activations_are_never_taken() {
    for name in [
        "self_attn.k_proj.weight_scale",
        "self_attn.k_proj.input_scale",
        "self_attn.v_proj.weight_scale_inv",
        "self_attn.k_proj.weight_scale_2",
        "self_attn.qkv_proj.input_scale",
        "self_attn.kv_b_proj.weight_scale",
        "self_attn.kv_a_proj_with_mqa.input_scale",
        "self_attn.o_proj.input_scale",
        "self_attn.o_proj.output_scale",
        "self_attn.k_proj.activation_scale",
        "self_attn.k_norm.weight",
        "mlp.down_proj.output_scale",
        "mlp.gate.e_score_correction_bias",
    ] {
        assert_no_scale(&format!("model.layers.0.{name}"));
    }
}

/// Attention without a text KV cache: vision and audio towers, indexers.
#[test]
fn scales_outside_the_text_decoder_are_passed_over_with_a_note() {
    for name in [
        "vision_tower.vision_model.encoder.layers.0.self_attn.k_scale",
        "model.vision_tower.encoder.layers.0.self_attn.k_proj.k_scale",
        "model.visual.blocks.0.attn.k_scale",
        "vision_model.encoder.layers.0.self_attn.v_scale",
        "audio_tower.layers.0.self_attn.k_scale",
        "thinker.visual.blocks.0.attn.v_scale",
        "talker.model.layers.0.self_attn.k_scale",
        "model.tower.layers.0.self_attn.k_scale",
        "sound_encoder.encoder.layers.0.self_attn.k_scale",
        "vision_tower.encoder.blocks.0.attn.qkv.output_scale",
        "img_context_model.blocks.0.attn.k_scale",
        "my_new_vision_thing.h.0.attn.v_scale",
        "encoder.block.0.layer.0.SelfAttention.k_scale",
        "model.dinov2.blocks.0.attn.k_scale",
        "Qformer.layers.0.attention.k_scale",
        "model.moonvit.blocks.0.attn.v_scale",
        "model.layers.0.self_attn.indexer.k_cache.scale",
        "model.layers.0.self_attn.indexer.k_scale",
    ] {
        assert_noted(name, "other-role-ignored");
    }
}

/// A scale in a place that nobody knows is reported, never dropped in silence.
#[test]
fn scales_in_unknown_places_are_unused() {
    for name in [
        "frobnicator.layers.0.self_attn.k_scale",
        "model.branch.layers.0.self_attn.k_scale",
        "vision_language_model.layers.0.self_attn.k_scale",
        "model.layers.0.cross_attention_block.k_scale",
        "model.layers.0.self_attn.strange.k_scale",
        "model.layers.00.self_attn.k_scale",
        "model.layers.x.self_attn.k_scale",
        "model.layers.4294967296.self_attn.k_scale",
        "self_attn.kv_scale",
    ] {
        assert_eq!(classify(name), NameClass::Refused(Refusal::UnknownPlace), "{name}");
        assert_unused(name);
    }
}

/// Scales of layers that the model has not.
#[test]
fn scales_beyond_the_last_layer_are_unused() {
    assert_unused("model.layers.1.self_attn.k_scale");
    assert_unused("model.layers.4294967295.self_attn.k_scale");
    assert_unused("mtp.layers.0.self_attn.k_scale");
}

/// `unused` is sorted, and holds every such tensor.
#[test]
fn every_unused_tensor_is_listed_once() {
    let report = Checkpoint::gqa(1)
        .scale("model.layers.0.self_attn.kv_scale", 0.05)
        .scale("model.layers.3.self_attn.v_scale", 0.1)
        .scale("model.layers.0.self_attn.k_proj.v_scale", 0.1)
        .scale("frobnicator.layers.0.self_attn.k_scale", 0.1)
        .gaudi3();
    assert_eq!(
        report.unused(),
        [
            "frobnicator.layers.0.self_attn.k_scale",
            "model.layers.0.self_attn.k_proj.v_scale",
            "model.layers.3.self_attn.v_scale",
        ]
    );
    assert_eq!(report.warnings().iter().filter(|(code, _)| *code == "scale-unused").count(), 3);
}

/// I-41: an int8 weight beside an FP8 scale is left alone, and its scale is adjusted as any other.
#[test]
fn an_int8_weight_changes_nothing_about_kv_scales() {
    let report = Checkpoint::gqa(1)
        .raw("model.layers.0.self_attn.k_proj.weight", Dtype::I8, &[2, 2], &[1, 2, 3, 4])
        .scale("model.layers.0.self_attn.k_scale", 0.0546875)
        .gaudi2();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0546875, (9.795_918_46, 0.102_083_333));
}

/// A scale without any module before it belongs to nobody, and is said to.
#[test]
fn names_without_a_module_are_unused() {
    let report = Checkpoint::gqa(1)
        .scale("model.layers.0.self_attn.kv_scale", 0.05)
        .scale("k_scale", 0.05)
        .scale("kv_scale", 0.05)
        .gaudi2();
    assert_eq!(report.unused(), ["k_scale", "kv_scale"]);
    assert_eq!(report.warnings(), [("scale-unused", None), ("scale-unused", None)]);
}
