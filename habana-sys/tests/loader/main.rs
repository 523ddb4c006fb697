//! Finding and loading the library, with stand-ins for it that are compiled here, so a C compiler is needed.
//!
//! What depends on the environment runs in a process of its own: this program again, which then opens a library and
//! says what it found.

#![allow(unsafe_code, reason = "calls functions of a library")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../common/compiler.rs"]
mod compiler;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use habana_sys::{Failure, Functions, INSTALL_PATH, Library, LoadError, Origin, VARIABLE, synStatus};
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

/// Set in a process that is to open a library; holds the path to give, or nothing.
const PROBE: &str = "HABANA_SYS_PROBE";

fn main() {
    if let Some(path) = env::var_os(PROBE) {
        let explicit = (!path.is_empty()).then(|| Path::new(&path));
        match Library::open(explicit) {
            Ok(library) => println!("{:?} {}", library.origin(), library.path().display()),
            Err(error) => println!("{error}"),
        }
        return;
    }
    let tests: [(&str, fn()); 13] = [
        ("an_explicit_path_is_loaded", an_explicit_path_is_loaded),
        ("a_missing_explicit_path_is_an_error", a_missing_explicit_path_is_an_error),
        ("what_is_no_library_is_an_error", what_is_no_library_is_an_error),
        ("every_missing_function_is_listed", every_missing_function_is_listed),
        ("each_required_function_is_required", each_required_function_is_required),
        ("optional_functions_may_be_missing", optional_functions_may_be_missing),
        ("optional_functions_are_found", optional_functions_are_found),
        ("functions_outlive_the_library", functions_outlive_the_library),
        ("a_relative_path_starts_here", a_relative_path_starts_here),
        ("the_variable_names_the_library", the_variable_names_the_library),
        ("a_wrong_variable_is_an_error", a_wrong_variable_is_an_error),
        ("an_explicit_path_wins", an_explicit_path_wins),
        ("libraries_are_shared_between_threads", libraries_are_shared_between_threads),
    ];
    // With SynapseAI installed, the search ends before it comes here.
    let last: [(&str, fn()); 3] = [
        ("the_loader_is_asked_last", the_loader_is_asked_last),
        ("an_empty_variable_is_none", an_empty_variable_is_none),
        ("every_place_is_listed", every_place_is_listed),
    ];
    let installed = fs::symlink_metadata(INSTALL_PATH).is_ok();
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let last = last.into_iter().map(|test| trial(test).with_ignored_flag(installed));
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().map(trial).chain(last).collect()).exit();
}

/// A library `libSynapse.so` in a folder of its own, whose functions return `synFail`.
fn library<'a>(functions: impl IntoIterator<Item = &'a &'a str>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("library.c");
    let path = folder.path().join("libSynapse.so");
    let bodies = functions.into_iter().map(|name| format!("unsigned {name}(void) {{ return 26; }}\n"));
    fs::write(&source, bodies.collect::<String>()).unwrap();
    compiler::run("CC", "cc", &["-shared", "-fPIC", "-o", path.to_str().unwrap()], &source).unwrap();
    let path = path.canonicalize().unwrap();
    (folder, path)
}

fn required() -> (TempDir, PathBuf) {
    library(Functions::REQUIRED)
}

fn fails(path: &Path) -> LoadError {
    Library::open(Some(path)).unwrap_err()
}

/// What a process with that environment finds.
fn probe(explicit: &Path, variables: &[(&str, &Path)], folder: &Path) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command.env_remove(VARIABLE).env_remove("LD_LIBRARY_PATH").env(PROBE, explicit).current_dir(folder);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn an_explicit_path_is_loaded() {
    let (_folder, path) = required();
    let library = Library::open(Some(&path)).unwrap();
    assert_eq!(library.path(), path);
    assert_eq!(library.origin(), Origin::Explicit);
    // SAFETY: the function of `library` takes nothing.
    assert_eq!(unsafe { (library.synInitialize)() }, synStatus::synFail);
}

fn a_missing_explicit_path_is_an_error() {
    let error = fails(Path::new("/nowhere/libSynapse.so"));
    let [attempt] = &*error.attempts else { panic!("{error}") };
    assert_eq!(attempt.origin, Origin::Explicit);
    assert!(matches!(attempt.failure, Failure::Refused(_)));
    let wanted = "no SynapseAI library: /nowhere/libSynapse.so (the path given): ";
    assert!(error.to_string().starts_with(wanted), "{error}");
    assert!(error.to_string().contains("No such file or directory"), "{error}");
}

fn what_is_no_library_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libSynapse.so");
    fs::write(&path, "text").unwrap();
    let message = fails(&path).to_string();
    assert!(message.contains("file too short") || message.contains("invalid ELF header"), "{message}");
}

