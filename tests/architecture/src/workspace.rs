//! The packages of the workspace and their crates, as Cargo lists them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::files::{relative, repository};
use crate::modules::{Crate, Module, Modules};

/// The modules of all crates that the packages of the workspace build.
pub struct Workspace {
    pub modules: Modules,
}

impl Workspace {
    /// Reads the sources of all packages.
    pub fn read() -> Self {
        let packages = packages();
        let mut modules = Modules::default();
        for package in &packages {
            let names = crate_names(package, &packages);
            for target in package["targets"].as_array().unwrap() {
                let kind = target["kind"][0].as_str().unwrap();
                let is_library = ["lib", "rlib", "cdylib", "staticlib"].contains(&kind);
                if is_library || kind == "bin" {
                    let root = relative(Path::new(target["src_path"].as_str().unwrap()));
                    let package = package["name"].as_str().unwrap().to_string();
                    modules.add_crate(Crate { package, names: names.clone(), is_library }, &root);
                }
            }
        }
        Self { modules }
    }

    /// The source files, once each.
    pub fn sources(&self) -> Vec<String> {
        let mut files: Vec<_> = self.modules.all.iter().map(|Module { file, .. }| file.clone()).collect();
        files.sort();
        files.dedup();
        files
    }
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The names by which a package calls the packages of the workspace, its own library included.
fn crate_names(package: &Value, packages: &[Value]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let name = package["name"].as_str().unwrap();
    names.insert(identifier(name), name.to_string());
    for dependency in package["dependencies"].as_array().unwrap() {
        let name = dependency["name"].as_str().unwrap();
        if packages.iter().any(|package| package["name"] == name) {
            let called = dependency["rename"].as_str().unwrap_or(name);
            names.insert(identifier(called), name.to_string());
        }
    }
    names
}

fn identifier(package: &str) -> String {
    package.replace('-', "_")
}
