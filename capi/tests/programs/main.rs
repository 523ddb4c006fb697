//! Programs in C and C++ that are compiled against the header and run with the library.
//!
//! A C and a C++ compiler are requirements of the tests. What else is missing is reported, and its tests as ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod attention;
mod compiler;
mod documents;
mod exports;
mod golden;
mod install;
mod models;
mod sanitizer;
mod uses;

use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn main() -> ExitCode {
    let optional = ["valgrind", "pkg-config", "cmake"];
    let has = optional.map(is_installed);
    for (program, has) in optional.iter().zip(has) {
        if !has {
            eprintln!("{program} is missing: its tests are ignored");
        }
    }
    let [_, pkg_config, cmake] = has;
    let has_cargo_c = is_installed("cargo-cinstall");
    let test = |name, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    // With `--ignored`: valgrind takes some seconds a program.
    let slow = |name, run| test(name, run).with_ignored_flag(true);
    let trials = vec![
        test("a C program uses everything", uses::everything_as_c),
        test("a C++ program uses everything", uses::everything_as_cpp),
        test("re-ranging as C and as C++", uses::rerange),
        test("a caller of the first version", uses::old_caller),
        test("calls with any arguments return", uses::any_arguments),
        test("several threads", uses::threads),
        slow("valgrind: no memory error in a program that uses everything", uses::everything_under_valgrind),
        slow("valgrind: no memory error with any arguments", uses::any_arguments_under_valgrind),
        slow("helgrind: no data race of readers", uses::readers_under_helgrind),
        slow("helgrind: a data race is found", uses::helgrind_finds_a_race),
        // The library is built anew, which takes some minutes.
        slow("thread sanitizer: no data race, and one is found", sanitizer::threads),
        test("models: JSON and scales as expected", models::all),
        test("golden vectors through codecs", golden::all),
        test("attention gives the bits of the Rust library", attention::all),
        test("a Gaudi gives the same bits", attention::on_a_gaudi)
            .with_ignored_flag(cfg!(not(feature = "hpu"))),
        test("exports are those on record", exports::on_record),
        test("the header declares the exports", exports::declared),
        test("the program uses the exports", exports::used),
        test("the documented program runs", documents::example),
        test("installed files: their layout", install::layout),
        test("installed files: pkg-config", install::pkg_config).with_ignored_flag(!pkg_config),
        test("installed files: CMake", install::cmake).with_ignored_flag(!cmake),
        // Some minutes, and a tool that is to be installed: run with `--ignored`.
        slow("installed files: as cargo-c lays them out", install::cargo_c).with_ignored_flag(!has_cargo_c),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
