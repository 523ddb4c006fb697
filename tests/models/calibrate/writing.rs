//! The folder that is written: the old model byte for byte, the scales, and configs that declare them.

use std::os::unix::fs::MetadataExt;

use safetensors::tensor::Dtype;
use serde_json::{Value, json};

use crate::calibrate::support::{
    DEVICES, GQA, MLA, Workshop, activations, data, inspect_strictly, json_file, names, program, read, run,
};

const SCALES: &str = "model-kv-scales.safetensors";

#[test]
fn the_model_is_carried_over_and_declares_its_scales() {
    for (model, flavors) in
        [(GQA, ["float8_e4m3fnuz", "float8_e4m3fn"]), (MLA, ["float8_e4m3fnuz", "float8_e4m3fn"])]
    {
        for (device, flavor) in DEVICES.into_iter().zip(flavors) {
            let workshop = Workshop::new();
            let found = workshop.calibrate_fixture(model, device, &[]);
            let (source, out) = (data(model), workshop.out());
            assert_eq!(workshop.entries(), ["out"]);
            let mut expected = names(&source);
            expected.extend([SCALES.to_owned(), "model.safetensors.index.json".to_owned()]);
            expected.sort();
            assert_eq!(names(&out), expected);
            for name in names(&source).into_iter().filter(|name| name != "config.json") {
                assert!(
                    std::fs::read(source.join(&name)).unwrap() == std::fs::read(out.join(&name)).unwrap(),
                    "{name}"
                );
            }
            // The config differs by the one key, and every line that it had is there.
            let (old, mut new) =
                (json_file(&source.join("config.json")), json_file(&out.join("config.json")));
            let declared = new.as_object_mut().unwrap().remove("quantization_config").unwrap();
            assert_eq!(new, old);
            let text =
                |folder: &std::path::Path| std::fs::read_to_string(folder.join("config.json")).unwrap();
            let last = text(&source).trim_end().trim_end_matches('}').trim_end().to_owned();
            assert!(text(&out).starts_with(&last));
            let scheme = json!({"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": false, "symmetric": true});
            assert_eq!(declared["kv_cache_scheme"], scheme);
            assert_eq!(declared["quant_method"], "compressed-tensors");
            assert_eq!(declared["fp8_dtype_flavor"], flavor);
            // Scales, named and shaped as llm-compressor does.
            let scales = read(&out.join(SCALES));
            let names: Vec<String> = (0..3)
                .flat_map(|l| ["k", "v"].map(|x| format!("model.layers.{l}.self_attn.{x}_scale")))
                .collect();
            assert_eq!(scales.keys().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
            assert!(scales.values().all(|(dtype, shape, _)| *dtype == Dtype::F32 && *shape == [1]));
            let index = json_file(&out.join("model.safetensors.index.json"));
            let weights = read(&source.join("model.safetensors"));
            let map = index["weight_map"].as_object().unwrap();
            assert_eq!(map.len(), weights.len() + 6);
            assert!(weights.keys().all(|name| map[name] == "model.safetensors"));
            assert!(names.iter().all(|name| map[name] == SCALES));
            let bytes: usize = weights.values().map(|(.., bytes)| bytes.len()).sum();
            assert_eq!(index["metadata"]["total_size"], bytes + 24);
            for reader in DEVICES {
                assert_read_as_made(&inspect_strictly(&out, reader), &found, device, reader);
            }
        }
    }
}

/// What inspect reads on the device and on the other one.
#[track_caller]
fn assert_read_as_made(read: &Value, found: &Value, device: &str, reader: &str) {
    let is_adjusted = device == "gaudi3" && reader == "gaudi2";
    assert_eq!(read["scale_adjustment"]["enabled"], is_adjusted, "{device} {reader}");
    assert_eq!(read["unused"], json!([]));
    for (layer, made) in read["layers"].as_array().unwrap().iter().zip(found["layers"].as_array().unwrap()) {
        assert_eq!(layer["k"]["checkpoint"], made["scales"][0]["scale"]);
        assert_eq!(layer["k"]["origin"], "loaded");
        assert_eq!(layer["q"]["origin"], "dynamic");
        match made["scales"].get(1) {
            Some(v) => assert_eq!(layer["v"]["checkpoint"], v["scale"]),
            None => assert_eq!(layer["v"], Value::Null),
        }
    }
}

/// A reader that takes the larger of both for the one latent finds the same number.
#[test]
fn an_mla_layer_has_its_scale_twice() {
    let workshop = Workshop::new();
    workshop.calibrate_fixture(MLA, "gaudi2", &[]);
    let scales = read(&workshop.out().join(SCALES));
    for layer in 0..3 {
        let of = |x: &str| scales[&format!("model.layers.{layer}.self_attn.{x}_scale")].clone();
        assert_eq!(of("k"), of("v"));
    }
    let both = ["k-only", "max-kv"].map(|policy| {
        let mut command = program("inspect", &workshop.out());
        let read = run(command.args(["--json", "--device", "gaudi2", "--mla-scale", policy])).json();
        read["layers"].as_array().unwrap().iter().map(|layer| layer["k"]["quant"].clone()).collect::<Vec<_>>()
    });
    assert_eq!(both[0], both[1]);
}

#[test]
fn scales_for_each_head() {
    let workshop = Workshop::new();
    let found = workshop.calibrate_fixture(GQA, "gaudi2", &["--strategy", "attn-head"]);
    let scales = read(&workshop.out().join(SCALES));
    assert!(scales.values().all(|(dtype, shape, _)| *dtype == Dtype::F32 && *shape == [2, 1, 1]));
    let config = json_file(&workshop.out().join("config.json"));
    assert_eq!(config["quantization_config"]["kv_cache_scheme"]["strategy"], "attn_head");
    let read = inspect_strictly(&workshop.out(), "gaudi2");
    for (layer, made) in read["layers"].as_array().unwrap().iter().zip(found["layers"].as_array().unwrap()) {
        let heads = |role: &str| -> Vec<Value> {
            let scales = made["scales"].as_array().unwrap().iter();
            scales.filter(|scale| scale["role"] == role).map(|scale| scale["scale"].clone()).collect()
        };
        assert_eq!(layer["k"]["checkpoint"], json!(heads("k")));
        assert_eq!(layer["v"]["checkpoint"], json!(heads("v")));
    }
}

#[test]
fn weight_files_can_be_linked() {
    for (weights, is_link, is_same_file) in
        [("copy", false, false), ("hardlink", false, true), ("symlink", true, true)]
    {
        let workshop = Workshop::new();
        let model = workshop.model(GQA, &|_| (), &|_| ());
        // As in a download cache, where names link to files elsewhere.
        std::fs::rename(model.join("model.safetensors"), workshop.path("blob")).unwrap();
        std::os::unix::fs::symlink("../blob", model.join("model.safetensors")).unwrap();
        workshop.calibrate(&model, &activations(GQA), "gaudi3", &["--weights", weights]).json();
        let written = workshop.out().join("model.safetensors");
        assert_eq!(written.symlink_metadata().unwrap().is_symlink(), is_link, "{weights}");
        let inode = |path: &std::path::Path| path.metadata().unwrap().ino();
        assert_eq!(inode(&written) == inode(&workshop.path("blob")), is_same_file, "{weights}");
        inspect_strictly(&workshop.out(), "gaudi3");
    }
}

#[test]
fn an_index_that_is_there_is_extended_and_other_files_come_along() {
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    std::fs::rename(model.join("model.safetensors"), model.join("model-00001-of-00001.safetensors")).unwrap();
    let weights = read(&model.join("model-00001-of-00001.safetensors"));
    let map: serde_json::Map<String, Value> =
        weights.keys().map(|name| (name.clone(), json!("model-00001-of-00001.safetensors"))).collect();
    let index = json!({"metadata": {"total_size": 7, "made_by": "someone"}, "weight_map": map});
    let index_text = index.to_string();
    std::fs::write(model.join("model.safetensors.index.json"), &index_text).unwrap();
    std::fs::create_dir_all(model.join("templates/inner")).unwrap();
    std::fs::write(model.join("templates/inner/chat.jinja"), "{{ x }}").unwrap();
    std::fs::write(model.join(".gitattributes"), "hidden").unwrap();
    workshop.calibrate(&model, &activations(GQA), "gaudi3", &[]).json();
    let index = json_file(&workshop.out().join("model.safetensors.index.json"));
    assert_eq!(index["weight_map"].as_object().unwrap().len(), weights.len() + 6);
    assert_eq!(index["metadata"]["made_by"], "someone");
    let bytes: usize = weights.values().map(|(.., bytes)| bytes.len()).sum();
    assert_eq!(index["metadata"]["total_size"], bytes + 24);
    assert_eq!(
        std::fs::read_to_string(workshop.out().join("templates/inner/chat.jinja")).unwrap(),
        "{{ x }}"
    );
    assert_eq!(std::fs::read_to_string(workshop.out().join(".gitattributes")).unwrap(), "hidden");
    let text = std::fs::read_to_string(workshop.out().join("model.safetensors.index.json")).unwrap();
    let old = index_text.strip_suffix("}}").unwrap();
    assert!(text.contains(&old[old.find("\"weight_map\"").unwrap()..]), "{text}");
    inspect_strictly(&workshop.out(), "gaudi3");
}

#[test]
fn force_replaces_a_model_and_leaves_nothing_else() {
    let workshop = Workshop::new();
    workshop.calibrate_fixture(GQA, "gaudi2", &[]);
    std::fs::write(workshop.out().join("left.txt"), "from before").unwrap();
    let again = workshop.calibrate(&data(GQA), &activations(GQA), "gaudi3", &[]);
    again.assert_refused(2, &["exists; --force"]);
    assert!(workshop.out().join("left.txt").exists());
    workshop.calibrate_fixture(GQA, "gaudi3", &["--force"]);
    assert_eq!(workshop.entries(), ["out"]);
    assert!(!workshop.out().join("left.txt").exists());
    assert_eq!(inspect_strictly(&workshop.out(), "gaudi3")["scale_adjustment"]["fp8_max_quant"], 448);
}

#[test]
fn force_calibrates_in_place_and_inside() {
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    let calibrate = |out: &std::path::Path, weights: &str| {
        let mut command = program("calibrate", &model);
        command.arg("--activations").arg(activations(GQA)).args(["--device", "gaudi3", "--out"]).arg(out);
        assert_eq!(run(command.args(["--force", "--sync", "--weights", weights])).code, 0);
    };
    let old = names(&model);
    calibrate(&model.join("inner"), "symlink");
    inspect_strictly(&model.join("inner"), "gaudi3");
    std::fs::remove_dir_all(model.join("inner")).unwrap();
    assert_eq!(names(&model), old);
    calibrate(&model, "hardlink");
    inspect_strictly(&model, "gaudi3");
    assert_eq!(workshop.entries(), ["model-tiny-gqa"]);
}

/// As `convert` has it: links of files that are no weights stay links that lead to the same place, and modes stay.
#[test]
fn links_and_modes_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    let set_mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir(model.join("inner")).unwrap();
    std::fs::write(workshop.path("blob"), "{}").unwrap();
    symlink("../blob", model.join("tokenizer.json")).unwrap();
    symlink("nowhere", model.join("broken.safetensors.old")).unwrap();
    set_mode(&model.join("model.safetensors"), 0o444);
    set_mode(&model.join("config.json"), 0o640);
    set_mode(&model.join("inner"), 0o555);
    set_mode(&model, 0o2750);
    workshop.calibrate(&model, &activations(GQA), "gaudi3", &[]).json();
    let out = workshop.out();
    let link = |name: &str| std::fs::read_link(out.join(name)).unwrap();
    assert_eq!(link("tokenizer.json"), std::path::Path::new("../blob"));
    assert_eq!(link("broken.safetensors.old"), std::path::Path::new("nowhere"));
    for name in ["", "model.safetensors", "config.json", "inner"] {
        let mode = |folder: &std::path::Path| folder.join(name).metadata().unwrap().mode();
        assert_eq!(mode(&out), mode(&model), "{name}");
    }
    let mode = |name: &str| out.join(name).metadata().unwrap().mode() & 0o7777;
    assert_eq!((mode(SCALES), mode("model.safetensors.index.json")), (0o640, 0o640));
    for folder in [&model, &out] {
        set_mode(&folder.join("inner"), 0o755);
    }
    let pipe = model.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    workshop.calibrate(&model, &activations(GQA), "gaudi3", &["--force"]).assert_refused(2, &["pipe"]);
}

