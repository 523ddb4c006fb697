//! Where the result may go.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{Model, Ran, contents, convert, names, program, read};

const SCALE: &str = "model.layers.0.self_attn.k_scale";

fn model() -> Model {
    Model::gqa().f32(SCALE, &[1], &[1.5])
}

fn run(source: &Path, destination: &Path, options: &[&str]) -> Ran {
    Ran::of(
        program().arg("convert").args([source, destination]).args(["--to", "gaudi2", "--json"]).args(options),
    )
}

fn scale(folder: &Path) -> f32 {
    read(&folder.join("model.safetensors"))[SCALE].f32()[0]
}

#[test]
fn what_exists_is_replaced_by_force_alone() {
    let folder = model().write();
    let dst = folder.path().join("dst");
    for make in [
        |dst: &Path| fs::create_dir(dst).unwrap(),
        |dst: &Path| fs::write(dst, "a file").unwrap(),
        |dst: &Path| symlink("nowhere", dst).unwrap(),
        |dst: &Path| model().f32("old", &[1], &[7.0]).write_to(dst),
    ] {
        make(&dst);
        let before = (names(folder.path()), dst.is_dir().then(|| contents(&dst)));
        convert(folder.path(), &[]).assert_says(2, &["exists; --force"]);
        assert_eq!((names(folder.path()), dst.is_dir().then(|| contents(&dst))), before);
        convert(folder.path(), &["--force"]).assert_code(0);
        assert_eq!((names(folder.path()), scale(&dst)), (vec!["dst".to_owned(), "src".to_owned()], 2.8));
        assert_eq!(names(&dst), ["config.json", "model.safetensors"]);
        fs::remove_dir_all(&dst).unwrap();
    }
}

#[test]
fn the_source_and_what_lies_in_it_are_refused_without_force() {
    let folder = model().write();
    let src = folder.path().join("src");
    let before = contents(folder.path());
    symlink(&src, folder.path().join("link")).unwrap();
    for (destination, reason) in [
        (src.clone(), "is the source"),
        (src.join("."), "is the source"),
        (folder.path().join("link"), "is the source"),
        (src.join("inner"), "lies in the source"),
        (folder.path().join("link/inner"), "lies in the source"),
        (src.join("config.json"), "lies in the source"),
        (src.join(".."), "no name"),
        (folder.path().join("absent/dst"), "absent"),
    ] {
        run(&src, &destination, &[]).assert_says(2, &[reason]);
    }
    // The folder that holds the source is refused even by force.
    run(&src, folder.path(), &["--force"]).assert_says(2, &["would be lost"]);
    fs::remove_file(folder.path().join("link")).unwrap();
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn force_converts_in_place_and_inside() {
    let folder = model().write();
    let src = folder.path().join("src");
    run(&src, &src.join("inner"), &["--force"]).assert_code(0);
    assert_eq!((scale(&src), scale(&src.join("inner"))), (1.5, 2.8));
    assert_eq!(names(&src.join("inner")), ["config.json", "model.safetensors"]);
    fs::remove_dir_all(src.join("inner")).unwrap();
    run(&src, &src, &["--force"]).assert_code(0);
    assert_eq!((scale(&src), names(folder.path())), (2.8, vec!["src".to_owned()]));
}

#[test]
fn a_source_that_is_no_model_is_unreadable_input() {
    let folder = tempfile::tempdir().unwrap();
    convert(folder.path(), &[]).assert_says(2, &["src"]);
    fs::create_dir(folder.path().join("src")).unwrap();
    convert(folder.path(), &[]).assert_says(2, &["config.json"]);
    assert_eq!(names(folder.path()), ["src"]);
}
