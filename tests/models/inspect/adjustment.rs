//! The adjustment table, with and without `VLLM_SCALE_ADJUSTMENT`; the reference's exact multipliers. S-02.

use gaudi_kv::Generation::{self, Gaudi2, Gaudi3};
use gaudi_kv::scales::{CacheDtypeRequest, Options, parse_scale_adjustment};

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::Report;

const K: &str = "model.layers.0.self_attn.k_scale";
const V: &str = "model.layers.0.self_attn.v_scale";
const FN: Option<&str> = Some("float8_e4m3fn");
const FNUZ: Option<&str> = Some("float8_e4m3fnuz");

fn decide(device: Generation, flavor: Option<&str>, wish: Option<bool>) -> Report {
    let mut model = Checkpoint::gqa(1).scale(K, 0.0546875).scale(V, 0.0546875);
    if let Some(flavor) = flavor {
        model = model.quant_key("fp8_dtype_flavor", flavor);
    }
    model.inspect(&Options { scale_adjustment: wish, ..Options::new(device) })
}

/// enabled, quant max, deploy max, source
#[track_caller]
fn assert_decision(report: &Report, enabled: bool, quant: u32, deploy: u32, source: &str) {
    let decision = &report.0["scale_adjustment"];
    assert_eq!(decision["enabled"], enabled, "{decision}");
    assert_eq!(decision["fp8_max_quant"], quant, "{decision}");
    assert_eq!(decision["fp8_max_deploy"], deploy, "{decision}");
    assert_eq!(decision["source"], source, "{decision}");
    assert!(decision["reason"].as_str().unwrap().len() > 20, "{decision}");
}

const ADJUSTED: (f32, f32) = (9.795_918_46, 0.102_083_333);
const PLAIN: (f32, f32) = (18.285_715_1, 0.054_687_496_3);

#[test]
fn unset_means_automatic() {
    let cases = [
        (Gaudi2, FNUZ, false, 240, 240, "flavor", PLAIN),
        (Gaudi2, FN, true, 448, 240, "flavor", ADJUSTED),
        (Gaudi2, None, true, 448, 240, "default", ADJUSTED),
        (Gaudi3, FN, false, 448, 448, "flavor", PLAIN),
        (Gaudi3, None, false, 448, 448, "default", PLAIN),
        (Gaudi3, FNUZ, false, 240, 448, "flavor", PLAIN),
    ];
    for (device, flavor, enabled, quant, deploy, source, expected) in cases {
        let report = decide(device, flavor, None);
        report.assert_clean();
        assert_decision(&report, enabled, quant, deploy, source);
        report.assert_scale(0, "k", "loaded", 0.0546875, expected);
        report.assert_scale(0, "v", "loaded", 0.0546875, expected);
    }
}

#[test]
fn true_turns_on_only_what_is_due() {
    for flavor in [FN, None] {
        let report = decide(Gaudi2, flavor, Some(true));
        report.assert_clean();
        assert_decision(&report, true, 448, 240, "environment");
        report.assert_scale(0, "k", "loaded", 0.0546875, ADJUSTED);
        let report = decide(Gaudi3, flavor, Some(true));
        report.assert_clean();
        assert_eq!(report.0["scale_adjustment"]["enabled"], false);
        report.assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
    }
}

#[test]
fn true_cannot_override_a_flavor_of_240() {
    let report = decide(Gaudi2, FNUZ, Some(true));
    assert_eq!((report.warnings(), report.errors()), (vec![("adjustment-refused", None)], vec![]));
    assert_decision(&report, false, 240, 240, "flavor");
    report.assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
    let report = decide(Gaudi3, FNUZ, Some(true));
    assert_eq!(report.0["scale_adjustment"]["enabled"], false);
    report.assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
}

#[test]
fn false_turns_off_everywhere_and_says_what_clips() {
    for flavor in [FN, None] {
        let report = decide(Gaudi2, flavor, Some(false));
        assert_eq!((report.warnings(), report.errors()), (vec![("adjustment-disabled", None)], vec![]));
        // What the checkpoint has is still said.
        assert_decision(&report, false, 448, 240, "environment");
        let message = report.message("adjustment-disabled");
        assert!(message.contains("240") && message.contains("448"), "{message}");
        report.assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
    }
}

/// S-02: vllm-gaudi's code goes from 240 to 448 here, and gives 0.0292969; its own table says 448 to 448.
#[test]
fn false_on_gaudi3_changes_nothing() {
    for (flavor, quant) in [(FN, 448), (None, 448), (FNUZ, 240)] {
        let report = decide(Gaudi3, flavor, Some(false));
        report.assert_clean();
        assert_decision(&report, false, quant, 448, "environment");
        report.assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
    }
    let report = decide(Gaudi2, FNUZ, Some(false));
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
}

