//! What is refused, with the file, the tensor, the layer and the element; and nothing is left behind then.

use safetensors::tensor::Dtype;
use serde_json::Value;

use crate::calibrate::support::{
    GQA, MLA, Made, Workshop, activations, data, gqa_activations, program, run, write, write_tensors,
};

/// Activations of the GQA model with one of them changed.
fn changed(change: impl Fn(&mut Vec<Made>)) -> Vec<Made> {
    let mut made = gqa_activations(1.0);
    change(&mut made);
    made
}

#[track_caller]
fn assert_refused(made: &[Made], words: &[&str]) {
    let workshop = Workshop::new();
    let file = workshop.activations("a.safetensors", made);
    let run = workshop.calibrate(&data(GQA), &file, "gaudi2", &[]);
    run.assert_refused(2, words);
    assert_eq!(workshop.entries(), ["a.safetensors"]);
}

#[test]
fn values_that_are_not_finite() {
    for (value, word) in
        [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf"), (3.4e38, "inf")]
    {
        let made = changed(|made| made[3].2[77] = value);
        assert_refused(&made, &["a.safetensors", "`layers.1.v`", "element 77 ", word]);
    }
    // Beyond the first block of 64 Ki elements.
    let tokens = 2000;
    let made = changed(|made| {
        for tensor in &mut made[..2] {
            tensor.1[0] = tokens;
            tensor.2 = vec![1.0; tokens * 64];
        }
        made[0].2[100_000] = f32::NAN;
    });
    assert_refused(&made, &["`layers.0.k`", "element 100000 is NaN"]);
}

#[test]
fn files_without_values() {
    let empty = changed(|made| {
        for tensor in &mut made[..2] {
            *tensor = (tensor.0.clone(), vec![0, 2, 32], Vec::new());
        }
    });
    assert_refused(&empty, &["a.safetensors", "`layers.0.k`", "holds no tokens"]);
    assert_refused(&[], &["nothing was measured for layers 0-2", "layers.0.k and layers.0.v"]);
    let workshop = Workshop::new();
    let folder = workshop.path("empty");
    std::fs::create_dir(&folder).unwrap();
    workshop.calibrate(&data(GQA), &folder, "gaudi2", &[]).assert_refused(2, &["empty", "*.safetensors"]);
    workshop.calibrate(&data(GQA), &workshop.path("none"), "gaudi2", &[]).assert_refused(2, &["none"]);
    std::fs::write(folder.join("x.safetensors"), b"").unwrap();
    workshop.calibrate(&data(GQA), &folder, "gaudi2", &[]).assert_refused(2, &["x.safetensors", "too short"]);
}

#[test]
fn activations_of_another_model() {
    // Heads, elements of a head, tokens.
    for (shape, count) in
        [(vec![2, 4, 32], 256), (vec![2, 2, 16], 64), (vec![2, 64], 128), (vec![3, 2, 32], 192)]
    {
        let made = changed(|made| made[5] = ("layers.2.v".to_owned(), shape.clone(), vec![1.0; count]));
        assert_refused(&made, &["`layers.2.v`", &format!("{shape:?}"), "the model needs [2, 2, 32]"]);
    }
    let workshop = Workshop::new();
    workshop
        .calibrate(&data(GQA), &activations(MLA), "gaudi2", &[])
        .assert_refused(2, &["nothing was measured for layers 0-2"]);
    workshop
        .calibrate(&data(MLA), &activations(GQA), "gaudi2", &[])
        .assert_refused(2, &["nothing was measured", "layers.0.kv_c and layers.0.k_pe"]);
}

#[test]
fn layers_missing_and_layers_too_many() {
    assert_refused(
        &changed(|made| drop(made.drain(2..4))),
        &["nothing was measured for layer 1;", "layers.1.k"],
    );
    assert_refused(&changed(|made| drop(made.remove(2))), &["`layers.1.k`", "is missing"]);
    assert_refused(&changed(|made| drop(made.remove(3))), &["`layers.1.v`", "is missing"]);
    let more = changed(|made| made.push(("layers.3.k".to_owned(), vec![2, 2, 32], vec![1.0; 128])));
    assert_refused(&more, &["`layers.3.k`", "layer 3", "it has 3 layers and 0 draft layers"]);
}

#[test]
fn values_from_which_no_scale_follows() {
    let zero = changed(|made| made[1].2.fill(-0.0));
    assert_refused(&zero, &["layer 0", "follows from v", "all values are zero"]);
    let tiny = changed(|made| made[4].2.fill(1e-40));
    assert_refused(&tiny, &["layer 2", "follows from k", "the largest magnitude is"]);
    // One head of two.
    let workshop = Workshop::new();
    let half = changed(|made| {
        let head = made[0].2.chunks_exact_mut(32).skip(1).step_by(2);
        head.for_each(|values| values.fill(0.0));
    });
    let file = workshop.activations("half.safetensors", &half);
    workshop
        .calibrate(&data(GQA), &file, "gaudi3", &["--strategy", "attn-head"])
        .assert_refused(2, &["layer 0", "k of head 1", "all values are zero"]);
    assert_eq!(workshop.calibrate(&data(GQA), &file, "gaudi3", &[]).code, 0);
}

#[test]
fn types_that_hold_no_activations() {
    let workshop = Workshop::new();
    let file = workshop.path("a.safetensors");
    write(&file, &gqa_activations(1.0));
    let mut tensors = crate::calibrate::support::read(&file);
    tensors.insert("layers.0.k".to_owned(), (Dtype::I32, vec![2, 2, 32], vec![0; 512]));
    write_tensors(&file, &tensors);
    workshop
        .calibrate(&data(GQA), &file, "gaudi2", &[])
        .assert_refused(2, &["`layers.0.k`", "dtype I32; allowed are BF16, F16 and F32"]);
}

#[test]
fn settings_outside_their_range() {
    let workshop = Workshop::new();
    for (options, words) in [
        (&["--margin", "0.9"][..], &["margin is 0.9", "1 to 1000"][..]),
        (&["--margin", "NaN"], &["margin is NaN"]),
        (&["--percentile", "0"], &["percentile is 0", "above 0, up to 100"]),
        (&["--percentile", "100.1"], &["percentile is 100.1"]),
    ] {
        workshop.calibrate(&data(GQA), &activations(GQA), "gaudi2", options).assert_refused(2, words);
    }
    workshop
        .calibrate(&data(MLA), &activations(MLA), "gaudi2", &["--strategy", "attn-head"])
        .assert_refused(2, &["one scale for each head is not possible", "one latent"]);
    // Exactly one source, and a device.
    let mut command = program("calibrate", &data(GQA));
    command.args(["--device", "gaudi2", "--out"]).arg(workshop.out());
    run(&mut command).assert_refused(2, &["--activations", "--inc-measurements"]);
    let mut command = program("calibrate", &data(GQA));
    command.arg("--activations").arg(activations(GQA)).arg("--out").arg(workshop.out());
    run(&mut command).assert_refused(2, &["--device"]);
    assert_eq!(workshop.entries(), Vec::<String>::new());
}

#[test]
fn places_that_are_not_written_to() {
    let workshop = Workshop::new();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    let file = activations(GQA);
    let refused = |out: &std::path::Path, options: &[&str], words: &[&str]| {
        let mut command = program("calibrate", &model);
        command.arg("--activations").arg(&file).args(["--device", "gaudi2", "--out"]).arg(out).args(options);
        run(&mut command).assert_refused(2, words);
    };
    refused(&model, &[], &["is the source"]);
    refused(&model, &["--force", "--weights", "symlink"], &["is the model itself", "no link"]);
    refused(&model.join("inside"), &[], &["lies in the source"]);
    refused(&model.join("..").join("model-tiny-gqa"), &[], &["is the source"]);
    refused(&model.join(".."), &["--force"], &["has no name"]);
    refused(&workshop.path(""), &["--force"], &["would be lost"]);
    refused(&workshop.path("no/such"), &[], &["no"]);
    let file_there = workshop.path("file");
    std::fs::write(&file_there, "mine").unwrap();
    refused(&file_there, &[], &["exists", "--force"]);
    refused(&file_there, &["--force"], &["is no model folder"]);
    let other = workshop.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("thesis.txt"), "mine").unwrap();
    refused(&other, &["--force"], &["is no model folder"]);
    assert_eq!(std::fs::read_to_string(other.join("thesis.txt")).unwrap(), "mine");
    let link = workshop.path("link");
    std::os::unix::fs::symlink(&model, &link).unwrap();
    refused(&link, &[], &["is the source"]);
    refused(&link, &["--force"], &["is no model folder"]);
    assert_eq!(workshop.entries(), ["file", "link", "model-tiny-gqa", "other"]);
}

