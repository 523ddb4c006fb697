//! The program in `docs/c-api.md`, as it is printed there.

use std::fs;

use crate::compiler::{Program, data, package, succeed};

/// The text of the first block of that language.
fn block<'a>(document: &'a str, language: &str) -> &'a str {
    let (_, rest) = document.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

pub fn example() {
    let document = fs::read_to_string(package("../docs/c-api.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("example.c");
    fs::write(&source, block(&document, "c")).unwrap();
    let program = Program::new("cc", &["-std=c11"], &[source]);
    let output = succeed(program.command(&[]).arg(data("data/llmc-gqa-kv")));
    assert_eq!(String::from_utf8_lossy(&output.stdout), block(&document, "text"));
}
