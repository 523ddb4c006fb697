//! Where the result goes, checked before anything is read.

use std::fs;
use std::path::{Path, PathBuf};

use super::RewriteError;
use super::work_folder::{WorkFolder, exists};
use crate::checkpoint::CheckpointError;

/// Source and destination, without links and dots.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) source: PathBuf,
    /// The destination itself may be a link; only what is before its name is resolved.
    pub(crate) path: PathBuf,
}

impl Destination {
    /// Refuses a destination that exists, is the source or lies in it, unless `force` is given; one that holds the
    /// source, which would be lost with it; and, whatever is given, one that exists and is neither a model folder nor an
    /// empty one.
    pub(crate) fn check(source: &Path, destination: &Path, force: bool) -> Result<Self, RewriteError> {
        let real = |path: &Path| fs::canonicalize(path);
        let source = real(source).map_err(|e| CheckpointError::io(source, e))?;
        let Some(name) = destination.file_name() else {
            return Err(RewriteError::destination(
                destination,
                "has no name; give the path of a folder to be",
            ));
        };
        let parent = match destination.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let parent = real(parent).map_err(|e| RewriteError::io("find the folder", parent, e))?;
        let path = parent.join(name);
        let there = real(&path).unwrap_or_else(|_| path.clone());
        let refuse = |reason: &str| Err(RewriteError::destination(destination, reason));
        if source != path && source.starts_with(&path) {
            return refuse("holds the source, which would be lost with it; choose another place");
        }
        if !force {
            if source == there {
                return refuse("is the source; --force replaces it once the new one is complete");
            }
            if path.starts_with(&source) || there.starts_with(&source) {
                return refuse("lies in the source; choose another place, or --force");
            }
            if fs::symlink_metadata(&path).is_ok() {
                WorkFolder::remove_leftover(&path)?;
                return Err(exists(destination));
            }
        }
        // A slip in a path must not cost anything else.
        if fs::symlink_metadata(&path).is_ok() && !is_replaceable(&path) {
            return refuse("is no model folder, and --force replaces nothing else; remove it first");
        }
        Ok(Self { source, path })
    }

    /// Whether the result is to replace its own source.
    pub(crate) fn is_source(&self) -> bool {
        self.path == self.source
    }
}

/// A folder itself, no link to one, that holds a model's config or nothing.
fn is_replaceable(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let has_config = || ["config.json", "params.json"].iter().any(|name| path.join(name).is_file());
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    is_folder && (has_config() || is_empty())
}