/// What a killed process left is cleared away, and a process that is at work is not disturbed.
#[test]
fn leftovers_go_and_another_process_does_not() {
    let workshop = Workshop::new();
    let work = workshop.path(".out.gaudi-kv-partial");
    std::fs::create_dir_all(work.join("tree")).unwrap();
    std::fs::write(work.join("tree/left.txt"), "from before").unwrap();
    std::fs::write(work.join("settings.json"), "{}").unwrap();
    let lock = std::fs::File::options().create(true).append(true).open(work.join("lock")).unwrap();
    lock.lock().unwrap();
    let refused = workshop.calibrate(&data(GQA), &activations(GQA), "gaudi3", &[]);
    refused.assert_refused(2, &["another process"]);
    drop(lock);
    workshop.calibrate_fixture(GQA, "gaudi3", &[]);
    assert_eq!(workshop.entries(), ["out"]);
    assert!(!workshop.out().join("left.txt").exists());
}

/// Python's constants, the order of keys and the spelling of numbers are not touched.
#[test]
fn a_config_keeps_its_text() {
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    let text = std::fs::read_to_string(model.join("config.json")).unwrap();
    let text =
        text.replacen('{', "{\"time_step_limit\": [0.0, Infinity], \"zeta\": 1.50e-06, \"alpha\": NaN, ", 1);
    std::fs::write(model.join("config.json"), &text).unwrap();
    workshop.calibrate(&model, &activations(GQA), "gaudi3", &[]).json();
    let written = std::fs::read_to_string(workshop.out().join("config.json")).unwrap();
    assert!(written.starts_with(text.strip_suffix('}').unwrap()), "{written}");
}

