//! Which file imports which: each name of a path is followed to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::modules::{Modules, Use};
use crate::workspace::Workspace;

/// A file that names something of another file.
#[derive(Debug, Default)]
pub struct Edge {
    pub from: String,
    /// The defining file.
    pub to: String,
    /// The package of the defining file where it is another.
    pub package: Option<String>,
    /// What is named.
    pub names: BTreeSet<String>,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.names.iter().map(String::as_str).collect();
        write!(f, "{} -> {} ({})", self.from, self.to, names.join(", "))
    }
}

/// The imports of all files.
#[derive(Default)]
pub struct Imports {
    edges: BTreeMap<(String, String), Edge>,
    /// Paths inside the workspace of which no definition was found.
    pub unknown: Vec<String>,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy)]
enum Target {
    Module(usize),
    /// Something that the module defines.
    Item(usize),
    /// Something of a package outside the workspace.
    Outside,
}

impl Imports {
    /// Follows the imports of all modules.
    pub fn read(workspace: &Workspace) -> Self {
        let modules = &workspace.modules;
        let mut imports = Self::default();
        for (index, module) in modules.all.iter().enumerate() {
            for one in &module.uses {
                if one.name == "*" {
                    imports.add_glob(modules, index, one);
                } else if !one.is_public || module.names.contains(&one.name) {
                    imports.add(modules, index, &one.path, true);
                }
            }
            for path in &module.paths {
                imports.add(modules, index, path, false);
            }
        }
        imports
    }

    /// The imports between files, without names.
    pub fn between_files(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in self.edges.keys() {
            graph.entry(from.clone()).or_default().insert(to.clone());
        }
        graph
    }

    /// All imports, one a pair of files.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.values()
    }

    fn add(&mut self, modules: &Modules, from: usize, path: &[String], is_use: bool) {
        match modules.follow(from, path, is_use) {
            Some(Target::Item(to)) => {
                let name =
                    path.iter().find(|name| modules.all[to].defines(name)).unwrap_or(&path[path.len() - 1]);
                self.add_edge(modules, from, to, name);
            }
            Some(Target::Module(_) | Target::Outside) => {}
            None if matches!(path[0].as_str(), "crate" | "super") => {
                self.unknown.push(format!("{}: {}", modules.all[from].file, path.join("::")));
            }
            None => {}
        }
    }

    /// Adds the names of a module that are mentioned where all are imported.
    fn add_glob(&mut self, modules: &Modules, from: usize, one: &Use) {
        let Some(Target::Module(all)) = modules.follow(from, &one.path, true) else { return };
        if one.is_public {
            return;
        }
        for name in &modules.all[from].names {
            if let Some(Target::Item(to)) = modules.look_up(all, name, true, &mut Vec::new()) {
                self.add_edge(modules, from, to, name);
            }
        }
    }

    fn add_edge(&mut self, modules: &Modules, from: usize, to: usize, name: &str) {
        let (from, to) = (&modules.all[from], &modules.all[to]);
        if from.file != to.file {
            let (of_from, of_to) = (&modules.crates[from.krate].package, &modules.crates[to.krate].package);
            let edge = self.edges.entry((from.file.clone(), to.file.clone())).or_default();
            (edge.from, edge.to) = (from.file.clone(), to.file.clone());
            edge.package = (of_from != of_to).then(|| of_to.clone());
            edge.names.insert(name.to_string());
        }
    }
}

impl Modules {
    fn follow(&self, from: usize, path: &[String], is_use: bool) -> Option<Target> {
        self.follow_guarded(from, path, is_use, &mut Vec::new())
    }

    /// Follows a path name by name; `seen` are the names on the way, so that a circle of `use` ends.
    fn follow_guarded(
        &self,
        from: usize,
        path: &[String],
        is_use: bool,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Target> {
        let mut module = from;
        let mut rest = path;
        match path[0].as_str() {
            "crate" => {
                module = self.roots[self.all[from].krate];
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {
                while let ["super", ..] = rest.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                    module = self.all[module].parent?;
                    rest = &rest[1..];
                }
            }
            first => {
                if self.look_up(from, first, path.len() == 1, &mut seen.clone()).is_none() {
                    module = self.outside(from, first)?;
                    rest = &path[1..];
                } else if !is_use && path.len() == 1 {
                    return None;
                }
            }
        }
        let mut target = Target::Module(module);
        for (at, name) in rest.iter().enumerate() {
            let Target::Module(inside) = target else { break };
            target = self.look_up(inside, name, at + 1 == rest.len(), seen)?;
        }
        Some(target)
    }

    /// The outermost module of another package's library.
    fn outside(&self, from: usize, name: &str) -> Option<usize> {
        let krate = self.all[from].krate;
        let package = self.crates[krate].names.get(name)?;
        let library = self.crates.iter().position(|other| other.package == *package && other.is_library)?;
        (library != krate).then(|| self.roots[library])
    }

    /// What a name means in a module. The last name of a path is a definition before it is a module.
    fn look_up(
        &self,
        inside: usize,
        name: &str,
        is_last: bool,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Target> {
        let module = &self.all[inside];
        let child = module.children.get(name).map(|&child| Target::Module(child));
        if is_last && module.items.contains(name) {
            return Some(Target::Item(inside));
        }
        if !is_last && child.is_some() {
            return child;
        }
        if module.items.contains(name) {
            return Some(Target::Item(inside));
        }
        let key = (inside, name.to_string());
        if seen.contains(&key) {
            return child;
        }
        seen.push(key);
        let imported = module.uses.iter().filter(|one| one.name == name).find_map(|one| {
            self.follow_guarded(inside, &one.path, true, seen).or_else(|| self.is_foreign(inside, one))
        });
        let imported = imported.or(child).or_else(|| {
            module.uses.iter().filter(|one| one.name == "*").find_map(|one| {
                match self.follow_guarded(inside, &one.path, true, seen)? {
                    Target::Module(all) if all != inside => self.look_up(all, name, is_last, seen),
                    _ => None,
                }
            })
        });
        seen.pop();
        imported.or_else(|| module.from_macros.contains(name).then_some(Target::Item(inside)))
    }

    /// A name that a `use` takes from a package outside the workspace.
    fn is_foreign(&self, inside: usize, one: &Use) -> Option<Target> {
        let first = one.path[0].as_str();
        let is_ours = matches!(first, "crate" | "super" | "self")
            || self.all[inside].children.contains_key(first)
            || self.crates[self.all[inside].krate].names.contains_key(first);
        (!is_ours).then_some(Target::Outside)
    }
}
