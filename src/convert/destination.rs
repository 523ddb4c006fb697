//! Where the result goes, checked before anything is read.

use std::fs;
use std::path::{Path, PathBuf};

use super::ConvertError;
use super::work_folder::{WorkFolder, exists};
use crate::checkpoint::CheckpointError;

/// Source and destination, without links and dots.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) source: PathBuf,
    /// The destination itself may be a link; only what is before its name is resolved.
    pub(super) path: PathBuf,
}

impl Destination {
    /// Refuses a destination that exists, is the source or lies in it, unless `force` is given; and one that holds the
    /// source, which would be lost with it.
    pub(super) fn check(source: &Path, destination: &Path, force: bool) -> Result<Self, ConvertError> {
        let real = |path: &Path| fs::canonicalize(path);
        let source = real(source).map_err(|e| CheckpointError::io(source, e))?;
        let Some(name) = destination.file_name() else {
            return Err(ConvertError::destination(
                destination,
                "has no name; give the path of a folder to be",
            ));
        };
        let parent = match destination.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let parent = real(parent).map_err(|e| ConvertError::io("find the folder", parent, e))?;
        let path = parent.join(name);
        let there = real(&path).unwrap_or_else(|_| path.clone());
        let refuse = |reason: &str| Err(ConvertError::destination(destination, reason));
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
        Ok(Self { source, path })
    }
}