#[test]
fn words_for_true_are_those_of_vllm_gaudi() {
    for word in ["true", "True", "TRUE", "tRuE", "t", "T", "1", "yes", "YES", "y", "Y", "on", "On"] {
        assert!(parse_scale_adjustment(word), "{word:?}");
    }
    for word in
        ["", "false", "0", "no", "off", "2", "11", "true ", " true", "ja", "enabled", "ture", "\u{1d54b}"]
    {
        assert!(!parse_scale_adjustment(word), "{word:?}");
    }
}

/// Checkpoint scale; quant and dequant on Gaudi2 adjusted, on Gaudi2 as it is, on Gaudi3: the reference's table.
const TABLE: [(f32, [(f32, f32); 3]); 10] = [
    (1.0, [(0.535_714_269, 1.866_666_67), (1.0, 1.0), (1.0, 1.0)]),
    (0.0546875, [ADJUSTED, PLAIN, PLAIN]),
    (
        0.003,
        [(178.571_426, 0.005_600_000_27), (333.333_313, 0.003_000_000_26), (333.333_344, 0.002_999_999_79)],
    ),
    (0.02, [(26.785_715_1, 0.037_333_332), (50.000_003_8, 0.019_999_997_7), (50.0, 0.019_999_999_6)]),
    (0.05, [(10.714_285_9, 0.093_333_333_7), (20.0, 0.050_000_000_7), (20.0, 0.050_000_000_7)]),
    (0.08, [(6.696_428_78, 0.149_333_328), (12.500_001, 0.079_999_990_8), (12.5, 0.079_999_998_2)]),
    (0.25, [(2.142_857_07, 0.466_666_669), (4.0, 0.25), (4.0, 0.25)]),
    (0.5, [(1.071_428_54, 0.933_333_337), (2.0, 0.5), (2.0, 0.5)]),
    (2.0, [(0.267_857_134, 3.733_333_35), (0.5, 2.0), (0.5, 2.0)]),
    (3.7, [(0.144_787_654, 6.906_666_28), (0.270_270_258, 3.700_000_05), (0.270_270_288, 3.699_999_81)]),
];

#[test]
fn multipliers_are_the_references_to_the_bit() {
    let mut model = Checkpoint::gqa(TABLE.len());
    for (layer, (s, _)) in TABLE.iter().enumerate() {
        model = model.scale(&format!("model.layers.{layer}.self_attn.kv_scale"), *s);
    }
    let reports = [
        model.gaudi2(),
        model.clone().quant_key("fp8_dtype_flavor", "float8_e4m3fnuz").gaudi2(),
        model.gaudi3(),
    ];
    for (layer, (s, columns)) in TABLE.iter().enumerate() {
        for (report, expected) in reports.iter().zip(columns) {
            report.assert_scale(layer, "k", "loaded", *s, *expected);
            report.assert_scale(layer, "v", "duplicated", *s, *expected);
        }
    }
}

/// I-38: the largest value of a calibrated range stays inside Gaudi2's: 448 * s is 240 * dequant.
#[test]
fn the_largest_value_fits_after_adjustment_and_only_then() {
    let reach = |report: &Report| 240.0 * report.scale(0, "k").dequant[0];
    assert!((reach(&decide(Gaudi2, None, None)) - 24.5).abs() < 1e-5);
    assert!((reach(&decide(Gaudi2, None, Some(false))) - 13.125).abs() < 1e-5);
}

/// I-40: the decision belongs to one model, not to the process.
#[test]
fn one_model_does_not_decide_for_the_next() {
    decide(Gaudi2, FNUZ, None).assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
    decide(Gaudi2, None, None).assert_scale(0, "k", "loaded", 0.0546875, ADJUSTED);
    decide(Gaudi2, FNUZ, None).assert_scale(0, "k", "loaded", 0.0546875, PLAIN);
}

/// S-04: a default is 1.0 whether or not a scheme is declared.
#[test]
fn defaults_are_not_adjusted_whatever_the_method() {
    let fp8 = Options { kv_cache_dtype: CacheDtypeRequest::Fp8, ..Options::new(Gaudi2) };
    for model in [Checkpoint::gqa(1), Checkpoint::gqa(1).no_quant()] {
        let report = model.inspect(&fp8);
        report.assert_defaulted(0, "k");
        report.assert_defaulted(0, "v");
        assert_eq!(report.warnings(), [("scale-missing", Some(0))]);
    }
}

/// Nothing is quantized in a bf16 cache, so there is nothing to warn of.
#[test]
fn a_bf16_cache_has_no_warning_about_adjustment() {
    for requested in [false, true] {
        let options = Options {
            scale_adjustment: Some(requested),
            kv_cache_dtype: CacheDtypeRequest::Bf16,
            ..Options::new(Gaudi2)
        };
        let model = Checkpoint::gqa(1).scale("model.layers.0.self_attn.kv_scale", 0.05);
        assert_eq!(model.inspect(&options).warnings(), []);
        assert_eq!(model.quant_key("fp8_dtype_flavor", "float8_e4m3fnuz").inspect(&options).warnings(), []);
    }
}
