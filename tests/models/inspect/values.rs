//! What a scale may be: its numbers, types and shapes. I-16 to I-20.

use safetensors::Dtype;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, adjusted, on_gaudi3};
use gaudi_kv::Generation;
use gaudi_kv::scales::Options;

const K: &str = "model.layers.0.self_attn.k_scale";
const V: &str = "model.layers.0.self_attn.v_scale";

fn k_is(value: f32) -> Report {
    Checkpoint::gqa(1).scale(K, value).scale(V, 0.08).gaudi2()
}

/// `value` is an error of this code that names tensor and layer, and v keeps its own scale.
#[track_caller]
fn assert_error(report: &Report, code: &str) {
    assert_eq!(report.errors(), [(code, Some(0))], "{}", report.0);
    let message = report.message(code);
    assert!(message.contains(K) && message.contains("layer 0"), "{message}");
    assert!(report.of_layer(0, "k").is_null());
    report.assert_scale(0, "v", "loaded", 0.08, adjusted(0.08));
}

// I-16
#[test]
fn v_alone_serves_k_too() {
    let report = Checkpoint::gqa(1).scale(V, 0.08).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "v", "loaded", 0.08, (12.5, 0.08));
    report.assert_scale(0, "k", "duplicated", 0.08, (12.5, 0.08));
    assert_eq!(report.scale(0, "k").tensor.as_deref(), Some(V));
    assert_eq!(report.notes(), [("scale-duplicated", Some(0))]);
}

// I-16
#[test]
fn k_and_v_are_kept_apart() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).scale(V, 0.08).gaudi2();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, (10.714_285_9, 0.093_333_333_7));
    report.assert_scale(0, "v", "loaded", 0.08, (6.696_428_78, 0.149_333_328));
    assert!(report.notes().is_empty());
}

/// S-14: v is never k.
#[test]
fn v_sixteen_times_k_stays_so() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).scale(V, 0.8).gaudi3();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
    report.assert_scale(0, "v", "loaded", 0.8, on_gaudi3(0.8));
}

/// I-25: layers where the value is the key have no v scale of their own.
#[test]
fn k_eq_v_layers_duplicate_and_others_do_not() {
    let report = Checkpoint::gqa(2)
        .scale(K, 0.05)
        .scale(V, 0.08)
        .scale("model.layers.1.self_attn.k_scale", 0.02)
        .gaudi3();
    report.assert_clean();
    report.assert_scale(0, "v", "loaded", 0.08, (12.5, 0.08));
    report.assert_scale(1, "v", "duplicated", 0.02, (50.0, 0.02));
    assert_eq!(report.notes(), [("scale-duplicated", Some(1))]);
}

// I-17
#[test]
fn zero_was_never_calibrated_and_counts_as_missing() {
    for zero in [0.0, -0.0] {
        let report = Checkpoint::gqa(1).scale(K, zero).scale(V, zero).gaudi2();
        assert!(report.errors().is_empty());
        assert_eq!(
            report.warnings(),
            [("scale-zero", Some(0)), ("scale-zero", Some(0)), ("scale-missing", Some(0))]
        );
        report.assert_defaulted(0, "k");
        report.assert_defaulted(0, "v");
    }
}

// I-17
#[test]
fn a_zero_k_is_duplicated_from_v() {
    let report = Checkpoint::gqa(1).scale(K, 0.0).scale(V, 0.05).gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-zero", Some(0))], vec![]));
    assert!(report.message("scale-zero").contains(K));
    report.assert_scale(0, "k", "duplicated", 0.05, (20.0, 0.05));
    report.assert_scale(0, "v", "loaded", 0.05, (20.0, 0.05));
}

/// One tensor for both is loaded once, whatever an uncalibrated tensor beside it says.
#[test]
fn a_zero_v_beside_kv_scale_is_duplicated() {
    let report = Checkpoint::gqa(1).scale("model.layers.0.self_attn.kv_scale", 0.05).scale(V, 0.0).gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-zero", Some(0))], vec![]));
    report.assert_scale(0, "k", "loaded", 0.05, (20.0, 0.05));
    report.assert_scale(0, "v", "duplicated", 0.05, (20.0, 0.05));
}

// I-17
#[test]
fn zero_is_an_error_under_strict() {
    let options = Options { strict: true, ..Options::new(Generation::Gaudi2) };
    let report = Checkpoint::gqa(1).scale(K, 0.0).scale(V, 0.08).inspect(&options);
    assert_error(&report, "scale-zero");
}

// I-18
#[test]
fn scales_that_are_not_finite_are_errors() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_error(&k_is(bad), "scale-not-finite");
    }
}

// I-18
#[test]
fn negative_scales_are_errors() {
    for bad in [-0.05, -1.0, -1e-45, f32::MIN] {
        assert_error(&k_is(bad), "scale-negative");
    }
}

