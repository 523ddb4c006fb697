//! The system's C and C++ compilers.

use std::env;
use std::path::Path;
use std::process::Command;

/// Runs a compiler, and gives what it prints where it fails.
pub fn run(variable: &str, usual: &str, arguments: &[&str], source: &Path) -> Result<(), String> {
    let program = env::var(variable).unwrap_or_else(|_| usual.into());
    let output = Command::new(&program).args(arguments).arg(source).output().unwrap_or_else(|error| {
        panic!(
            "these tests need a C and a C++ compiler ({program}, or another that {variable} names): {error}"
        )
    });
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
