//! Several threads over a library that is built with the thread sanitizer.
//!
//! The standard library is not built with it, so the sanitizer does not see how that waits: the locks of caches are
//! taken otherwise in this build, and what the library shares out to threads of its own is left to the other runs.

use std::path::PathBuf;
use std::process::Command;

use crate::compiler::{Program, data, package, sources, succeed};

const TARGET: &str = "x86_64-unknown-linux-gnu";
/// What a program ends with that has a data race.
const RACE: i32 = 66;

/// Builds the library; the flags are those of an unstable feature.
fn library() -> PathBuf {
    let folder = package("../target/thread-sanitizer");
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(package("."))
        .args(["rustc", "--lib", "--crate-type", "cdylib", "--profile", "test", "--target", TARGET])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("GAUDI_KV_THREAD_SANITIZER", "1")
        .env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer")
        .env("CARGO_TARGET_DIR", &folder);
    succeed(&mut command);
    folder.join(TARGET).join("debug/deps/libgaudi_kv.so")
}

/// What the sanitizer consists of, which the program brings along.
fn runtime() -> String {
    let sysroot = succeed(Command::new("rustc").args(["--print", "sysroot"])).stdout;
    let sysroot = String::from_utf8(sysroot).unwrap();
    format!("{}/lib/rustlib/{TARGET}/lib/librustc-stable_rt.tsan.a", sysroot.trim())
}

pub fn threads() {
    let (library, runtime) = (library(), runtime());
    let link = ["-Wl,--whole-archive", &runtime, "-Wl,--no-whole-archive", "-Wl,--export-dynamic"];
    let program = Program::with(&library, "cc", &["-std=c11"], &sources("threads.c"), &link);
    let models = data("data");
    for work in ["read", "change"] {
        assert_eq!(succeed(program.command(&[]).arg(work).arg(&models)).stdout, b"fine\n", "{work}");
    }
    let output = program.command(&[]).arg("race").arg(&models).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(RACE), "{said}");
    assert!(said.contains("data race") && said.contains("gaudi_kv_cache_write_mha"), "{said}");
}
