//! The default method on the base models' activations, against what public tools made of the same models.

use serde_json::Value;

use crate::calibrate::support::{DEVICES, GQA, MLA, Workshop, activations, check, data};

/// The decode's error of each layer.
fn errors(checked: &Value) -> Vec<f64> {
    let layers = checked["layers"].as_array().unwrap().iter();
    layers.map(|layer| layer["decode"]["scales"]["rel_l2_error"].as_f64().unwrap()).collect()
}

/// Over all layers the error is smaller than that of every fixture, whatever its strategy; in a single layer, where
/// rounding decides, it may be larger by 5%.
#[test]
fn scales_are_at_least_as_good_as_those_of_public_tools() {
    let cases = [
        (
            GQA,
            "tensor",
            &[
                "llmc-gqa-kv",
                "llmc-gqa-head",
                "llmc-gqa-w8kv",
                "modelopt-gqa",
                "autoround-gqa",
                "autoround-gqa-gaudi2",
            ][..],
        ),
        (GQA, "attn-head", &["llmc-gqa-head", "llmc-gqa-kv", "autoround-gqa", "autoround-gqa-gaudi2"]),
        (MLA, "tensor", &["llmc-mla-kv", "autoround-mla", "autoround-mla-gaudi2"]),
    ];
    for (base, strategy, fixtures) in cases {
        for device in DEVICES {
            let workshop = Workshop::new();
            workshop.calibrate_fixture(base, device, &["--strategy", strategy]);
            let checked = check(&workshop.out(), &activations(base), device);
            assert!(checked["verdict"].as_str().unwrap().starts_with("fine: "), "{}", checked["verdict"]);
            let own = errors(&checked);
            for fixture in fixtures {
                let theirs = errors(&check(&data(fixture), &activations(base), device));
                let name = format!("{base} {strategy} {device} {fixture}: {own:?} {theirs:?}");
                assert!(own.iter().sum::<f64>() < theirs.iter().sum(), "{name}");
                assert!(own.iter().zip(&theirs).all(|(own, theirs)| *own < theirs * 1.05), "{name}");
            }
        }
    }
}
