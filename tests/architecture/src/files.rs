//! Files of the repository, by their paths in it.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;

/// Folders that hold nothing written by hand.
const SKIPPED: [&str; 4] = ["target", ".git", "data", "node_modules"];

/// Written by `habana-sys`'s program `generate`, and by cbindgen.
const GENERATED: [&str; 3] =
    ["habana-sys/src/bindings.rs", "habana-sys/src/functions.rs", "capi/include/gaudi_kv.h"];

/// The folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A file's path in the repository, with slashes.
pub fn relative(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

/// The text of a file of the repository.
pub fn text(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The tokens of a Rust file of the repository, doc comments as attributes.
pub fn tokens(path: &str) -> TokenStream {
    text(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files written by hand whose names end in one of `extensions`.
pub fn written(extensions: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    collect(repository(), extensions, &mut found);
    found.retain(|path| !GENERATED.contains(&path.as_str()));
    found.sort();
    found
}

fn collect(folder: &Path, extensions: &[&str], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) && !name.starts_with('.') {
                collect(&path, extensions, found);
            }
        } else if path.extension().is_some_and(|end| extensions.iter().any(|one| end == *one)) {
            found.push(relative(&path));
        }
    }
}