fn every_missing_function_is_listed() {
    let (_folder, path) = library(&[]);
    let error = fails(&path);
    let Failure::Lacks(missing) = &error.attempts[0].failure else { panic!("{error}") };
    assert_eq!(missing.iter().collect::<Vec<_>>(), Functions::REQUIRED.iter().collect::<Vec<_>>());
    let message = error.to_string();
    assert!(Functions::REQUIRED.iter().all(|name| message.contains(name)), "{message}");
    let (_folder, path) =
        library(Functions::REQUIRED.iter().filter(|name| !["synLaunch", "synHostFree"].contains(name)));
    let message = fails(&path).to_string();
    assert!(message.ends_with("lacks required functions: synLaunch, synHostFree"), "{message}");
}

fn each_required_function_is_required() {
    for omitted in
        ["synInitialize", "synTensorRetrieveIds", "synMemsetD8Async", "synStatusGetBriefDescription"]
    {
        let (_folder, path) = library(Functions::REQUIRED.iter().filter(|name| **name != omitted));
        let error = fails(&path);
        assert!(
            matches!(&error.attempts[0].failure, Failure::Lacks(names) if **names == [omitted]),
            "{error}"
        );
    }
}

fn optional_functions_may_be_missing() {
    let (_folder, path) = required();
    let library = Library::open(Some(&path)).unwrap();
    assert!(library.synDeviceGetModuleIDs.is_none());
    assert!(library.synSectionSetConst.is_none());
    assert!(library.synProfilerStart.is_none());
}

fn optional_functions_are_found() {
    let (_folder, path) = library(Functions::REQUIRED.iter().chain(Functions::OPTIONAL));
    let library = Library::open(Some(&path)).unwrap();
    assert!(library.synDeviceGetModuleIDs.is_some());
    // SAFETY: the functions of `library` ignore what they are given.
    assert_eq!(unsafe { (library.synGraphInferShapes.unwrap())(std::ptr::null_mut()) }, synStatus::synFail);
}

fn functions_outlive_the_library() {
    let (_folder, path) = required();
    let initialize = Library::open(Some(&path)).unwrap().synInitialize;
    // SAFETY: the function takes nothing, and libraries stay loaded.
    assert_eq!(unsafe { initialize() }, synStatus::synFail);
}

fn libraries_are_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Library>();
    shared::<LoadError>();
}

fn a_relative_path_starts_here() {
    let (folder, path) = required();
    let found = probe(Path::new("libSynapse.so"), &[], folder.path());
    assert_eq!(found, format!("Explicit {}", path.display()));
}

fn the_variable_names_the_library() {
    let (folder, path) = required();
    let found = probe(Path::new(""), &[(VARIABLE, &path)], folder.path());
    assert_eq!(found, format!("Variable {}", path.display()));
    let found = probe(Path::new(""), &[(VARIABLE, Path::new("./libSynapse.so"))], folder.path());
    assert_eq!(found, format!("Variable {}", path.display()));
}

fn a_wrong_variable_is_an_error() {
    let (folder, _) = required();
    let variables = [(VARIABLE, Path::new("/nowhere/libSynapse.so")), ("LD_LIBRARY_PATH", folder.path())];
    let found = probe(Path::new(""), &variables, folder.path());
    let wanted = "no SynapseAI library: no path given; /nowhere/libSynapse.so (GAUDI_KV_SYNAPSE): ";
    assert!(found.starts_with(wanted) && !found.contains("loader's path"), "{found}");
}

fn an_explicit_path_wins() {
    let (folder, path) = required();
    let (_other, variable) = library(&[]);
    let found = probe(&path, &[(VARIABLE, &variable)], folder.path());
    assert_eq!(found, format!("Explicit {}", path.display()));
}

fn the_loader_is_asked_last() {
    let (folder, path) = required();
    let found = probe(Path::new(""), &[("LD_LIBRARY_PATH", folder.path())], Path::new("/"));
    assert_eq!(found, format!("LoaderPath {}", path.display()));
}

fn an_empty_variable_is_none() {
    let (folder, path) = required();
    let variables = [(VARIABLE, Path::new("")), ("LD_LIBRARY_PATH", folder.path())];
    assert_eq!(probe(Path::new(""), &variables, Path::new("/")), format!("LoaderPath {}", path.display()));
}

fn every_place_is_listed() {
    let (folder, _) = library(&[]);
    let places = "no SynapseAI library: no path given; GAUDI_KV_SYNAPSE is not set; \
                  /usr/lib/habanalabs/libSynapse.so: no such file; libSynapse.so (the loader's path): ";
    let found = probe(Path::new(""), &[("LD_LIBRARY_PATH", folder.path())], Path::new("/"));
    assert!(found.starts_with(&format!("{places}lacks required functions: ")), "{found}");
    let found = probe(Path::new(""), &[], Path::new("/"));
    assert!(found.starts_with(places), "{found}");
}
