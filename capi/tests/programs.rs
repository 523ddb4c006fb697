//! A C program, and the same as C++, compiled against the header and run with the library.

#![allow(clippy::unwrap_used, reason = "a failure here is the test failing")]

use std::path::Path;
use std::process::Command;

/// Compiles and runs the program, under `runner` if there is one. The compiler is a requirement of the tests.
fn run(compiler: &str, language: &[&str], runner: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Cargo builds the shared library beside the tests.
    let library = std::env::current_exe().unwrap().with_file_name("libgaudi_kv.so");
    assert!(library.is_file(), "{} is missing", library.display());
    let program = folder.path().join("rerange");
    let compiled = Command::new(compiler)
        .args(language)
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(package.join("include"))
        .arg(package.join("tests/programs/rerange.c"))
        // What the library is written in does not matter.
        .args(["-x", "none"])
        .arg(&library)
        .arg("-o")
        .arg(&program)
        .status();
    assert!(compiled.expect("a C and a C++ compiler are needed").success());
    let mut command = match runner {
        [] => Command::new(&program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(&program);
            command
        }
    };
    let output = command.env("LD_LIBRARY_PATH", library.parent().unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(output.stdout, b"fine\n", "{said}");
}

#[test]
fn as_c() {
    run("cc", &["-std=c11"], &[]);
}

#[test]
fn as_cpp() {
    run("c++", &["-x", "c++", "-std=c++20", "-Wno-missing-field-initializers"], &[]);
}

#[test]
#[ignore = "needs valgrind: a few seconds"]
fn under_valgrind() {
    run("cc", &["-std=c11"], &["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=9"]);
}
