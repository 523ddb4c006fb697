//! The rooms that `docs/architecture.md` lists, and what each may import.

use std::collections::{BTreeMap, BTreeSet};

use crate::files;
use crate::imports::Edge;

/// Rooms by their paths, such as `src/device/hpu`, with what each may import.
pub struct Rooms {
    allowed: BTreeMap<String, BTreeSet<String>>,
}

impl Rooms {
    /// Reads the table with the columns room, content and imports.
    pub fn read() -> Self {
        let mut allowed = BTreeMap::new();
        for line in files::text("docs/architecture.md").lines() {
            if let ["", room, _, imports, ""] = line.split('|').map(str::trim).collect::<Vec<_>>()[..]
                && let [room] = quoted(room)[..]
            {
                let source = &room[..room.find("src/").map_or(0, |at| at + 4)];
                let imports = quoted(imports).into_iter().map(|name| full_name(source, name)).collect();
                assert!(allowed.insert(room.to_string(), imports).is_none(), "{room} is listed twice");
            }
        }
        assert!(allowed.len() > 5, "docs/architecture.md lists only {} rooms", allowed.len());
        Self { allowed }
    }

    /// The names of all rooms.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.allowed.keys().map(String::as_str)
    }

    /// The room of a file: the longest listed path that leads to it.
    pub fn of(&self, file: &str) -> Option<&str> {
        let path = file.trim_end_matches(".rs");
        self.names().filter(|room| is_inside(path, room)).max_by_key(|room| room.len())
    }

    /// Names an import that the list does not allow. Unit tests in files of their own import what they need.
    pub fn refuse(&self, edge: &Edge) -> Option<String> {
        let from = self.of(&edge.from)?;
        let to = match &edge.package {
            Some(package) => package,
            None => self.of(&edge.to)?,
        };
        let is_allowed = from == to || self.allowed[from].contains(to) || edge.from.contains("/tests/");
        (!is_allowed).then(|| format!("{from} -> {to}"))
    }

    /// The list as a graph. A room inside another and the one around it may import each other: circles of files are
    /// found in any case.
    pub fn declared(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut graph = self.allowed.clone();
        for (from, rooms) in &mut graph {
            rooms.retain(|to| !is_inside(from, to) && !is_inside(to, from));
        }
        graph
    }
}

fn is_inside(path: &str, room: &str) -> bool {
    path.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The names in backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// A room of the same package by its path, another package by its name.
fn full_name(source: &str, name: &str) -> String {
    if name.contains('-') { name.to_string() } else { format!("{source}{name}") }
}
