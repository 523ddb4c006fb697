//! Compiles programs and runs them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The name by which programs look for the library.
pub const SONAME: &str = "libgaudi_kv.so.1";

/// Where cargo puts the library when it builds these tests: beside them.
pub fn library() -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name("libgaudi_kv.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

pub fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The models and vectors of the repository.
pub fn data(path: &str) -> PathBuf {
    package("../tests").join(path)
}

/// Every C file of a folder of `tests/c`, or one file.
pub fn sources(path: &str) -> Vec<PathBuf> {
    let path = package("tests/c").join(path);
    if path.is_file() {
        return vec![path];
    }
    let entries = path.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension() == Some(OsStr::new("c"))).collect();
    files.sort();
    files
}

/// A program, compiled, with the library beside it.
pub struct Program {
    folder: TempDir,
}

impl Program {
    pub fn new(compiler: &str, flags: &[&str], sources: &[PathBuf]) -> Self {
        Self::with(&library(), compiler, flags, sources, &[])
    }

    /// With another build of the library, and what else is linked.
    pub fn with(library: &Path, compiler: &str, flags: &[&str], sources: &[PathBuf], link: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(library, folder.path().join(SONAME)).unwrap();
        let mut command = Command::new(compiler);
        command
            .args(flags)
            .args(["-g", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"])
            .arg(format!("-DPACKAGE_VERSION=\"{}\"", env!("CARGO_PKG_VERSION")))
            .arg(format!("-DHAS_HPU={}", u32::from(cfg!(feature = "hpu"))))
            .arg("-I")
            .arg(package("include"))
            .args(sources)
            // What the library is written in does not matter.
            .args(["-x", "none"])
            .args(link)
            .arg(folder.path().join(SONAME))
            .args(["-lm", "-ldl", "-lrt", "-o"])
            .arg(folder.path().join("program"));
        succeed(&mut command);
        Self { folder }
    }

    pub fn c(path: &str) -> Self {
        Self::new("cc", &["-std=c11"], &sources(path))
    }

    /// The C sources compiled as C++.
    pub fn cpp(path: &str) -> Self {
        Self::new("c++", &["-x", "c++", "-std=c++17"], &sources(path))
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// The command that runs it, under `runner` if there is one.
    pub fn command(&self, runner: &[&str]) -> Command {
        let mut command = match runner {
            [] => Command::new(self.path()),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(self.path());
                command
            }
        };
        command.env("LD_LIBRARY_PATH", self.folder.path()).env_remove("VLLM_SCALE_ADJUSTMENT");
        command
    }
}

/// Runs a command that must succeed.
#[track_caller]
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{}\n{}", output.status, said.0, said.1);
    output
}
