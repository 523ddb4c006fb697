//! Programs that check by themselves, and say that all is fine.

use crate::compiler::{Program, data, sources, succeed};

/// The threads of the library live as long as the process, and what they stand on is possibly lost.
const VALGRIND: [&str; 6] = [
    "valgrind",
    "--quiet",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite,indirect",
    "--show-leak-kinds=definite,indirect",
    "--error-exitcode=9",
];
const HELGRIND: [&str; 4] = ["valgrind", "--tool=helgrind", "--quiet", "--error-exitcode=9"];

#[track_caller]
fn is_fine(program: &Program, runner: &[&str], arguments: &[&str]) {
    let output = succeed(program.command(runner).args(arguments));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fine\n");
}

fn models() -> String {
    data("data").display().to_string()
}

pub fn everything_as_c() {
    is_fine(&Program::c("everything"), &[], &[&models()]);
}

pub fn everything_as_cpp() {
    is_fine(&Program::cpp("everything"), &[], &[&models()]);
}

pub fn everything_under_valgrind() {
    is_fine(&Program::c("everything"), &VALGRIND, &[&models()]);
}

pub fn rerange() {
    is_fine(&Program::c("rerange.c"), &[], &[]);
    let flags = ["-x", "c++", "-std=c++20", "-Wno-missing-field-initializers"];
    is_fine(&Program::new("c++", &flags, &sources("rerange.c")), &[], &[]);
}

pub fn old_caller() {
    is_fine(&Program::c("old_caller.c"), &[], &[&data("data/llmc-gqa-kv").display().to_string()]);
}

pub fn version_1() {
    Program::c("abi_1.c");
}

pub fn any_arguments() {
    let program = Program::c("any_arguments.c");
    for seed in 1..=20 {
        is_fine(&program, &[], &[&seed.to_string(), "3000", &models()]);
    }
}

pub fn any_arguments_under_valgrind() {
    is_fine(&Program::c("any_arguments.c"), &VALGRIND, &["21", "1000", &models()]);
}

pub fn threads() {
    is_fine(&Program::c("threads.c"), &[], &["all", &models()]);
}

pub fn large_decodes_and_a_writer() {
    is_fine(&Program::c("threads.c"), &[], &["large", &models()]);
}

pub fn after_a_fork() {
    is_fine(&Program::c("threads.c"), &[], &["fork", &models()]);
}

/// Helgrind sees every access of the library to memory, but not the locks of Rust: so nothing is written meanwhile, and
/// what is shared out to threads of the library, inspections and attention, is left to the other runs.
pub fn readers_under_helgrind() {
    is_fine(&Program::c("threads.c"), &HELGRIND, &["read", &models()]);
}

/// The library writes to memory that several threads lend it at a time, which no caller may do.
pub fn helgrind_finds_a_race() {
    let program = Program::c("threads.c");
    let output = program.command(&HELGRIND).args(["race", &models()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(9), "{said}");
    assert!(said.contains("Possible data race") && said.contains("gaudi_kv_"), "{said}");
}
