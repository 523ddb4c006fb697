//! A folder that appears whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::CalibrateError;
use crate::checkpoint::CheckpointError;

/// A folder that is filled under a hidden name beside the one that it will have. It is removed unless it is
/// [put in place](Self::publish).
#[derive(Debug)]
pub(super) struct Destination {
    path: PathBuf,
    hidden: PathBuf,
    replaced: PathBuf,
    is_forced: bool,
    is_published: bool,
}

impl Destination {
    /// Makes the hidden folder. `source` is the model's folder; neither may lie inside the other.
    pub(super) fn create(path: &Path, source: &Path, is_forced: bool) -> Result<Self, CalibrateError> {
        let fail =
            |reason: &str| CalibrateError::Destination { path: path.to_owned(), reason: reason.to_owned() };
        let io = |path: &Path, e| CheckpointError::io(path, e);
        let Some(name) = path.file_name() else { return Err(fail("has no name of its own")) };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = fs::canonicalize(parent).map_err(|e| io(parent, e))?;
        let source = fs::canonicalize(source).map_err(|e| io(source, e))?;
        let whole = parent.join(name);
        let resolved = fs::canonicalize(&whole).unwrap_or_else(|_| whole.clone());
        if resolved == source {
            return Err(fail("is the model itself"));
        }
        if resolved.starts_with(&source) || source.starts_with(&resolved) {
            return Err(fail("lies inside the model's folder, or around it"));
        }
        if let Ok(metadata) = fs::symlink_metadata(&whole) {
            if !is_forced {
                return Err(fail("exists; --force replaces a model folder"));
            }
            let is_model = metadata.is_dir() && (whole.join("config.json").is_file() || is_empty(&whole));
            if !is_model {
                return Err(fail("is no model folder, so --force does not replace it"));
            }
        }
        let beside = |what: &str| {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{what}-{}", std::process::id()));
            parent.join(hidden)
        };
        let (hidden, replaced) = (beside("new"), beside("old"));
        fs::create_dir(&hidden).map_err(|e| io(&hidden, e))?;
        Ok(Self { path: whole, hidden, replaced, is_forced, is_published: false })
    }

    /// Where to write.
    pub(super) fn hidden(&self) -> &Path {
        &self.hidden
    }

    /// Gives the folder its name; what had it is removed where that was asked for, and an error else.
    pub(super) fn publish(mut self) -> Result<(), CalibrateError> {
        let io = |path: &Path, e| CheckpointError::io(path, e);
        let has_old = self.is_forced && fs::symlink_metadata(&self.path).is_ok();
        if has_old {
            fs::rename(&self.path, &self.replaced).map_err(|e| io(&self.path, e))?;
        }
        if let Err(error) = fs::rename(&self.hidden, &self.path) {
            if has_old {
                fs::rename(&self.replaced, &self.path).map_err(|e| io(&self.replaced, e))?;
            }
            return Err(io(&self.path, error).into());
        }
        self.is_published = true;
        if has_old {
            fs::remove_dir_all(&self.replaced).map_err(|e| io(&self.replaced, e))?;
        }
        Ok(())
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

impl Drop for Destination {
    fn drop(&mut self) {
        if !self.is_published {
            // Nothing more can be done for a folder that cannot be removed; the error that led here is reported.
            let _ = fs::remove_dir_all(&self.hidden);
        }
    }
}