#[test]
fn the_text_has_every_choice_and_marks_one() {
    let workshop = Workshop::new();
    let mut command = program("calibrate", &data(MLA));
    command
        .arg("--activations")
        .arg(activations(MLA))
        .args(["--device", "gaudi2", "--out"])
        .arg(workshop.out());
    let shown = run(&mut command);
    assert_eq!(shown.code, 0, "{shown:?}");
    let rows: Vec<Vec<&str>> = shown.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    // choice, scale, saturated, to zero, error
    let choice = |row: &[&str]| row.len().checked_sub(5).map(|at| row[at..].join(" ")).unwrap_or_default();
    let expected = json_file(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/calibrate/expected.json"),
    );
    for layer in 0..3 {
        let known = &expected[format!("tiny-mla gaudi2 {layer} k")];
        for method in ["amax", "percentile", "mse"] {
            let known_choice = &known["choices"][method];
            let number = |key: &str| known_choice[key].as_f64().unwrap();
            let elements = known["elements"].as_f64().unwrap();
            let share = |key: &str| format!("{:.3}", number(key) / elements * 100.0);
            let (saturated, zero) = (share("saturated"), share("flushed_to_zero"));
            let error = format!("{:.3}", number("rel_l2_error") * 100.0);
            let is_shown = |row: &&Vec<&str>| {
                let shown = choice(row);
                shown.starts_with(method) && shown.ends_with(&format!(" {saturated} {zero} {error}"))
            };
            let row =
                rows.iter().find(is_shown).unwrap_or_else(|| panic!("{layer} {method}: {}", shown.stdout));
            assert_eq!(row.contains(&"*"), method == "mse", "{row:?}");
            assert_eq!(row[0] == layer.to_string(), method == "amax", "{row:?}");
        }
    }
    for words in ["range     240 (float8_e4m3fnuz)", "latent", "the model has no FP8 weights"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
}
