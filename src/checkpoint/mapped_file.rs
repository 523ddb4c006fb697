//! A file mapped into memory, read only.

#![allow(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::{CheckpointError, json::open_regular};

/// A regular file mapped into memory. Pages are read when they are touched, so mapping a shard of many gigabytes to
/// read its header costs the header only.
#[derive(Debug)]
pub(crate) struct MappedFile {
    path: PathBuf,
    file: File,
    map: Mmap,
}

impl MappedFile {
    /// Maps a regular file; an empty one maps to no bytes.
    pub(crate) fn open(path: &Path) -> Result<Self, CheckpointError> {
        let file = open_regular(path)?;
        // SAFETY: The mapping is read only, and nothing in this process writes to a model folder that it has open. What
        // remains is another process. One that shortens the file makes a page past its new end raise SIGBUS, which ends
        // the process and cannot corrupt it. One that writes in place, which no tool does to a finished checkpoint, changes
        // plain bytes under us: they are only ever read as `u8`, of which every value is valid, and whatever must stay
        // as it was checked (the header's text, a scale's number) is copied out first.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| CheckpointError::io(path, e))?;
        Ok(Self { path: path.to_owned(), file, map })
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole content.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// The open file, for reads that should not go through the mapping.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}
