//! Programs in C and C++ that are compiled against the header, linked with `-lSynapse`, and run.
//!
//! Needs `cc` and `c++`, and for its memory checks `valgrind`. What is missing is reported, and its tests as ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use object::{Object as _, ObjectSymbol as _};

/// What no program takes.
const TIMEOUT: Duration = Duration::from_secs(120);
/// What the programs end with after a call that failed.
const CALL_FAILED: i32 = 2;
/// What valgrind ends with after an error of memory.
const MEMORY_ERROR: i32 = 99;

/// Where `cargo` puts the library when it builds these tests: beside them.
fn library() -> PathBuf {
    env::current_exe().unwrap().with_file_name("libSynapse.so")
}

fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A program of `tests/programs`, compiled.
struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    fn new(compiler: &str, standard: &str, source: &str) -> Result<Self, Failed> {
        let folder = tempfile::tempdir()?;
        let output = Command::new(compiler)
            .args([standard, "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"])
            .arg("-I")
            .arg(package("../habana-sys/include"))
            .arg(package("tests/programs").join(source))
            .arg("-L")
            .arg(library().parent().unwrap())
            .arg("-lSynapse")
            .arg("-o")
            .arg(folder.path().join("program"))
            .output()?;
        if output.status.success() { Ok(Self { folder }) } else { Err(said(&output).into()) }
    }

    fn c(source: &str) -> Result<Self, Failed> {
        Self::new("cc", "-std=c11", source)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// Runs it, under `valgrind` where that is asked for, with variables set.
    fn run(
        &self,
        under_valgrind: bool,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Output, Failed> {
        let mut command = Command::new(if under_valgrind { "valgrind".into() } else { self.path() });
        if under_valgrind {
            command
                .args(["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"])
                .args(["--show-leak-kinds=definite,indirect", &format!("--error-exitcode={MEMORY_ERROR}")])
                .arg(self.path());
        }
        for (variable, _) in env::vars_os() {
            if variable.to_string_lossy().starts_with("SYNAPSE_EMU_") {
                command.env_remove(variable);
            }
        }
        command
            .args(arguments)
            .env("LD_LIBRARY_PATH", library().parent().unwrap())
            .envs(variables.iter().copied());
        let (out, errors) = (self.folder.path().join("out"), self.folder.path().join("errors"));
        let mut process =
            command.stdout(fs::File::create(&out)?).stderr(fs::File::create(&errors)?).spawn()?;
        let start = Instant::now();
        let status = loop {
            match process.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() > TIMEOUT => {
                    process.kill()?;
                    process.wait()?;
                    return Err(format!("it hangs with {variables:?}").into());
                }
                None => sleep(Duration::from_millis(2)),
            }
        };
        Ok(Output { status, stdout: fs::read(out)?, stderr: fs::read(errors)? })
    }
}

fn said(output: &Output) -> String {
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}\n{out}{errors}", output.status)
}

fn expect(output: &Output, words: &str) -> Result<(), Failed> {
    let is_right = output.status.success() && String::from_utf8_lossy(&output.stdout).contains(words);
    if is_right { Ok(()) } else { Err(said(output).into()) }
}

fn gemm() -> Result<(), Failed> {
    expect(&Program::c("gemm.c")?.run(false, &[], &[])?, "gemm 5 x 40 x 7: right")
}

fn gemm_fast() -> Result<(), Failed> {
    expect(&Program::c("gemm.c")?.run(false, &[], &[("SYNAPSE_EMU_MODE", "fast")])?, "right")
}

fn cache() -> Result<(), Failed> {
    expect(&Program::new("c++", "-std=c++17", "cache.cpp")?.run(false, &[], &[])?, "cache round trip: right")
}

fn fuzz() -> Result<(), Failed> {
    let program = Program::c("fuzz.c")?;
    (1..=20).try_for_each(|seed| expect(&program.run(false, &[&format!("{seed}")], &[])?, "calls succeeded"))
}

fn symbols() -> Result<(), Failed> {
    let file = fs::read(library())?;
    let object = object::File::parse(file.as_slice())?;
    let exported: BTreeSet<_> = object
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    let list = fs::read_to_string(package("tests/programs/functions.txt"))?;
    let functions: BTreeSet<_> = list.lines().collect();
    assert_eq!(functions.len(), 145);
    if exported == functions {
        return Ok(());
    }
    let missing: Vec<_> = functions.difference(&exported).collect();
    let more: Vec<_> = exported.difference(&functions).collect();
    Err(format!("missing: {missing:?}; not of the API: {more:?}").into())
}

/// How many calls the program makes after `synInitialize`.
fn count_calls(program: &Program) -> Result<usize, Failed> {
    let trace = program.folder.path().join("trace");
    expect(&program.run(false, &[], &[("SYNAPSE_EMU_TRACE", trace.to_str().unwrap())])?, "right")?;
    let calls = fs::read_to_string(trace)?;
    Ok(calls.lines().filter(|line| !line.starts_with("synInitialize ")).count())
}

fn each_call_fails(under_valgrind: bool) -> Result<(), Failed> {
    let program = Program::c("gemm.c")?;
    let calls = count_calls(&program)?;
    assert!(calls > 40, "{calls}");
    for call in 1..=calls {
        let output =
            program.run(under_valgrind, &[], &[("SYNAPSE_EMU_FAULT", &format!("fail-call={call}"))])?;
        if output.status.code() != Some(CALL_FAILED) {
            return Err(format!("call {call} of {calls} fails: {}", said(&output)).into());
        }
    }
    // Beyond the last call nothing fails.
    expect(
        &program.run(under_valgrind, &[], &[("SYNAPSE_EMU_FAULT", &format!("fail-call={}", calls + 1))])?,
        "right",
    )
}

fn gemm_under_valgrind() -> Result<(), Failed> {
    expect(&Program::c("gemm.c")?.run(true, &[], &[])?, "right")
}

fn cache_under_valgrind() -> Result<(), Failed> {
    expect(&Program::new("c++", "-std=c++17", "cache.cpp")?.run(true, &[], &[])?, "right")
}

fn main() -> ExitCode {
    let has = ["cc", "c++", "valgrind"].map(is_installed);
    for (program, has) in ["cc", "c++", "valgrind"].iter().zip(has) {
        if !has {
            eprintln!("{program} is missing: its tests are ignored");
        }
    }
    let [c, cpp, valgrind] = has;
    let trials = vec![
        Trial::test("the library exports the functions of the API", symbols),
        Trial::test("a C program multiplies in bfloat16", gemm).with_ignored_flag(!c),
        Trial::test("a C program multiplies in the fast mode", gemm_fast).with_ignored_flag(!c),
        Trial::test("a C++ program reads back from an FP8 cache", cache).with_ignored_flag(!cpp),
        Trial::test("calls with any arguments return", fuzz).with_ignored_flag(!c),
        Trial::test("each call fails in turn", || each_call_fails(false)).with_ignored_flag(!c),
        Trial::test("no memory error in the C program", gemm_under_valgrind)
            .with_ignored_flag(!(c && valgrind)),
        Trial::test("no memory error in the C++ program", cache_under_valgrind)
            .with_ignored_flag(!(cpp && valgrind)),
        // Some minutes: run with `--ignored`.
        Trial::test("no memory error when each call fails in turn", || each_call_fails(true))
            .with_ignored_flag(true),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
