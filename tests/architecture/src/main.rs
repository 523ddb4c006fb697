//! The shape of the sources: who imports whom, what goes round in circles, what has grown too long, and whether a doc
//! comment can be read by itself.
//!
//! `docs/architecture.md` holds the list of rooms and what each may import; the other rules stand in the tests below.
//! `cargo test --test architecture -- --nocapture` prints each circle with the imports that make it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod circles;
mod exceptions;
mod files;
mod imports;
mod length;
mod modules;
mod prose;
mod rooms;
mod workspace;

use std::collections::BTreeSet;

use exceptions::check;
use imports::Imports;
use rooms::Rooms;
use workspace::Workspace;

/// How many lines a file may have.
const FILE_LINES: usize = 450;

/// How many lines a function may have, from its name to its last brace.
const FUNCTION_LINES: usize = 60;

/// How many files of one room may import each other in a circle.
const CIRCLE_FILES: usize = 2;

#[test]
fn every_import_is_followed_to_a_definition() {
    let imports = Imports::read(&Workspace::read());
    assert!(imports.edges().count() > 500, "only {} imports found", imports.edges().count());
    assert!(imports.unknown.is_empty(), "paths without a definition:\n{}", imports.unknown.join("\n"));
}

#[test]
fn rooms_import_what_the_list_allows() {
    let imports = Imports::read(&Workspace::read());
    let rooms = Rooms::read();
    let mut broken = BTreeSet::new();
    for edge in imports.edges() {
        if let Some(what) = rooms.refuse(edge) {
            println!("{what}: {edge}");
            broken.insert(what);
        }
    }
    check("layer", broken);
}

#[test]
fn every_file_has_a_room_and_the_list_no_circle() {
    let rooms = Rooms::read();
    let sources = Workspace::read().sources();
    let homeless: Vec<_> = sources.iter().filter(|file| rooms.of(file).is_none()).collect();
    assert!(homeless.is_empty(), "docs/architecture.md lists no room of {homeless:?}");
    let circles = circles::find(&rooms.declared());
    assert!(circles.is_empty(), "rooms of docs/architecture.md in circles: {circles:?}");
}

#[test]
fn no_circle_between_rooms_and_none_longer_than_two_files_inside_one() {
    let imports = Imports::read(&Workspace::read());
    let rooms = Rooms::read();
    let mut broken = BTreeSet::new();
    for circle in circles::find(&imports.between_files()) {
        let of: BTreeSet<_> = circle.iter().map(|file| rooms.of(file)).collect();
        if of.len() == 1 && circle.len() <= CIRCLE_FILES {
            continue;
        }
        println!("a circle of {} files:", circle.len());
        for edge in imports.edges().filter(|edge| circle.contains(&edge.from) && circle.contains(&edge.to)) {
            println!("    {edge}");
        }
        broken.extend(circle);
    }
    check("circle", broken);
}

#[test]
fn files_are_short() {
    check("file", length::long_files(FILE_LINES));
}

#[test]
fn functions_are_short() {
    check("function", length::long_functions(FUNCTION_LINES));
}

#[test]
fn doc_comments_stand_alone() {
    check("doc", prose::leaning());
}
