//! Finding and loading `libSynapse.so`.

#![allow(
    unsafe_code,
    reason = "loading a library runs its code, and nothing records the types of its functions"
)]

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use crate::Functions;
use crate::symbols::Symbols;

/// The environment variable that names the library.
pub const VARIABLE: &str = "GAUDI_KV_SYNAPSE";

/// The path that the vendor's packages install the library at.
pub const INSTALL_PATH: &str = "/usr/lib/habanalabs/libSynapse.so";

/// The file name that the dynamic loader is asked for last.
const FILE_NAME: &str = "libSynapse.so";

/// A loaded SynapseAI library, and the table of its functions.
///
/// The library stays loaded until the process ends, also when this value is dropped: it runs threads of its own, and
/// function pointers may have been copied out of the table.
#[derive(Debug)]
pub struct Library {
    functions: Functions,
    path: PathBuf,
    origin: Origin,
}

/// The rule that named a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The path given to [`Library::open`].
    Explicit,
    /// The environment variable [`VARIABLE`].
    Variable,
    /// The usual path, [`INSTALL_PATH`].
    InstallPath,
    /// The dynamic loader's own search: `LD_LIBRARY_PATH`, the cache of `ldconfig`, the system's folders.
    LoaderPath,
}

/// The error where no library was loaded: every place looked at, in order, and why it gave none.
#[derive(Debug, thiserror::Error)]
#[error("no SynapseAI library: {}", Listed(attempts))]
pub struct LoadError {
    /// The places, in the order of the search. The last one ended it.
    pub attempts: Vec<Attempt>,
}

/// A place that gave no library.
#[derive(Debug)]
pub struct Attempt {
    /// The rule that named the place.
    pub origin: Origin,
    /// The file that was to be loaded; `None` where the rule named nothing.
    pub candidate: Option<PathBuf>,
    /// Why it was not loaded.
    pub failure: Failure,
}

/// Why a place gave no library.
#[derive(Debug)]
pub enum Failure {
    /// The rule does not apply: no path given, the variable not set, no file at the install path.
    Absent,
    /// The dynamic loader refused the file, for this reason.
    Refused(String),
    /// The library lacks these required functions: all that it lacks.
    Lacks(Vec<&'static str>),
}

impl Library {
    /// Loads the library that the first applicable rule names.
    ///
    /// 1. The `explicit` path.
    /// 2. The path in the environment variable [`VARIABLE`], unless it is empty.
    /// 3. [`INSTALL_PATH`], where there is such a file.
    /// 4. `libSynapse.so` as the dynamic loader finds it.
    ///
    /// A relative path starts at the current folder. The search ends at the first rule that applies: a library that
    /// was asked for, or is installed, and cannot be used is an error, and no other is taken in its place.
    ///
    /// Loading runs the initializers of the library, so the file must be one to trust.
    ///
    /// # Errors
    ///
    /// No rule gives a library that loads and has every function of [`Functions::REQUIRED`]. The error lists what
    /// was tried, why each failed, and all the required functions that are missing.
    pub fn open(explicit: Option<&Path>) -> Result<Library, LoadError> {
        search(explicit, env::var_os(VARIABLE), Path::new(INSTALL_PATH))
    }

    /// The file that was loaded, absolute and with links resolved where the system tells.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rule that named the library.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }
}

impl Deref for Library {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

/// Does the work of [`Library::open`], with what that takes from the process as arguments.
fn search(explicit: Option<&Path>, variable: Option<OsString>, install: &Path) -> Result<Library, LoadError> {
    let variable = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
    let rules = [
        (Origin::Explicit, explicit.map(absolute)),
        (Origin::Variable, variable.as_deref().map(absolute)),
        (Origin::InstallPath, Some(install.to_path_buf())),
        (Origin::LoaderPath, Some(PathBuf::from(FILE_NAME))),
    ];
    let mut attempts = Vec::new();
    for (origin, candidate) in rules {
        let present = |path: &Path| origin != Origin::InstallPath || fs::symlink_metadata(path).is_ok();
        match candidate {
            Some(path) if present(&path) => match load(&path, origin) {
                Ok(library) => return Ok(library),
                Err(failure) => {
                    attempts.push(Attempt { origin, candidate: Some(path), failure });
                    break;
                }
            },
            candidate => attempts.push(Attempt { origin, candidate, failure: Failure::Absent }),
        }
    }
    Err(LoadError { attempts })
}

/// The absolute form of a path, so that the dynamic loader takes it for a file whatever it looks like.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| Path::new(".").join(path))
}

fn load(candidate: &Path, origin: Origin) -> Result<Library, Failure> {
    let handle = open(candidate).map_err(|error| Failure::Refused(reason(&error)))?;
    let mut symbols = Symbols::of(&handle);
    // SAFETY: the types are those of the SynapseAI API, which is what a library of these names exports.
    let found = unsafe { Functions::resolve(&mut symbols) };
    let Some(functions) = found else { return Err(Failure::Lacks(symbols.into_missing())) };
    let path =
        mapped_file(functions.synInitialize as *const () as usize).unwrap_or_else(|| candidate.to_path_buf());
    // Never unloaded, so that the table is good for the life of the process.
    std::mem::forget(handle);
    Ok(Library { functions, path, origin })
}

/// Opens the library with every symbol that it needs itself, and without lending its own to others.
#[cfg(unix)]
fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix;
    // SAFETY: the caller of `Library::open` trusts the file, so its initializers may run; it is never unloaded once
    // in use.
    unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_LOCAL) }.map(Into::into)
}

#[cfg(not(unix))]
fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the caller of `Library::open` trusts the file, so its initializers may run; it is never unloaded once
    // in use.
    unsafe { libloading::Library::new(path) }
}

/// The dynamic loader's own words, which are behind the error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The file that is mapped at an address, where the system has a list of those.
fn mapped_file(address: usize) -> Option<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        let file = rest.find('/').map(|at| PathBuf::from(&rest[at..]))?;
        (start..end).contains(&address).then_some(file)
    })
}

/// Attempts as one line of text.
struct Listed<'a>(&'a [Attempt]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, attempt) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(formatter, "{separator}{attempt}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(path) = &self.candidate else {
            return match self.origin {
                Origin::Variable => write!(formatter, "{VARIABLE} is not set"),
                _ => formatter.write_str("no path given"),
            };
        };
        let path = path.display();
        match &self.failure {
            Failure::Absent => write!(formatter, "{path}: no such file"),
            Failure::Refused(reason) => write!(formatter, "{path} ({}): {reason}", self.origin),
            Failure::Lacks(names) => {
                write!(formatter, "{path} ({}): lacks required functions: {}", self.origin, names.join(", "))
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Origin::Explicit => "the path given",
            Origin::Variable => VARIABLE,
            Origin::InstallPath => "the install path",
            Origin::LoaderPath => "the loader's path",
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn an_installed_library_that_fails_ends_the_search() {
        let folder = tempfile::tempdir().unwrap();
        let install = folder.path().join("libSynapse.so");
        fs::write(&install, "text").unwrap();
        let error = search(None, None, &install).unwrap_err();
        let origins: Vec<_> = error.attempts.iter().map(|attempt| attempt.origin).collect();
        assert_eq!(origins, [Origin::Explicit, Origin::Variable, Origin::InstallPath]);
        let message = error.to_string();
        let start = format!(
            "no SynapseAI library: no path given; GAUDI_KV_SYNAPSE is not set; {} (the install path): ",
            install.display()
        );
        assert!(message.starts_with(&start), "{message}");
    }
}
