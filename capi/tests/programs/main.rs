//! Programs in C and C++ that are compiled against the header and run with the library.
//!
//! A C and a C++ compiler are requirements of the tests. Where another program is missing, its tests count as ignored.

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

use libtest_mimic::{Arguments, Completion, Trial};

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn test(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

/// A test that counts as ignored where a program is missing.
fn with(program: &'static str, name: &str, run: fn()) -> Trial {
    Trial::ignorable_test(name, move || {
        if !is_installed(program) {
            return Ok(Completion::ignored_with(format!("{program} is missing")));
        }
        run();
        Ok(Completion::Completed)
    })
}

fn main() -> ExitCode {
    // With `--ignored`: valgrind takes some seconds a program, the two that build the library anew take minutes.
    let slow = |trial: Trial| trial.with_ignored_flag(true);
    let trials = vec![
        test("a C program uses everything", uses::everything_as_c),
        test("a C++ program uses everything", uses::everything_as_cpp),
        test("re-ranging as C and as C++", uses::rerange),
        test("a caller of the first version", uses::old_caller),
        test("structures and constants of the first version", uses::version_1),
        test("calls with any arguments return", uses::any_arguments),
        test("several threads", uses::threads),
        test("large decodes while another thread writes", uses::large_decodes_and_a_writer),
        test("a forked process", uses::after_a_fork),
        slow(with(
            "valgrind",
            "valgrind: no memory error in a program that uses everything",
            uses::everything_under_valgrind,
        )),
        slow(with(
            "valgrind",
            "valgrind: no memory error with any arguments",
            uses::any_arguments_under_valgrind,
        )),
        slow(with("valgrind", "helgrind: no data race of readers", uses::readers_under_helgrind)),
        slow(with("valgrind", "helgrind: a data race is found", uses::helgrind_finds_a_race)),
        slow(test("thread sanitizer: no data race, and one is found", sanitizer::threads)),
        test("models: JSON and scales as expected", models::all),
        test("models: an error names file, tensor and layer", models::blamed),
        test("golden vectors through codecs", golden::all),
        test("attention gives the bits of the Rust library", attention::all),
        test("a Gaudi gives the same bits", attention::on_a_gaudi)
            .with_ignored_flag(cfg!(not(feature = "hpu"))),
        test("exports are those on record", exports::on_record),
        test("the header declares the exports", exports::declared),
        test("the program uses the exports", exports::used),
        test("the documented program runs", documents::example),
        test("installed files: their layout", install::layout),
        with("pkg-config", "installed files: pkg-config", install::pkg_config),
        with("cmake", "installed files: CMake", install::cmake),
        slow(with("cargo-cinstall", "installed files: as cargo-c lays them out", install::cargo_c)),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