// I-18
#[test]
fn multipliers_that_leave_float32_are_errors() {
    // 448 * 3e38 overflows, 240 / (448 * 1e-45) too.
    for bad in [3e38, f32::MAX, 1e-45, 1e-40] {
        assert_error(&k_is(bad), "scale-range");
    }
}

// I-18
#[test]
fn float64_beyond_float32_is_an_error() {
    let model = |s: f64| Checkpoint::gqa(1).floats(K, Dtype::F64, &[1], &[s]).scale(V, 0.08).gaudi2();
    for bad in [1e39, -1e39, f64::MAX] {
        assert_error(&model(bad), "scale-not-finite");
    }
}

/// A float64 that is too small for float32 is not zero: it is no scale that was never calibrated.
#[test]
fn float64_below_float32_is_an_error() {
    let model = |s: f64| Checkpoint::gqa(1).floats(K, Dtype::F64, &[1], &[s]).scale(V, 0.08).gaudi2();
    assert_error(&model(1e-50), "scale-range");
    assert_error(&model(-1e-50), "scale-negative");
}

// I-19
#[test]
fn uninitialized_memory_is_warned_of() {
    let bits =
        |bits: u16| Checkpoint::gqa(1).raw(K, Dtype::BF16, &[1], &bits.to_le_bytes()).scale(V, 0.08).gaudi2();
    // 2^119 * (1 + 18/128): times 448 it is just inside float32.
    let large = bits(0x7B12);
    assert_eq!((large.warnings(), large.errors()), (vec![("scale-implausible", Some(0))], vec![]));
    let s = f32::from_bits(0x7B12_0000);
    large.assert_scale(0, "k", "loaded", s, adjusted(s));
    // 2^-133: 240 / (448 * 2^-133) is not.
    let small = bits(0x0001);
    assert_eq!(small.warnings(), [("scale-implausible", Some(0))]);
    assert_error(&small, "scale-range");
}

// I-20
#[test]
fn an_explicit_one_is_adjusted_and_a_missing_scale_is_not() {
    let report = Checkpoint::gqa(2).scale(K, 1.0).scale(V, 1.0).gaudi2();
    report.assert_scale(0, "k", "loaded", 1.0, (0.535_714_269, 1.866_666_67));
    report.assert_scale(0, "v", "loaded", 1.0, (0.535_714_269, 1.866_666_67));
    report.assert_defaulted(1, "k");
    report.assert_defaulted(1, "v");
    assert_eq!(report.warnings(), [("scale-missing", Some(1))]);
}

/// I-53: one layer of 24 is missing, and is named.
#[test]
fn the_one_layer_without_scales_is_named() {
    let mut model = Checkpoint::gqa(24);
    for layer in (0..24).filter(|layer| *layer != 17) {
        model = model.scale(&format!("model.layers.{layer}.self_attn.kv_scale"), 0.05);
    }
    assert_eq!(model.gaudi2().warnings(), [("scale-missing", Some(17))]);
}

/// I-61: AutoRound's smallest scale is legal.
#[test]
fn the_smallest_scale_of_autoround_is_legal() {
    let s = 1.0_f32 / (448.0 * 512.0);
    let report = Checkpoint::gqa(1).scale(K, s).gaudi3();
    report.assert_clean();
    let k = report.scale(0, "k");
    assert_eq!(k.checkpoint, [s]);
    assert!((k.quant[0] - 229_376.0).abs() <= 0.016 && k.dequant[0].is_finite(), "{k:?}");
}

/// I-32 (vllm-gaudi#978): a bf16 scale gives float32 multipliers.
#[test]
fn a_bf16_scale_is_widened_before_anything_is_derived() {
    let report = Checkpoint::gqa(1).floats(K, Dtype::BF16, &[1], &[0.0371]).gaudi2();
    report.assert_scale(0, "k", "loaded", 0.037_109_375, adjusted(0.037_109_375));
}

/// I-42: powers of two in E8M0 are read through float32.
#[test]
fn e8m0_scales_are_powers_of_two() {
    let report = Checkpoint::gqa(1).raw(K, Dtype::F8_E8M0, &[1], &[123]).gaudi3();
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0625, (16.0, 0.0625));
    let nan = Checkpoint::gqa(1).raw(K, Dtype::F8_E8M0, &[1], &[0xFF]).scale(V, 0.08).gaudi2();
    assert_error(&nan, "scale-not-finite");
}

/// I-59: the raw value is kept, so loading twice changes nothing.
#[test]
fn inspecting_twice_gives_the_same() {
    let model = Checkpoint::gqa(1).scale(K, 0.0546875).scale(V, 0.02);
    let folder = model.write();
    let options = Options::new(Generation::Gaudi2);
    let first = crate::inspect::builder::inspect_folder(folder.path(), &options);
    assert_eq!(first, crate::inspect::builder::inspect_folder(folder.path(), &options));
    first.assert_scale(0, "k", "loaded", 0.0546875, (9.795_918_46, 0.102_083_333));
}
