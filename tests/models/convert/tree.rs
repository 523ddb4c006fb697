//! Files that are no weights, links and permissions.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::convert::support::{Model, convert, read};

const SCALE: &str = "model.layers.0.self_attn.k_scale";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn folders_files_and_modes_are_carried_over() {
    let folder =
        Model::gqa().f32(SCALE, &[1], &[1.5]).file("tokenizer.json", "{}").file(".hidden", "x").write();
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    fs::create_dir_all(src.join("original/empty")).unwrap();
    fs::write(src.join("original/consolidated.00.pth"), [7; 1000]).unwrap();
    for (name, mode) in [
        ("config.json", 0o640),
        ("model.safetensors", 0o444),
        ("tokenizer.json", 0o755),
        ("original/consolidated.00.pth", 0o400),
        ("original", 0o555),
        ("", 0o2750),
    ] {
        fs::set_permissions(src.join(name), Permissions::from_mode(mode)).unwrap();
    }
    convert(folder.path(), &[])
        .assert_says(0, &["1 weight files are carried over unread", "consolidated.00.pth"]);
    let names =
        ["", "config.json", "model.safetensors", "tokenizer.json", ".hidden", "original", "original/empty"];
    for name in names {
        assert_eq!(mode(&dst.join(name)), mode(&src.join(name)), "{name}");
    }
    assert_eq!(fs::read(dst.join("original/consolidated.00.pth")).unwrap(), [7; 1000]);
    for folder in [&src, &dst] {
        fs::set_permissions(folder.join("original"), Permissions::from_mode(0o755)).unwrap();
    }
}

/// The layout of a download cache: every file is a link to a blob. What is converted becomes a file, with the blob's
/// mode; the rest stay links that lead to the same place.
#[test]
fn links_are_kept() {
    let folder = Model::gqa()
        .f32(SCALE, &[1], &[1.5])
        .shard("other.safetensors")
        .f32("model.norm.weight", &[1], &[1.0])
        .file("tokenizer.json", "{}")
        .write();
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    let blobs = folder.path().join("blobs");
    fs::create_dir(&blobs).unwrap();
    for (i, name) in
        ["config.json", "model.safetensors", "other.safetensors", "tokenizer.json"].iter().enumerate()
    {
        fs::rename(src.join(name), blobs.join(i.to_string())).unwrap();
        symlink(format!("../blobs/{i}"), src.join(name)).unwrap();
    }
    fs::set_permissions(blobs.join("1"), Permissions::from_mode(0o604)).unwrap();
    symlink("tokenizer.json", src.join("alias.json")).unwrap();
    symlink("/nowhere/at/all", src.join("broken")).unwrap();
    symlink("../blobs", src.join("folder")).unwrap();
    let said = convert(folder.path(), &[]).assert_code(0).json();
    assert_eq!(said["files"]["links"], 5);
    for (name, text) in [
        ("tokenizer.json", "../blobs/3"),
        ("other.safetensors", "../blobs/2"),
        ("alias.json", "tokenizer.json"),
        ("broken", "/nowhere/at/all"),
        ("folder", "../blobs"),
    ] {
        assert_eq!(fs::read_link(dst.join(name)).unwrap(), Path::new(text));
    }
    assert_eq!(mode(&dst.join("model.safetensors")), 0o604);
    assert!(fs::symlink_metadata(dst.join("config.json")).unwrap().is_file());
    assert_eq!(read(&dst.join("model.safetensors"))[SCALE].f32(), [2.8]);
    assert_eq!(read(&blobs.join("1"))[SCALE].f32(), [1.5]);

    // From elsewhere the links are absolute.
    let away = tempfile::tempdir().unwrap();
    fs::create_dir(away.path().join("deep")).unwrap();
    symlink(&src, away.path().join("deep/src")).unwrap();
    convert(&away.path().join("deep"), &[]).assert_code(0);
    let link = fs::read_link(away.path().join("deep/dst/tokenizer.json")).unwrap();
    assert_eq!(link, fs::canonicalize(&blobs).unwrap().join("3"));
}

/// A total that was wrong is true afterwards; where no tensor changes its size the index stays as it is.
#[test]
fn the_total_of_an_index_is_true() {
    for (model, total) in
        [(Model::gqa().bf16(SCALE, &[1], &[1.5]), Some(8 + 4)), (Model::gqa().f32(SCALE, &[1], &[1.5]), None)]
    {
        let map = format!(
            "{{\"model.embed_tokens.weight\": \"model.safetensors\", \"{SCALE}\": \"model.safetensors\"}}"
        );
        let index = format!("{{\"metadata\": {{\"total_size\": 7, \"by\": 1}}, \"weight_map\": {map}}}");
        let folder = model.file("model.safetensors.index.json", &index).write();
        convert(folder.path(), &[]).assert_code(0);
        let new = fs::read_to_string(folder.path().join("dst/model.safetensors.index.json")).unwrap();
        assert_eq!(new, index.replace('7', &total.unwrap_or(7).to_string()));
    }
}

#[test]
fn a_pipe_cannot_be_carried_over() {
    let folder = Model::gqa().f32(SCALE, &[1], &[1.5]).write();
    let pipe = folder.path().join("src/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    convert(folder.path(), &[]).assert_says(2, &["src/pipe"]);
    assert!(!folder.path().join("dst").exists());
}
