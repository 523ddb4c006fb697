//! Every producer's spelling of KV scales, P1 to P22: the ones that are taken.

use safetensors::Dtype;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::on_gaudi3;

const L0: &str = "model.layers.0.self_attn";

/// One MHA layer with these scales, on Gaudi3; each must be loaded from its own tensor.
#[track_caller]
fn assert_loaded(scales: &[(&str, &str, f32)]) {
    let mut model = Checkpoint::gqa(1);
    for (_, name, s) in scales {
        model = model.scale(name, *s);
    }
    let report = model.gaudi3();
    report.assert_clean();
    for (role, name, s) in scales {
        report.assert_scale(0, role, "loaded", *s, on_gaudi3(*s));
        assert_eq!(report.scale(0, role).tensor.as_deref(), Some(*name));
    }
}

/// One MHA layer with one scale for key and value.
#[track_caller]
fn assert_serves_both(name: &str, s: f32) {
    let report = Checkpoint::gqa(1).scale(name, s).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", s, on_gaudi3(s));
    report.assert_scale(0, "v", "duplicated", s, on_gaudi3(s));
    assert_eq!(report.scale(0, "v").tensor.as_deref(), Some(name));
    assert_eq!(report.notes(), [("scale-duplicated", Some(0))]);
}

/// P1: the types that an attention module may have.
#[test]
fn compressed_tensors_writes_scales_in_the_modules_type() {
    for dtype in [Dtype::BF16, Dtype::F16, Dtype::F32, Dtype::F64] {
        let mut model = Checkpoint::gqa(1);
        for (role, s) in [("k", 0.0625), ("v", 0.03125), ("q", 0.125)] {
            model = model.floats(&format!("{L0}.{role}_scale"), dtype, &[1], &[s]);
        }
        let report = model.gaudi3();
        report.assert_clean();
        for (role, s) in [("k", 0.0625), ("v", 0.03125), ("q", 0.125)] {
            report.assert_scale(0, role, "loaded", s, on_gaudi3(s));
        }
    }
}

/// P2
#[test]
fn zero_points_that_are_zero_are_passed_over() {
    let mut model =
        Checkpoint::gqa(1).scale(&format!("{L0}.k_scale"), 0.05).scale(&format!("{L0}.v_scale"), 0.08);
    for role in ["k", "v", "q"] {
        model = model.raw(&format!("{L0}.{role}_zero_point"), Dtype::I8, &[1], &[0]);
    }
    let report = model.gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    // FP8 zero points may be minus zero.
    let fp8 = Checkpoint::gqa(1).scale(&format!("{L0}.kv_scale"), 0.05).raw(
        &format!("{L0}.k_zero_point"),
        Dtype::F8_E4M3,
        &[1],
        &[0x80],
    );
    fp8.gaudi3().assert_clean();
}

/// P2
#[test]
fn a_zero_point_other_than_zero_is_an_error() {
    let model = Checkpoint::gqa(2)
        .scale("model.layers.0.self_attn.kv_scale", 0.05)
        .scale("model.layers.1.self_attn.kv_scale", 0.05)
        .raw("model.layers.1.self_attn.v_zero_point", Dtype::I8, &[1], &[3]);
    let report = model.gaudi3();
    assert_eq!(report.errors(), [("zero-point-not-zero", Some(1))]);
    assert!(report.message("zero-point-not-zero").contains("model.layers.1.self_attn.v_zero_point"));
}

/// P3
#[test]
fn projection_output_scales_are_the_caches() {
    assert_loaded(&[
        ("k", "model.layers.0.self_attn.k_proj.output_scale", 0.05),
        ("v", "model.layers.0.self_attn.v_proj.output_scale", 0.08),
    ]);
}

/// P4, P9
#[test]
fn one_kv_scale_serves_key_and_value() {
    assert_serves_both("model.layers.0.self_attn.kv_scale", 0.05);
}

