//! FP8 weights as evidence about the range that a checkpoint was quantized to.

use gaudi_kv::Generation;
use gaudi_kv::scales::Options;
use safetensors::Dtype;

use crate::inspect::builder::Checkpoint;
use crate::inspect::report::{Report, adjusted, plain_gaudi2};

const K: &str = "model.layers.0.self_attn.k_scale";
const WEIGHT: &str = "model.layers.0.self_attn.q_proj.weight";

fn verify(model: &Checkpoint) -> Report {
    model.inspect(&Options { verify_weights: true, ..Options::new(Generation::Gaudi2) })
}

/// A model with FP8 weights of these codes, and a flavor.
fn model(codes: &[u8], flavor: Option<&str>) -> Checkpoint {
    let model = Checkpoint::gqa(1).scale(K, 0.05).raw(WEIGHT, Dtype::F8_E4M3, &[codes.len()], codes);
    match flavor {
        Some(flavor) => model.quant_key("fp8_dtype_flavor", flavor),
        None => model,
    }
}

#[test]
fn a_flavor_of_240_with_larger_codes_is_a_contradiction() {
    for code in [0x78, 0x7E, 0xF8, 0xFE] {
        let report = verify(&model(&[0x00, 0x77, code, 0x08], Some("float8_e4m3fnuz")));
        assert_eq!(report.errors(), [("flavor-contradicts-weights", None)], "{code:#x}");
        let message = report.message("flavor-contradicts-weights");
        assert!(message.contains(WEIGHT) && message.contains("model.safetensors"), "{message}");
        // The decision stays what the flavor says; the error is for people.
        report.assert_scale(0, "k", "loaded", 0.05, plain_gaudi2(0.05));
    }
}

#[test]
fn a_flavor_of_240_without_larger_codes_is_fine() {
    verify(&model(&[0x00, 0x77, 0xF7, 0x80], Some("float8_e4m3fnuz"))).assert_clean();
}

/// A converter may have changed the weights and left the KV scales: the weights never decide.
#[test]
fn no_flavor_and_no_larger_code_is_a_hint_and_no_decision() {
    let report = verify(&model(&[0x00, 0x77, 0xF7], None));
    assert_eq!((report.warnings(), report.errors()), (vec![("flavor-missing", None)], vec![]));
    assert_eq!(report.0["scale_adjustment"]["fp8_max_quant"], 448);
    report.assert_scale(0, "k", "loaded", 0.05, adjusted(0.05));
}

#[test]
fn larger_codes_without_a_flavor_are_what_448_looks_like() {
    verify(&model(&[0x00, 0x7E], None)).assert_clean();
    verify(&model(&[0x00, 0x7E], Some("float8_e4m3fn"))).assert_clean();
    // A range of 448 need not be used up.
    verify(&model(&[0x00, 0x10], Some("float8_e4m3fn"))).assert_clean();
}

#[test]
fn nan_codes_are_errors_that_name_the_tensor() {
    for code in [0x7F, 0xFF] {
        let report = verify(&model(&[0x00, code], Some("float8_e4m3fn")));
        assert_eq!(report.errors(), [("weights-nan", None)]);
        assert!(report.message("weights-nan").contains(WEIGHT));
    }
}

#[test]
fn a_model_without_fp8_weights_says_nothing_about_the_range() {
    let report = verify(&Checkpoint::gqa(1).scale(K, 0.05));
    report.assert_clean();
    assert_eq!(report.0["weights"]["tensors"], 0);
}

#[test]
fn weights_are_not_read_unless_asked() {
    let report = model(&[0x7E, 0x7F], Some("float8_e4m3fnuz")).gaudi2();
    report.assert_clean();
    assert!(report.0.get("weights").is_none());
}

/// A tensor of several pieces, with the one code in question at any place of it.
#[test]
fn one_code_in_a_large_tensor_is_found() {
    for at in [0, (8 << 20) - 1, 8 << 20, (8 << 20) + (256 << 10) + 3] {
        let mut codes = vec![0x30; (8 << 20) + (300 << 10)];
        codes[at] = 0xF9;
        let report = verify(&model(&codes, Some("float8_e4m3fnuz")));
        assert_eq!(report.errors(), [("flavor-contradicts-weights", None)], "at {at}");
        assert_eq!(report.0["weights"]["codes_above_0x77"], 1);
        assert_eq!(report.0["weights"]["bytes"], codes.len());
    }
}

/// Bytes of other types are no FP8 codes.
#[test]
fn other_types_are_not_scanned() {
    let model = model(&[0x00], Some("float8_e4m3fnuz"))
        .raw("model.layers.0.mlp.up_proj.weight", Dtype::I8, &[2], &[0x7E, 0x7F])
        .raw("model.layers.0.mlp.down_proj.weight", Dtype::F8_E5M2, &[2], &[0x78, 0x7B]);
    verify(&model).assert_clean();
}

/// The weights are scanned for a bf16 cache too.
#[test]
fn the_cache_type_does_not_hide_bad_weights() {
    let options = Options {
        verify_weights: true,
        kv_cache_dtype: gaudi_kv::scales::CacheDtypeRequest::Bf16,
        ..Options::new(Generation::Gaudi2)
    };
    let report = model(&[0x7E], Some("float8_e4m3fnuz")).inspect(&options);
    assert_eq!(report.errors(), [("flavor-contradicts-weights", None)]);
}
