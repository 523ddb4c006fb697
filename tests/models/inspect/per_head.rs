//! Scales for each KV head, sliced and replicated over tensor-parallel ranks. I-44, I-45.

use gaudi_kv::Generation;
use gaudi_kv::checkpoint::{ModelFolder, TensorParallel};
use gaudi_kv::scales::{InspectError, Options, inspect};
use safetensors::Dtype;
use serde_json::json;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, adjusted, on_gaudi3};

const K: &str = "model.layers.0.self_attn.k_scale";
const V: &str = "model.layers.0.self_attn.v_scale";
const Q: &str = "model.layers.0.self_attn.q_scale";
const HEADS: [f64; 4] = [0.01, 0.02, 0.04, 0.08];

fn options(size: usize, rank: usize) -> Options {
    Options { tensor_parallel: Some(TensorParallel { size, rank }), ..Options::new(Generation::Gaudi3) }
}

/// 4 KV heads and 8 query heads, as float32 of shape `(H,1,1)`.
fn model() -> Checkpoint {
    Checkpoint::gqa(1)
        .floats(K, Dtype::F32, &[4, 1, 1], &HEADS)
        .floats(V, Dtype::F32, &[4, 1, 1], &[0.1, 0.2, 0.3, 0.4])
        .floats(Q, Dtype::F32, &[8, 1, 1], &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.7])
}

#[test]
fn three_shapes_of_heads_are_the_same() {
    for shape in [&[4][..], &[4, 1], &[4, 1, 1]] {
        let report = Checkpoint::gqa(1).floats(K, Dtype::F32, shape, &HEADS).gaudi2();
        report.assert_clean();
        report.assert_heads(0, "k", "loaded", &[0.01, 0.02, 0.04, 0.08], adjusted);
        report.assert_heads(0, "v", "duplicated", &[0.01, 0.02, 0.04, 0.08], adjusted);
    }
}

/// I-44: bf16 heads are widened one by one.
#[test]
fn bf16_heads_are_widened() {
    let report = Checkpoint::gqa(1).floats(K, Dtype::BF16, &[4, 1, 1], &HEADS).gaudi3();
    // The nearest bf16 of 0.01, 0.02, 0.04, 0.08.
    let s = [0.010_009_766, 0.020_019_531, 0.040_039_063, 0.080_078_125];
    report.assert_heads(0, "k", "loaded", &s, on_gaudi3);
}

#[test]
fn without_ranks_all_heads_are_shown() {
    let report = model().gaudi3();
    report.assert_clean();
    report.assert_heads(0, "k", "loaded", &[0.01, 0.02, 0.04, 0.08], on_gaudi3);
    report.assert_heads(0, "q", "loaded", &[0.2, 0.4, 0.6, 0.8], on_gaudi3);
}

// I-44
#[test]
fn a_rank_gets_its_slice_and_its_query_groups() {
    let report = model().inspect(&options(2, 1));
    report.assert_clean();
    report.assert_heads(0, "k", "loaded", &[0.04, 0.08], on_gaudi3);
    report.assert_heads(0, "v", "loaded", &[0.3, 0.4], on_gaudi3);
    report.assert_heads(0, "q", "loaded", &[0.6, 0.8], on_gaudi3);
    let report = model().inspect(&options(2, 0));
    report.assert_heads(0, "k", "loaded", &[0.01, 0.02], on_gaudi3);
    report.assert_heads(0, "q", "loaded", &[0.2, 0.4], on_gaudi3);
    assert_eq!(report.0["tensor_parallel"], serde_json::json!({"size": 2, "rank": 0}));
}

// I-45
#[test]
fn more_ranks_than_heads_replicate() {
    for (rank, k, q) in [(0, 0.01, 0.2), (1, 0.01, 0.2), (2, 0.02, 0.4), (5, 0.04, 0.6), (7, 0.08, 0.8)] {
        let report = model().inspect(&options(8, rank));
        report.assert_clean();
        report.assert_heads(0, "k", "loaded", &[k], on_gaudi3);
        report.assert_heads(0, "q", "loaded", &[q], on_gaudi3);
    }
}

/// A query scale that is given for each KV head is not grouped again.
#[test]
fn query_scales_for_each_kv_head_stay() {
    let report = model().floats(Q, Dtype::F32, &[4], &[0.1, 0.2, 0.3, 0.4]).gaudi3();
    report.assert_clean();
    report.assert_heads(0, "q", "loaded", &[0.1, 0.2, 0.3, 0.4], on_gaudi3);
}

/// One scale is every rank's.
#[test]
fn a_per_tensor_scale_is_not_sliced() {
    let report = Checkpoint::gqa(1).scale(K, 0.05).inspect(&options(8, 3));
    report.assert_clean();
    report.assert_scale(0, "k", "loaded", 0.05, on_gaudi3(0.05));
}

#[test]
fn heads_and_one_scale_for_all_agree_where_they_are_equal() {
    let same = |other: f32| {
        Checkpoint::gqa(1)
            .floats(K, Dtype::F32, &[4], &[0.05; 4])
            .scale("model.layers.0.self_attn.k_proj.k_scale", other)
            .gaudi3()
    };
    same(0.05).assert_clean();
    assert_eq!(same(0.06).errors(), [("scale-conflict", Some(0))]);
}

#[test]
fn one_bad_head_makes_the_scale_unusable() {
    for (bad, code) in [(f64::NAN, "scale-not-finite"), (-0.1, "scale-negative"), (1e-45, "scale-range")] {
        let report =
            Checkpoint::gqa(1).floats(K, Dtype::F32, &[4], &[0.01, 0.02, bad, 0.08]).scale(V, 0.08).gaudi3();
        assert_eq!(report.errors(), [(code, Some(0))]);
        assert!(report.of_layer(0, "k").is_null());
    }
}