/// P5: native fp8, scalars of rank 0
#[test]
fn native_fp8_scalars_are_loaded() {
    let report = Checkpoint::gqa(1)
        .floats(&format!("{L0}.k_scale"), Dtype::F32, &[], &[0.05])
        .floats(&format!("{L0}.v_scale"), Dtype::F32, &[], &[0.08])
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.08, on_gaudi3(0.08));
}

/// P6, with the biases of an affine NVFP4 export beside them
#[test]
fn modelopt_scales_hang_below_the_projections() {
    let report = Checkpoint::gqa(1)
        .floats(&format!("{L0}.k_proj.k_scale"), Dtype::F32, &[], &[0.05])
        .floats(&format!("{L0}.v_proj.v_scale"), Dtype::F32, &[], &[0.08])
        .floats(&format!("{L0}.q_proj.q_scale"), Dtype::F32, &[], &[0.125])
        .floats(&format!("{L0}.k_proj.k_bias"), Dtype::F32, &[], &[0.5])
        .floats(&format!("{L0}.v_proj.v_bias"), Dtype::F32, &[], &[0.5])
        .gaudi3();
    report.assert_clean();
    for (role, s) in [("k", 0.05), ("v", 0.08), ("q", 0.125)] {
        report.assert_scale(0, role, "loaded", s, on_gaudi3(s));
    }
}

/// P7
#[test]
fn nemotron_mixers_have_scales_in_both_spellings() {
    for scales in [
        [
            ("k", "backbone.layers.0.mixer.k_proj.k_scale", 0.05),
            ("v", "backbone.layers.0.mixer.v_proj.v_scale", 0.08),
        ],
        [("k", "backbone.layers.0.mixer.k_scale", 0.05), ("v", "backbone.layers.0.mixer.v_scale", 0.08)],
    ] {
        assert_loaded(&scales);
    }
}

/// P8
#[test]
fn quark_has_four_roles() {
    assert_loaded(&[
        ("k", "model.layers.0.self_attn.k_proj.output_scale", 0.05),
        ("v", "model.layers.0.self_attn.v_proj.output_scale", 0.08),
        ("q", "model.layers.0.self_attn.q_proj.output_scale", 0.125),
        ("prob", "model.layers.0.self_attn.prob_output_scale", 0.5),
    ]);
}

/// P10
#[test]
fn autorounds_transient_q_max_is_passed_over() {
    let report = Checkpoint::gqa(1)
        .scale(&format!("{L0}.k_scale"), 0.05)
        .scale(&format!("{L0}.v_scale"), 0.08)
        .scale(&format!("{L0}.q_scale"), 0.125)
        .scale(&format!("{L0}.q_max"), f32::NEG_INFINITY)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "q", "loaded", 0.125, on_gaudi3(0.125));
    assert_eq!(report.notes(), [("other-role-ignored", None)]);
}

/// P11
#[test]
fn inc_exports_one_scale_of_the_implementation() {
    assert_serves_both("model.layers.0.self_attn.attn.impl.kv_scale", 0.05);
}

/// P11: the modules that INC patches hold the scale and its reciprocal.
#[test]
fn inc_modules_hold_a_scale_and_its_reciprocal() {
    let k_cache = format!("{L0}.attn.impl.k_cache");
    let v_cache = format!("{L0}.attn.impl.v_cache");
    let report = Checkpoint::gqa(1)
        .scale(&format!("{k_cache}.dequant_output.scale"), 0.25)
        .scale(&format!("{k_cache}.quant_input.scale_inv"), 4.0)
        .scale(&format!("{v_cache}.quant_input.scale_inv"), 2.0)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.25, on_gaudi3(0.25));
    assert_eq!(report.scale(0, "k").tensor.unwrap(), format!("{k_cache}.dequant_output.scale"));
    report.assert_scale(0, "v", "loaded", 0.5, on_gaudi3(0.5));

    let latent = "model.layers.0.self_attn.mla_attn.mla_attn.impl.latent_cache_k.dequant_output.scale";
    let report = Checkpoint::mla(1).scale(latent, 0.25).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.25, on_gaudi3(0.25));
}

