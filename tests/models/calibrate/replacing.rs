//! Models that have KV scales already.

use serde_json::json;

use crate::calibrate::support::{
    GQA, Workshop, activations, check, data, inspect_strictly, json_file, names, read,
};
use crate::names::QUANTIZED;

fn is_kv_scale(name: &str) -> bool {
    let suffixes = [".q_scale", ".k_scale", ".v_scale"];
    suffixes.iter().any(|suffix| name.ends_with(suffix))
}

#[test]
fn old_scales_are_refused_or_left_behind() {
    for model in QUANTIZED {
        let workshop = Workshop::new();
        let refused = workshop.calibrate(&data(model), &activations(model), "gaudi2", &[]);
        refused.assert_refused(2, &["KV scales", "self_attn", "--replace"]);
        assert!(workshop.entries().is_empty());
        workshop.calibrate_fixture(model, "gaudi2", &["--replace"]);
        let (old, new) = ["model.safetensors"; 2]
            .map(|name| name.to_owned())
            .into_iter()
            .zip([data(model), workshop.out()])
            .map(|(name, folder)| read(&folder.join(name)))
            .collect::<Vec<_>>()
            .try_into()
            .map(|[old, new]: [_; 2]| (old, new))
            .unwrap();
        let kept: crate::calibrate::support::Tensors =
            old.into_iter().filter(|(name, _)| !is_kv_scale(name)).collect();
        assert!(new == kept, "{model}");
        let read = inspect_strictly(&workshop.out(), "gaudi2");
        for layer in read["layers"].as_array().unwrap() {
            assert_eq!((&layer["k"]["origin"], &layer["q"]["origin"]), (&json!("loaded"), &json!("dynamic")));
        }
        let checked = check(&workshop.out(), &activations(model), "gaudi2");
        assert!(
            checked["verdict"].as_str().unwrap().starts_with("fine: "),
            "{model}: {}",
            checked["verdict"]
        );
    }
}

/// Loaders ask `__metadata__` for the framework, and read tensors where their types allow it.
#[test]
fn a_rewritten_file_keeps_its_metadata_and_alignment() {
    let workshop = Workshop::new();
    workshop.calibrate_fixture("autoround-gqa", "gaudi2", &["--replace"]);
    let bytes = std::fs::read(workshop.out().join("model.safetensors")).unwrap();
    let (length, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(metadata.metadata().as_ref().unwrap()["format"], "pt");
    assert_eq!(length % 8, 0);
    // Whoever may read the model may read this.
    let mode = |folder: &std::path::Path, name: &str| folder.join(name).metadata().unwrap().permissions();
    let out = workshop.out();
    assert_eq!(mode(&out, "model.safetensors"), mode(&data("autoround-gqa"), "model.safetensors"));
    assert_eq!(mode(&out, "model-kv-scales.safetensors"), mode(&out, "config.json"));
    for (name, info) in metadata.tensors() {
        assert_eq!(info.data_offsets.0 % (info.dtype.bitsize() / 8).max(1), 0, "{name}");
    }
}

#[test]
fn calibrating_again_changes_nothing() {
    let (first, second) = (Workshop::new(), Workshop::new());
    first.calibrate_fixture(GQA, "gaudi2", &[]);
    let refused = second.calibrate(&first.out(), &activations(GQA), "gaudi2", &[]);
    refused.assert_refused(2, &["the model has 6 KV scales and zero points already", "--replace"]);
    second.calibrate(&first.out(), &activations(GQA), "gaudi2", &["--replace"]).json();
    assert_eq!(names(&first.out()), names(&second.out()));
    for name in names(&first.out()) {
        let of = |workshop: &Workshop| std::fs::read(workshop.out().join(&name)).unwrap();
        assert!(of(&first) == of(&second), "{name}");
    }
}

#[test]
fn scale_files_are_old_scales_too() {
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    let table = json!({"kv_cache": {"dtype": "float8_e4m3fn", "scaling_factor": {"0": {"0": 0.1, "1": 0.1, "2": 0.1}}}});
    std::fs::write(model.join("kv_cache_scales.json"), table.to_string()).unwrap();
    let refused = workshop.calibrate(&model, &activations(GQA), "gaudi2", &[]);
    refused.assert_refused(2, &["kv_cache_scales.json", "--replace"]);
    workshop.calibrate(&model, &activations(GQA), "gaudi2", &["--replace"]).json();
    assert!(!workshop.out().join("kv_cache_scales.json").exists());
    inspect_strictly(&workshop.out(), "gaudi2");
}

#[test]
fn another_kv_cache_is_not_replaced_unasked() {
    let int8 = |config: &mut serde_json::Value| {
        config["quantization_config"] = json!({"quant_method": "compressed-tensors", "config_groups": {},
            "kv_cache_scheme": {"num_bits": 8, "type": "int", "strategy": "tensor", "symmetric": true}});
    };
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &int8, &|_| ());
    let refused = workshop.calibrate(&model, &activations(GQA), "gaudi2", &[]);
    refused.assert_refused(2, &["config.json: quantization_config", "int8", "--replace"]);
    workshop.calibrate(&model, &activations(GQA), "gaudi2", &["--replace"]).json();
    assert_eq!(inspect_strictly(&workshop.out(), "gaudi2")["kv_cache_dtype"], "fp8");
    // A second declaration that stays would contradict the new one: nothing is written.
    let workshop = Workshop::new();
    let both = |config: &mut serde_json::Value| {
        int8(config);
        config["quantization_config"]["kv_cache_quant_algo"] = json!("NVFP4");
    };
    let model = workshop.model(GQA, &both, &|_| ());
    let refused = workshop.calibrate(&model, &activations(GQA), "gaudi2", &["--replace"]);
    refused.assert_refused(2, &["would not be read as it is meant", "kv_cache_quant_algo"]);
    assert_eq!(workshop.entries(), ["model-tiny-gqa"]);
}

