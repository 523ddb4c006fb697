//! One flavor serves a whole model: FP8 weights decide, else the device.

use serde_json::Value;

use crate::calibrate::support::{Workshop, activations, data, inspect_strictly, json_file};

fn declared(workshop: &Workshop) -> Value {
    json_file(&workshop.out().join("config.json"))["quantization_config"]["fp8_dtype_flavor"].clone()
}

#[test]
fn fp8_weights_keep_their_range_on_every_device() {
    for (model, range, flavor) in [
        ("autoround-gqa", 448, Value::Null),
        ("llmc-gqa-w8kv", 448, Value::Null),
        ("autoround-gqa-gaudi2", 240, Value::from("float8_e4m3fnuz")),
        ("autoround-mla-gaudi2", 240, Value::from("float8_e4m3fnuz")),
    ] {
        for device in ["gaudi2", "gaudi3"] {
            let workshop = Workshop::new();
            let options = ["--replace", "--method", "amax"];
            let found = workshop.calibrate_fixture(model, device, &options);
            assert_eq!(found["fp8_max_quant"], range, "{model} {device}");
            assert_eq!(found["fp8_dtype_flavor"], flavor, "{model} {device}");
            assert_eq!(declared(&workshop), flavor, "{model} {device}");
            let scale = &found["layers"][0]["scales"][0];
            let amax = scale["amax"].as_f64().unwrap() as f32;
            assert_eq!(scale["scale"].as_f64().unwrap() as f32, amax / range as f32, "{model} {device}");
            // Whatever the range, what the device stores reaches just to the amax.
            assert_eq!(scale["choices"]["amax"]["saturated"], 0, "{model} {device}");
            let read = inspect_strictly(&workshop.out(), device);
            assert_eq!(read["scale_adjustment"]["enabled"], range == 448 && device == "gaudi2");
        }
    }
}

#[test]
fn a_label_that_weights_contradict_is_an_error_of_the_model() {
    let workshop = Workshop::new();
    let model = data("autoround-mla-mislabelled");
    let run = workshop.calibrate(&model, &activations("mla"), "gaudi2", &["--replace"]);
    run.assert_refused(1, &["float8_e4m3fnuz", "codes lie above 0x77", "self_attn"]);
    assert!(workshop.entries().is_empty());
}

/// Without FP8 weights an old label says nothing that stays.
#[test]
fn without_fp8_weights_the_device_decides() {
    for (device, range) in [("gaudi2", 240), ("gaudi3", 448)] {
        for label in [Value::Null, "float8_e4m3fn".into(), "float8_e4m3fnuz".into(), "nonsense".into()] {
            let workshop = Workshop::new();
            let labelled =
                |config: &mut Value| config["quantization_config"]["fp8_dtype_flavor"] = label.clone();
            let model = workshop.model("llmc-gqa-kv", &labelled, &|_| ());
            let found = workshop.calibrate(&model, &activations("gqa"), device, &["--replace"]).json();
            assert_eq!(found["fp8_max_quant"], range);
            assert_eq!(declared(&workshop), found["fp8_dtype_flavor"]);
            inspect_strictly(&workshop.out(), device);
        }
    }
}