#[test]
fn heads_that_are_all_zero_are_missing() {
    let report = Checkpoint::gqa(1).floats(K, Dtype::F32, &[4], &[0.0; 4]).scale(V, 0.05).gaudi3();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-zero", Some(0))], vec![]));
    report.assert_scale(0, "k", "duplicated", 0.05, on_gaudi3(0.05));
}

/// A head that no token reached runs with 1.0, not adjusted; the others with their own.
#[test]
fn one_head_of_zero_gets_the_default() {
    let report = Checkpoint::gqa(1).floats(K, Dtype::F32, &[4], &[0.01, 0.0, 0.04, 0.08]).gaudi2();
    assert_eq!((report.warnings(), report.errors()), (vec![("scale-zero", Some(0))], vec![]));
    let k = report.scale(0, "k");
    assert_eq!((k.quant[1], k.dequant[1]), (1.0, 1.0));
    assert_eq!((k.quant[2], k.dequant[2]), adjusted(0.04));
}

fn refusal(size: usize, rank: usize) -> InspectError {
    let folder = model().write();
    let folder = ModelFolder::open(folder.path()).unwrap();
    inspect(&folder, &options(size, rank), &|_| {}).unwrap_err()
}

#[test]
fn ranks_that_do_not_exist_are_refused() {
    assert!(matches!(refusal(2, 2), InspectError::Rank { size: 2, rank: 2 }));
    assert!(matches!(refusal(0, 0), InspectError::Rank { .. }));
    assert!(matches!(refusal(3, 0), InspectError::TensorParallel { size: 3, layer: 0, num_kv_heads: 4 }));
}

/// One KV head and many query heads: the query's are one group.
#[test]
fn multi_query_attention_has_one_group() {
    let report = Checkpoint::gqa(1)
        .set("num_key_value_heads", 1)
        .scale(K, 0.05)
        .floats(Q, Dtype::F32, &[8, 1, 1], &[0.1, 0.2, 0.3, 0.9, 0.5, 0.6, 0.8, 0.7])
        .gaudi3();
    report.assert_clean();
    assert_eq!(report.scale(0, "q").checkpoint, [0.9]);
}

/// Reports of the same model differ between ranks only in what is sliced.
#[test]
fn ranks_agree_on_everything_else() {
    let strip = |mut report: Report| {
        for key in ["layers", "tensor_parallel", "model"] {
            report.0.as_object_mut().unwrap().remove(key);
        }
        report
    };
    assert_eq!(strip(model().inspect(&options(4, 0))), strip(model().inspect(&options(4, 3))));
}

/// Models may have another number of KV heads in each layer.
#[test]
fn every_layer_has_its_own_number_of_heads() {
    let report = Checkpoint::gqa(2)
        .set("num_key_value_heads", serde_json::json!([2, 4]))
        .floats(K, Dtype::F32, &[2, 1, 1], &[0.01, 0.02])
        .floats("model.layers.1.self_attn.k_scale", Dtype::F32, &[4, 1, 1], &HEADS)
        .gaudi3();
    report.assert_clean();
    report.assert_heads(0, "k", "loaded", &[0.01, 0.02], on_gaudi3);
    report.assert_heads(1, "k", "loaded", &[0.01, 0.02, 0.04, 0.08], on_gaudi3);
}

/// Gemma 4's full layers have another number of KV heads than its windows.
#[test]
fn full_layers_may_have_a_number_of_their_own() {
    let report = Checkpoint::gqa(2)
        .set("num_global_key_value_heads", 2)
        .set("layer_types", serde_json::json!(["sliding_attention", "full_attention"]))
        .floats(K, Dtype::F32, &[4], &HEADS)
        .floats("model.layers.1.self_attn.k_scale", Dtype::F32, &[2], &[0.01, 0.02])
        .gaudi3();
    report.assert_clean();
    report.assert_heads(0, "k", "loaded", &[0.01, 0.02, 0.04, 0.08], on_gaudi3);
    report.assert_heads(1, "k", "loaded", &[0.01, 0.02], on_gaudi3);
}

/// Query heads that do not divide into the KV heads have no groups.
#[test]
fn query_heads_without_groups_are_refused() {
    let folder = model().set("num_attention_heads", 6).floats(Q, Dtype::F32, &[6], &[0.1; 6]).write();
    let folder = ModelFolder::open(folder.path()).unwrap();
    let error = inspect(&folder, &Options::new(Generation::Gaudi3), &|_| {}).unwrap_err();
    assert!(error.to_string().contains(Q), "{error}");
}

/// A pruned model says for each layer how many query heads share a KV head.
#[test]
fn pruned_layers_have_kv_heads_of_their_own() {
    let block = |group: usize| json!({"attention": {"n_heads_in_group": group, "no_op": false}});
    let report = Checkpoint::gqa(2)
        .set("block_configs", vec![block(2), block(4)])
        .floats("model.layers.0.self_attn.k_scale", Dtype::F32, &[4, 1, 1], &[0.01, 0.02, 0.03, 0.04])
        .floats("model.layers.1.self_attn.k_scale", Dtype::F32, &[2], &[0.05, 0.06])
        .gaudi3();
    assert_eq!(report.errors(), []);
    assert_eq!(report.of_layer(1, "k")["checkpoint"].as_array().map(Vec::len), Some(2));
}