/// P13, P14
#[test]
fn scales_that_a_loader_renamed_are_loaded() {
    for fused in ["qkv_proj", "qkqkv_proj"] {
        let (k, v) = (format!("{L0}.{fused}.k_scale"), format!("{L0}.{fused}.v_scale"));
        assert_loaded(&[("k", &k, 0.05), ("v", &v, 0.08)]);
    }
}

/// P15
#[test]
fn names_of_an_engine_at_run_time_are_loaded() {
    assert_loaded(&[
        ("k", "model.layers.0.self_attn.attn.k_scale", 0.05),
        ("v", "model.layers.0.self_attn.attn.v_scale", 0.08),
        ("q", "model.layers.0.self_attn.attn.q_scale", 0.125),
        ("prob", "model.layers.0.self_attn.attn.prob_scale", 0.5),
    ]);
}

/// P16
#[test]
fn hunyuan_names_its_caches() {
    assert_loaded(&[
        ("q", "model.layers.0.self_attn.q.scale", 0.125),
        ("k", "model.layers.0.self_attn.k_cache.scale", 0.05),
        ("v", "model.layers.0.self_attn.v_cache.scale", 0.08),
    ]);
}

/// P17
#[test]
fn mistral_names_fake_quantizers() {
    assert_loaded(&[
        ("q", "layers.0.attention.q_fake_quantizer.qscale_act", 0.125),
        ("k", "layers.0.attention.k_fake_quantizer.qscale_act", 0.05),
        ("v", "layers.0.attention.v_fake_quantizer.qscale_act", 0.08),
    ]);
    assert_serves_both("layers.0.attention.kv_fake_quantizer.qscale_act", 0.05);
}

/// P18
#[test]
fn gptj_has_its_attention_under_attn() {
    assert_serves_both("transformer.h.0.attn.kv_scale", 0.023);
}

/// P19
#[test]
fn tensorrt_llm_has_scaling_factors() {
    assert_serves_both("transformer.layers.0.attention.kv_cache_scaling_factor", 0.05);
    assert_loaded(&[
        ("k", "transformer.layers.0.attention.k_cache_scaling_factor", 0.05),
        ("v", "transformer.layers.0.attention.v_cache_scaling_factor", 0.08),
    ]);
}

/// P19: the reciprocal alone is turned round, and agrees with the factor beside it.
#[test]
fn tensorrt_llm_has_reciprocal_scaling_factors() {
    let rcp = "transformer.layers.0.attention.kv_cache_rcp_scaling_factor";
    let report = Checkpoint::gqa(1).scale(rcp, 16.0).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0625, on_gaudi3(0.0625));
    let factor = "transformer.layers.0.attention.kv_cache_scaling_factor";
    let report = Checkpoint::gqa(1).scale(rcp, 20.0).scale(factor, 0.05).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    assert_eq!(report.scale(0, "k").tensor.as_deref(), Some(factor));
}

/// P19: what cannot be turned round is refused, and zero is as uncalibrated as in any other scale.
#[test]
fn reciprocals_that_are_not_finite_are_errors() {
    let rcp = "transformer.layers.0.attention.kv_cache_rcp_scaling_factor";
    for bad in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        let report = Checkpoint::gqa(1).scale(rcp, bad).gaudi3();
        assert_eq!(report.errors(), [("scale-not-finite", Some(0))], "{bad}");
        assert!(report.message("scale-not-finite").contains(rcp));
    }
    let report = Checkpoint::gqa(1).scale(rcp, 0.0).gaudi3();
    assert!(report.errors().is_empty());
    assert_eq!(report.warnings(), [("scale-zero", Some(0)), ("scale-missing", Some(0))]);
}