/// Measuring may take minutes, so what is wrong with the destination is said before.
#[test]
fn places_are_looked_at_before_anything_is_measured() {
    let workshop = Workshop::new();
    std::fs::create_dir(workshop.out()).unwrap();
    let broken = workshop.path("broken.safetensors");
    std::fs::write(&broken, "no safetensors").unwrap();
    let model = workshop.model(GQA, &|_| (), &|_| ());
    workshop.calibrate(&model, &broken, "gaudi2", &[]).assert_refused(2, &["exists", "--force"]);
    workshop.calibrate(&model, &broken, "gaudi2", &["--force"]).assert_refused(2, &["broken.safetensors"]);
    let scaled = workshop.model("llmc-gqa-kv", &|_| (), &|_| ());
    std::fs::remove_dir(workshop.out()).unwrap();
    workshop.calibrate(&scaled, &broken, "gaudi2", &[]).assert_refused(2, &["--replace"]);
}

#[test]
fn models_that_cannot_be_named_or_described() {
    let workshop = Workshop::new();
    let renamed = workshop.model(GQA, &|_| (), &|tensors| {
        let old = std::mem::take(tensors);
        tensors.extend(old.into_iter().map(|(name, t)| (name.replace("self_attn", "strange_attn"), t)));
    });
    workshop
        .calibrate(&renamed, &activations(GQA), "gaudi2", &[])
        .assert_refused(2, &["layer 0", "no weights under a known attention module"]);
    let no_dim = Workshop::new();
    let model = no_dim.model(
        MLA,
        &|config| {
            config.as_object_mut().unwrap().remove("qk_rope_head_dim");
            // A class that is known has a default.
            config["model_type"] = Value::from("a_new_one");
        },
        &|_| (),
    );
    no_dim.calibrate(&model, &activations(MLA), "gaudi2", &[]).assert_refused(2, &["qk_rope_head_dim"]);
    let orphan = Workshop::new();
    let model = orphan.model(GQA, &|config| config["num_kv_shared_layers"] = Value::from(3), &|_| ());
    // An error of the model, as inspect has it.
    orphan
        .calibrate(&model, &activations(GQA), "gaudi2", &[])
        .assert_refused(1, &["the model has errors", "layer 0"]);
}
