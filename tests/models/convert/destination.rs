//! Where the result may go.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::convert::support::{Model, Ran, contents, convert, names, program, read};

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
fn a_model_and_an_empty_folder_are_replaced_by_force_alone() {
    let folder = model().write();
    let dst = folder.path().join("dst");
    for make in [
        |dst: &Path| fs::create_dir(dst).unwrap(),
        |dst: &Path| model().f32("old", &[1], &[7.0]).write_to(dst),
        |dst: &Path| {
            fs::create_dir(dst).unwrap();
            fs::write(dst.join("params.json"), "{}").unwrap();
        },
    ] {
        make(&dst);
        let before = contents(&dst);
        convert(folder.path(), &[]).assert_says(2, &["exists; --force"]);
        assert_eq!(
            (names(folder.path()), contents(&dst)),
            (vec!["dst".to_owned(), "src".to_owned()], before)
        );
        convert(folder.path(), &["--force"]).assert_code(0);
        assert_eq!((names(folder.path()), scale(&dst)), (vec!["dst".to_owned(), "src".to_owned()], 2.8));
        assert_eq!(names(&dst), ["config.json", "model.safetensors"]);
        fs::remove_dir_all(&dst).unwrap();
    }
}

/// A slip in a path costs nothing.
#[test]
fn nothing_else_is_replaced() {
    let folder = model().write();
    let dst = folder.path().join("dst");
    let other = folder.path().join("other");
    model().write_to(&other);
    for make in [
        |dst: &Path, _: &Path| fs::write(dst, "a file").unwrap(),
        |dst: &Path, _: &Path| symlink("nowhere", dst).unwrap(),
        |dst: &Path, other: &Path| symlink(other, dst).unwrap(),
        |dst: &Path, _: &Path| {
            fs::create_dir(dst).unwrap();
            fs::write(dst.join("thesis.txt"), "mine").unwrap();
        },
    ] {
        make(&dst, &other);
        let before = contents(folder.path());
        convert(folder.path(), &[]).assert_says(2, &["exists; --force"]);
        convert(folder.path(), &["--force"]).assert_says(2, &["is no model folder", "remove it first"]);
        assert_eq!(contents(folder.path()), before);
        fs::remove_file(&dst).or_else(|_| fs::remove_dir_all(&dst)).unwrap();
    }
}

/// Whoever makes something under the name while the result grows loses nothing, without `--force`.
#[test]
fn what_appears_meanwhile_is_not_replaced() {
    let folder = model().file("tokenizer.json", "{}").write();
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    convert(folder.path(), &["--shards", "1/2"]).assert_code(0);
    // The finishing lock stops the last process just before the end.
    let work = folder.path().join(".dst.gaudi-kv-partial");
    let lock = fs::File::options().create(true).append(true).open(work.join("lock-finish")).unwrap();
    lock.lock().unwrap();
    let mut command = program();
    command.arg("convert").args([&src, &dst]).args(["--to", "gaudi2", "--shards", "2/2"]);
    let last = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    while !work.join("lock-2").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // An empty folder is what a plain rename would replace.
    fs::create_dir(&dst).unwrap();
    drop(lock);
    let output = last.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("exists; --force"));
    assert_eq!(names(&dst), Vec::<String>::new());
    // What is finished is kept.
    fs::remove_dir(&dst).unwrap();
    let said = convert(folder.path(), &["--shards", "2/2"]).assert_code(0).json();
    assert_eq!(
        (&said["outcome"], names(folder.path())),
        (&"converted".into(), vec!["dst".to_owned(), "src".to_owned()])
    );
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
