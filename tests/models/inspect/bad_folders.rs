//! Folders that hold no model, or files that are no files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::inspect::builder::Checkpoint;
use crate::inspect::program::{command, inspect};

const K: &str = "model.layers.0.self_attn.k_scale";

fn model() -> Checkpoint {
    Checkpoint::gqa(1).scale(K, 0.05)
}

#[test]
fn a_missing_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    inspect(&folder.path().join("nowhere"), &[]).assert_refused(&["nowhere"]);
}

#[test]
fn an_empty_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    inspect(folder.path(), &[]).assert_refused(&[folder.path().to_str().unwrap(), "config.json"]);
}

#[test]
fn a_file_in_place_of_a_folder_is_refused() {
    let folder = model().write();
    inspect(&folder.path().join("config.json"), &[]).assert_refused(&["config.json", "not a folder"]);
}

#[test]
fn a_folder_without_weights_is_refused() {
    let folder = model().write();
    std::fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    inspect(folder.path(), &[]).assert_refused(&["safetensors"]);
}

#[test]
fn folders_in_place_of_files_are_refused() {
    for name in [
        "config.json",
        "hf_quant_config.json",
        "kv_cache_scales.json",
        "model.safetensors",
        "model.safetensors.index.json",
    ] {
        let folder = model().write();
        let path = folder.path().join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir(&path).unwrap();
        inspect(folder.path(), &[]).assert_refused(&[name]);
    }
}

#[test]
fn symlink_loops_are_refused() {
    for name in ["config.json", "model.safetensors", "hf_quant_config.json", "model.safetensors.index.json"] {
        let folder = model().write();
        let path = folder.path().join(name);
        let _ = std::fs::remove_file(&path);
        symlink(&path, &path).unwrap();
        inspect(folder.path(), &[]).assert_refused(&[name]);
    }
    let folder = tempfile::tempdir().unwrap();
    symlink(folder.path().join("b"), folder.path().join("a")).unwrap();
    symlink(folder.path().join("a"), folder.path().join("b")).unwrap();
    inspect(&folder.path().join("a"), &[]).assert_refused(&["a"]);
}

#[test]
fn dangling_symlinks_are_refused() {
    let folder = model().write();
    symlink("nowhere", folder.path().join("model-00002-of-00002.safetensors")).unwrap();
    inspect(folder.path(), &[]).assert_refused(&["model-00002-of-00002.safetensors"]);
}

/// A cache of downloads keeps the files elsewhere and links them in.
#[test]
fn symlinks_to_files_are_followed() {
    let (real, links) = (model().write(), tempfile::tempdir().unwrap());
    for name in ["config.json", "model.safetensors"] {
        symlink(real.path().join(name), links.path().join(name)).unwrap();
    }
    let run = inspect(links.path(), &[]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Runs the program on a folder and fails if it does not end.
#[track_caller]
fn run_with_deadline(folder: &Path) -> Output {
    let mut child = command()
        .args(["inspect", "--device", "gaudi2"])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("{}: the program hangs", folder.display());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

#[track_caller]
fn assert_refused_soon(folder: &Path, word: &str) {
    let output = run_with_deadline(folder);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(word), "{stderr}");
}

fn make_fifo(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_hang() {
    for name in [
        "config.json",
        "model.safetensors",
        "hf_quant_config.json",
        "kv_cache_scales.json",
        "model.safetensors.index.json",
    ] {
        let folder = model().write();
        let path = folder.path().join(name);
        let _ = std::fs::remove_file(&path);
        make_fifo(&path);
        assert_refused_soon(folder.path(), name);
    }
    let folder = tempfile::tempdir().unwrap();
    make_fifo(&folder.path().join("pipe"));
    assert_refused_soon(&folder.path().join("pipe"), "pipe");
}

/// A pipe that is no part of the model is left alone.
#[test]
fn a_pipe_beside_the_model_does_not_hang() {
    let folder = model().index().write();
    make_fifo(&folder.path().join("stray.safetensors"));
    make_fifo(&folder.path().join("notes.txt"));
    let output = run_with_deadline(folder.path());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// Permissions do not bind root, so there the files are tried and the test says that it showed nothing.
#[test]
fn unreadable_files_are_refused() {
    let mut tried = 0;
    let mut skipped = 0;
    for name in ["config.json", "model.safetensors"] {
        let folder = model().write();
        let path = folder.path().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        if std::fs::File::open(&path).is_ok() {
            skipped += 1;
            continue;
        }
        inspect(folder.path(), &[]).assert_refused(&[name]);
        tried += 1;
    }
    if skipped > 0 {
        eprintln!(
            "unreadable_files_are_refused: {skipped} of {} skipped, permissions do not bind this user",
            tried + skipped
        );
    }
    // What binds root too: a file that cannot be opened for what it is.
    folders_in_place_of_files_are_refused();
}

/// A path that is no UTF-8 is inspected like any other.
#[test]
fn a_folder_with_any_name_is_read() {
    use std::os::unix::ffi::OsStrExt;
    let parent = tempfile::tempdir().unwrap();
    let odd = parent.path().join(std::ffi::OsStr::from_bytes(b"mod\xFFel"));
    let folder = model().write();
    std::fs::create_dir(&odd).unwrap();
    for name in ["config.json", "model.safetensors"] {
        std::fs::copy(folder.path().join(name), odd.join(name)).unwrap();
    }
    let run = inspect(&odd, &["--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.json()["layers"][0]["k"]["origin"], "loaded");
}
