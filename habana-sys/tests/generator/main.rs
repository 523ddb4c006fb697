//! The program that makes the bindings: from the header of this crate it makes what is committed, and from headers
//! laid out as the vendor's are, the same declarations.
//!
//! Needs libclang; without it the tests are counted as ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../common/facts.rs"]
#[allow(dead_code, reason = "the layouts are not used here")]
mod facts;
mod sdk;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::{Arguments, Trial};
use quote::ToTokens as _;
use syn::Item;

/// What the program ends with for want of libclang.
const NO_LIBCLANG: i32 = 3;

fn main() {
    let tests: [(&str, fn()); 5] = [
        ("the_committed_files_are_current", the_committed_files_are_current),
        ("a_difference_is_shown", a_difference_is_shown),
        ("the_vendors_layout_gives_the_same", the_vendors_layout_gives_the_same),
        ("required_functions_must_be_declared", required_functions_must_be_declared),
        ("nothing_is_linked", nothing_is_linked),
    ];
    let missing = generate(&["--check"], None).status.code() == Some(NO_LIBCLANG);
    if missing {
        eprintln!("no libclang: the tests of the generator are ignored");
    }
    let trials = tests.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
        .with_ignored_flag(missing)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit();
}

/// Runs the program, over the vendor's headers where a folder with them is given.
fn generate(arguments: &[&str], sdk: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_generate"));
    command.args(arguments).env_remove("HABANA_INCLUDE_DIR");
    if let Some(folder) = sdk {
        command.env("HABANA_INCLUDE_DIR", folder);
    }
    command.output().unwrap()
}

fn succeeds(output: &Output) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// The items of a file by kind and name, as tokens without comments. Assertions about layouts are items of their own.
fn items(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap();
    let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("///")).collect();
    let mut found = BTreeMap::new();
    for item in syn::parse_file(&code.join("\n")).unwrap().items {
        let tokens = item.to_token_stream().to_string();
        let key = match &item {
            Item::Struct(item) => format!("struct {}", item.ident),
            Item::Union(item) => format!("union {}", item.ident),
            Item::Type(item) => format!("type {}", item.ident),
            Item::Const(item) if item.ident == "_" => {
                let (_, assertions) = tokens.split_once('{').unwrap();
                found.extend(assertions.split(';').filter(|text| text.contains('[')).map(assertion));
                continue;
            }
            Item::Const(item) => format!("const {}", item.ident),
            _ => tokens.clone(),
        };
        found.insert(key, tokens);
    }
    found
}

/// What `["Size of X"][size_of::<X>() - 8]` asserts, and the tokens.
fn assertion(tokens: &str) -> (String, String) {
    (tokens.split('"').nth(1).unwrap().to_owned(), tokens.replace(" ,]", "]").trim().to_owned())
}

fn the_committed_files_are_current() {
    let output = generate(&["--check"], None);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
}

fn a_difference_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    succeeds(&generate(&["--out", out], None));
    succeeds(&generate(&["--check", "--out", out], None));
    let path = folder.path().join("bindings.rs");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("synFail: synStatus = synStatus(26)", "synFail: synStatus = synStatus(27)"),
    )
    .unwrap();
    let output = generate(&["--check", "--out", out], None);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("-    pub const synFail: synStatus = synStatus(27);"), "{shown}");
    assert!(shown.contains("+    pub const synFail: synStatus = synStatus(26);"), "{shown}");
}

fn the_vendors_layout_gives_the_same() {
    let sdk = tempfile::tempdir().unwrap();
    sdk::write(sdk.path());
    let folder = tempfile::tempdir().unwrap();
    succeeds(&generate(&["--out", folder.path().to_str().unwrap()], Some(sdk.path())));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (committed, made) = (items(&own.join("bindings.rs")), items(&folder.path().join("bindings.rs")));
    for (key, item) in &committed {
        // Where a field is inherited, bindgen asserts the size of the whole only.
        if made.contains_key(key) || !key.starts_with("Offset of field: ns_") {
            assert_eq!(made.get(key), Some(item), "{key}");
        }
    }
    let more: Vec<_> = made.keys().filter(|key| !committed.contains_key(*key)).collect();
    assert!(more.is_empty(), "{more:?}");
    let functions = fs::read_to_string(folder.path().join("functions.rs")).unwrap();
    let types = |path: &Path| {
        items(path).into_iter().filter(|(key, _)| key.starts_with("type ")).collect::<BTreeMap<_, _>>()
    };
    let (committed, made) = (types(&own.join("functions.rs")), types(&folder.path().join("functions.rs")));
    assert!(committed.iter().all(|(key, item)| made.get(key) == Some(item)));
    // What the header of this crate does not have is there, and optional.
    assert_eq!(made.len(), committed.len() + 1);
    assert!(functions.contains("pub synNewer: Option<synNewer_fn>"), "{functions}");
    assert!(!functions.contains("Comment of the vendor"), "{functions}");
}

fn required_functions_must_be_declared() {
    let sdk = tempfile::tempdir().unwrap();
    sdk::write(sdk.path());
    let api = sdk.path().join("synapse_api.h");
    let text = fs::read_to_string(&api).unwrap();
    fs::write(&api, text.replace("synStatus synLaunch(", "synStatus syn_launch(")).unwrap();
    let output = generate(&["--check"], Some(sdk.path()));
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("the header lacks functions that are required: synLaunch\n"), "{text}");
}

fn nothing_is_linked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for name in ["bindings.rs", "functions.rs"] {
        let file = syn::parse_file(&fs::read_to_string(folder.join(name)).unwrap()).unwrap();
        assert!(!file.items.iter().any(|item| matches!(item, Item::ForeignMod(_))), "{name}");
    }
}
