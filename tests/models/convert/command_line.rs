//! What the program prints, and `--sync`.

use crate::convert::support::{Model, Ran, contents, convert, program};

fn model() -> Model {
    Model::gqa().all_codes("a.weight").f32("a.weight_scale", &[1], &[0.5]).f32(
        "model.layers.0.self_attn.k_scale",
        &[1],
        &[1.5],
    )
}

/// The odd denormals 1, 3, .. 15 of each sign are the inexact ones of 254 codes, and 1 becomes zero.
#[test]
fn counts_are_reported() {
    let folder = model().write();
    let said = convert(folder.path(), &[]).assert_code(0).json();
    let weights = &said["weights"];
    let counts = ["tensors", "codes", "exact", "rounded", "flushed", "saturated", "nan", "above_0x77"];
    assert_eq!(counts.map(|key| weights[key].as_u64().unwrap()), [1, 254, 238, 14, 2, 0, 0, 14]);
    assert_eq!(said["fp8_dtype_flavor"], "float8_e4m3fnuz");
    assert_eq!((&said["weight_factor"], &said["to"]), (&0.5.into(), &"gaudi2".into()));
}

#[test]
fn people_get_a_table_on_stdout_and_the_rest_on_stderr() {
    let folder = model().write();
    let mut command = program();
    command.arg("convert").arg(folder.path().join("src")).arg(folder.path().join("dst"));
    let run = Ran::of(command.args(["--to", "gaudi2"]));
    run.assert_code(0);
    for words in [
        "converted for gaudi2",
        "1 tensors, 254 codes, times 0.5",
        "14 (5.5118 %)",
        "float8_e4m3fnuz, in config.json",
    ] {
        assert!(run.stdout().contains(words), "{words}: {}", run.stdout());
    }
    assert_eq!(run.stderr(), "");
}

#[test]
fn sync_gives_the_same_result() {
    let [plain, synced] = [&[][..], &["--sync"]].map(|options| {
        let folder = model().write();
        convert(folder.path(), options).assert_code(0);
        contents(&folder.path().join("dst"))
    });
    assert_eq!(plain, synced);
}

#[test]
fn a_device_is_required() {
    let folder = model().write();
    let mut command = program();
    Ran::of(command.arg("convert").arg(folder.path().join("src")).arg(folder.path().join("dst")))
        .assert_code(2);
}
