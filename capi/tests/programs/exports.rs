//! What the library exports: exactly what is on record, declared and used.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use object::{Object as _, ObjectSymbol as _};

use crate::compiler::{Program, library, package};

fn dynamic_symbols(path: &Path, is_wanted: impl Fn(&object::Symbol<'_, '_>) -> bool) -> BTreeSet<String> {
    let file = fs::read(path).unwrap();
    let object = object::File::parse(file.as_slice()).unwrap();
    let symbols = object.dynamic_symbols().filter(is_wanted);
    symbols.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

fn recorded() -> BTreeSet<String> {
    let list = fs::read_to_string(package("tests/exports.txt")).unwrap();
    list.lines().map(ToOwned::to_owned).collect()
}

#[track_caller]
fn assert_same(what: &str, found: &BTreeSet<String>) {
    let recorded = recorded();
    let missing: Vec<_> = recorded.difference(found).collect();
    let more: Vec<_> = found.difference(&recorded).collect();
    assert!(missing.is_empty() && more.is_empty(), "{what}: missing {missing:?}; not on record {more:?}");
}

/// A function that is taken off the record breaks older callers; one that is added goes on it.
pub fn on_record() {
    assert_same("the library exports", &dynamic_symbols(&library(), |symbol| symbol.is_definition()));
}

pub fn declared() {
    let header = fs::read_to_string(package("include/gaudi_kv.h")).unwrap();
    let code = header.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
    let names = code.filter_map(|line| {
        let (before, _) = line.split_once('(')?;
        before.rsplit([' ', '*']).next().filter(|name| name.starts_with("gaudi_kv_"))
    });
    assert_same("the header declares", &names.map(ToOwned::to_owned).collect());
}

pub fn used() {
    let program = Program::c("everything");
    let used = dynamic_symbols(&program.path(), |symbol| {
        symbol.is_undefined() && symbol.name().is_ok_and(|name| name.starts_with("gaudi_kv_"))
    });
    assert_same("the program uses", &used);
}