/// Every config that describes the quantization is changed, so that none contradicts another.
#[test]
fn all_configs_agree() {
    for (model, file, key) in [
        ("modelopt-gqa", "hf_quant_config.json", &["quantization", "kv_cache_quant_algo"][..]),
        ("autoround-gqa-gaudi2", "quantization_config.json", &["fp8_dtype_flavor"]),
    ] {
        let workshop = Workshop::new();
        workshop.calibrate_fixture(model, "gaudi3", &["--replace"]);
        let (mut old, mut new) =
            (&json_file(&data(model).join(file)), &json_file(&workshop.out().join(file)));
        for key in key {
            (old, new) = (&old[key], &new[key]);
        }
        assert_eq!(old, new, "{model}");
        inspect_strictly(&workshop.out(), "gaudi3");
    }
    // A config may stand in a file of its own alone.
    for (model, file) in
        [("modelopt-gqa", "hf_quant_config.json"), ("autoround-gqa-gaudi2", "quantization_config.json")]
    {
        let workshop = Workshop::new();
        let bare = |config: &mut serde_json::Value| {
            config.as_object_mut().unwrap().remove("quantization_config").unwrap();
        };
        let copy = workshop.model(model, &bare, &|_| ());
        std::fs::copy(data(model).join(file), copy.join(file)).unwrap();
        workshop.calibrate(&copy, &activations(model), "gaudi2", &["--replace"]).json();
        let (old, new) = [&copy, &workshop.out()].map(|folder| json_file(&folder.join("config.json"))).into();
        assert_eq!(old, new, "{model}");
        let source = inspect_strictly(&workshop.out(), "gaudi2")["quantization"]["source"].clone();
        assert_eq!(source, file, "{model}");
    }
    let workshop = Workshop::new();
    let refused = workshop.calibrate(
        &data("modelopt-gqa"),
        &activations(GQA),
        "gaudi3",
        &["--replace", "--strategy", "attn-head"],
    );
    refused.assert_refused(2, &["quant_method is modelopt", "compressed-tensors"]);
}
