//! Query and probability scales, present and missing. I-33, S-08.

use gaudi_kv::Generation;
use gaudi_kv::scales::{Options, QMissing};
use safetensors::Dtype;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::adjusted;

const K: &str = "model.layers.0.self_attn.k_scale";

fn models() -> [Checkpoint; 2] {
    [Checkpoint::gqa(1).scale(K, 0.05), Checkpoint::mla(1).scale(K, 0.05)]
}

// I-33, S-08
#[test]
fn a_missing_query_scale_is_dynamic_and_no_fault() {
    for model in models() {
        let report = model.gaudi2();
        report.assert_clean();
        let q = report.scale(0, "q");
        assert_eq!((q.origin.as_str(), q.tensor), ("dynamic", None));
        assert_eq!((q.checkpoint, q.quant, q.dequant), (vec![], vec![], vec![]));
    }
}

// S-08
#[test]
fn a_missing_query_scale_can_be_one_as_in_vllm() {
    let options = Options { q_missing: QMissing::One, ..Options::new(Generation::Gaudi2) };
    for model in models() {
        let report = model.inspect(&options);
        report.assert_clean();
        report.assert_defaulted(0, "q");
    }
    // A query scale that is there is taken all the same.
    let report =
        Checkpoint::gqa(1).scale(K, 0.05).scale("model.layers.0.self_attn.q_scale", 0.125).inspect(&options);
    report.assert_scale(0, "q", "loaded", 0.125, adjusted(0.125));
}

#[test]
fn a_missing_probability_scale_is_one_and_no_fault() {
    for model in models() {
        let report = model.gaudi2();
        report.assert_clean();
        report.assert_defaulted(0, "prob");
    }
}

#[test]
fn query_and_probability_scales_are_adjusted_like_others() {
    for model in models() {
        let report = model
            .scale("model.layers.0.self_attn.q_scale", 0.125)
            .scale("model.layers.0.self_attn.prob_output_scale", 0.002)
            .gaudi2();
        report.assert_clean();
        report.assert_scale(0, "q", "loaded", 0.125, adjusted(0.125));
        report.assert_scale(0, "prob", "loaded", 0.002, adjusted(0.002));
    }
}

#[test]
fn a_zero_query_scale_is_missing() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).scale("model.layers.0.self_attn.q_scale", 0.0).gaudi2();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-zero", Some(0))], vec![]));
    assert_eq!(report.scale(0, "q").origin, "dynamic");
}

#[test]
fn bad_query_and_probability_scales_are_errors() {
    for role in ["q", "prob"] {
        let name = format!("model.layers.0.self_attn.{role}_scale");
        for (bad, code) in [(f32::NAN, "scale-not-finite"), (-1.0, "scale-negative"), (1e-45, "scale-range")]
        {
            let report = Checkpoint::gqa(1).scale(K, 0.05).scale(&name, bad).gaudi2();
            assert_eq!(report.errors(), [(code, Some(0))], "{role} {bad}");
            assert!(report.message(code).contains(&name));
            assert!(report.of_layer(0, role).is_null());
            report.assert_scale(0, "k", "loaded", 0.05, adjusted(0.05));
        }
    }
}

/// A key scale is never lent to the query (llm-compressor#1294 assumed so).
#[test]
fn the_query_does_not_take_the_keys_scale() {
    let report = Checkpoint::gqa(1).scale("model.layers.0.self_attn.kv_scale", 0.05).gaudi2();
    assert_eq!(report.scale(0, "q").origin, "dynamic");
}

/// Probabilities of all heads are quantized together, so the largest of a per-head scale serves.
#[test]
fn per_head_probability_scales_are_reduced_with_a_warning() {
    let report = Checkpoint::gqa(1)
        .scale("model.layers.0.self_attn.kv_scale", 0.05)
        .floats("model.layers.0.self_attn.prob_scale", Dtype::F32, &[4], &[0.001, 0.004, 0.002, 0.003])
        .gaudi3();
    assert_eq!(report.warnings(), [("prob-per-head-reduced", Some(0))]);
    assert_eq!(report.of_layer(0, "prob")["checkpoint"].as_f64().map(|x| x as f32), Some(0.004));
}
