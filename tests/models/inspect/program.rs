//! Runs the real program.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// How a run of the program ended.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// The JSON object on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Asserts exit code 2, an empty stdout, and an error that has all of these in it.
    #[track_caller]
    pub fn assert_refused(&self, words: &[&str]) {
        assert_eq!(self.code, 2, "{self:?}");
        assert_eq!(self.stdout, "");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in: {}", self.stderr);
        }
    }
}

/// `gaudi-kv` with an environment that sets nothing it reads.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gaudi-kv"));
    command.env_remove("VLLM_SCALE_ADJUSTMENT").env_remove("RUST_LOG");
    command
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Run {
    Run::of(&command.output().unwrap())
}

/// `gaudi-kv inspect FOLDER --device gaudi2` with further arguments.
pub fn inspect(folder: &Path, arguments: &[&str]) -> Run {
    run(command().arg("inspect").arg(folder).args(["--device", "gaudi2"]).args(arguments))
}

/// `gaudi-kv inspect FOLDER --device gaudi2` with `VLLM_SCALE_ADJUSTMENT` set.
pub fn inspect_with_adjustment(folder: &Path, value: &str, arguments: &[&str]) -> Run {
    run(command()
        .arg("inspect")
        .arg(folder)
        .args(["--json"])
        .args(arguments)
        .env("VLLM_SCALE_ADJUSTMENT", value))
}
