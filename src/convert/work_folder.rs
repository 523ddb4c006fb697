//! The folder in which a result grows before it appears.
//!
//! It is a hidden neighbour of the destination, `.NAME.gaudi-kv-partial`:
//!
//! ```text
//! tree/          the result; a file is in it when it is complete
//! state/         a record of each finished file, and files that are being written
//! settings.json  what the conversion was asked for
//! lock, lock-I   held by the processes that work on it
//! ```
//!
//! The last step renames `tree` to the destination, which a file system does all at once. A process that is killed
//! leaves the folder for the next run; its locks go with it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use tracing::{debug, warn};

use super::{ConvertError, Factor, Part};

/// What all processes that work on one result must agree on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) version: String,
    pub(super) to: String,
    pub(super) factor: Factor,
    pub(super) part_count: usize,
}

/// The folder, locked.
#[derive(Debug)]
pub(super) struct WorkFolder {
    root: PathBuf,
    destination: PathBuf,
    is_shared: bool,
    /// Released when they are dropped.
    _locks: Vec<File>,
}

impl WorkFolder {
    /// Where it is for a destination.
    pub(super) fn place(destination: &Path) -> PathBuf {
        let mut name = std::ffi::OsString::from(".");
        name.push(destination.file_name().unwrap_or_default());
        name.push(".gaudi-kv-partial");
        destination.with_file_name(name)
    }

    /// Creates the folder, or takes up the one that an earlier run left, and locks it. One that was left by a
    /// conversion with other settings is emptied.
    pub(super) fn open(
        destination: &Path,
        settings: &Settings,
        part: Option<Part>,
    ) -> Result<Self, ConvertError> {
        let root = Self::place(destination);
        let locks = lock(&root, part)?;
        let folder =
            Self { root, destination: destination.to_owned(), is_shared: part.is_some(), _locks: locks };
        match folder.prepare(settings) {
            Ok(()) => Ok(folder),
            Err(error) => Err(folder.give_up(error)),
        }
    }

    fn prepare(&self, settings: &Settings) -> Result<(), ConvertError> {
        let path = self.root.join("settings.json");
        let found: Option<Settings> =
            fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        match found {
            Some(found) if found == *settings => {
                debug!(folder = %self.root.display(), "taking up an earlier run")
            }
            Some(_) if self.is_shared => {
                let reason = format!(
                    "{} holds a conversion with other options; finish it or remove that folder",
                    self.root.display()
                );
                return Err(ConvertError::destination(&self.destination, reason));
            }
            _ => {
                if !self.is_shared {
                    remove(&self.tree())?;
                    remove(&self.state())?;
                }
                let fail = |e| ConvertError::io("write", &path, e);
                let text = serde_json::to_vec(settings).map_err(|e| fail(e.into()))?;
                let new = self.root.join(format!("settings.{}.new", std::process::id()));
                fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(fail)?;
            }
        }
        for folder in [self.tree(), self.state()] {
            make_folder(&folder)?;
        }
        Ok(())
    }

    /// The result so far.
    pub(super) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    /// Records, and files that are being written.
    pub(super) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// Waits until no other process finishes this result. `None` where one has.
    pub(super) fn lock_for_finish(&self) -> Result<Option<File>, ConvertError> {
        let path = self.root.join("lock-finish");
        let fail = |e| ConvertError::io("lock", &path, e);
        let file = match File::options().create(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        file.lock().map_err(fail)?;
        let is_open = is_at(&file, &path).map_err(fail)? && self.tree().exists();
        Ok(is_open.then_some(file))
    }

    /// Makes the result appear under the destination's name, and removes what was there and this folder.
    pub(super) fn publish(self, force: bool, sync: bool) -> Result<(), ConvertError> {
        let (tree, destination) = (self.tree(), &self.destination);
        let is_there = fs::symlink_metadata(destination).is_ok();
        let fail =
            |error: Errno| ConvertError::io("rename the finished result to", destination, error.into());
        if is_there && force {
            // What is exchanged for the result must not be taken for a part of it by a later run.
            remove(&self.state())?;
            renameat_with(CWD, &tree, CWD, destination, RenameFlags::EXCHANGE).map_err(|error| match error {
                Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => {
                    let reason = "exists, and this file system cannot exchange two folders in one step; remove it first";
                    ConvertError::destination(destination, reason)
                }
                other => fail(other),
            })?;
        } else {
            match renameat_with(CWD, &tree, CWD, destination, RenameFlags::NOREPLACE) {
                Ok(()) => {}
                // A plain rename replaces nothing but an empty folder.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if !is_there => {
                    fs::rename(&tree, destination)
                        .map_err(|e| ConvertError::io("rename the finished result to", destination, e))?;
                }
                Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    return Err(exists(destination));
                }
                Err(other) => return Err(fail(other)),
            }
        }
        if sync && let Some(parent) = destination.parent() {
            sync_folder(parent)?;
        }
        // The result is there. What cannot be removed now is no reason to call it failed.
        if let Err(error) = remove(&self.root) {
            warn!(folder = %self.root.display(), %error, "the work folder could not be removed");
        }
        Ok(())
    }

    /// What becomes of the folder after an error: it goes, unless a second run could go on from it, or others work in it.
    pub(super) fn give_up(self, error: ConvertError) -> ConvertError {
        if self.is_shared || error.keeps_finished_files() {
            return match error {
                ConvertError::NoSpace { path, source, .. } => {
                    ConvertError::NoSpace { path, source, kept: Some(self.root) }
                }
                other => other,
            };
        }
        if let Err(error) = remove(&self.root) {
            warn!(folder = %self.root.display(), %error, "the work folder could not be removed");
        }
        error
    }

    /// Removes what a run that was killed after its result had appeared left behind.
    pub(super) fn remove_leftover(destination: &Path) -> Result<(), ConvertError> {
        let root = Self::place(destination);
        let is_finished = |root: &Path| !root.join("tree").exists() || !root.join("state").exists();
        if root.join("settings.json").exists() && is_finished(&root) {
            let _locks = lock(&root, None)?;
            remove(&root)?;
        }
        Ok(())
    }
}

/// Refuses a destination that exists.
pub(super) fn exists(destination: &Path) -> ConvertError {
    ConvertError::destination(destination, "exists; --force replaces it once the new one is complete")
}

/// Creates the folder where it is not there and locks it: for this process alone, or, where several share the work,
/// together with them and each share for one process.
fn lock(root: &Path, part: Option<Part>) -> Result<Vec<File>, ConvertError> {
    loop {
        make_folder(root)?;
        let path = root.join("lock");
        let fail = |e| ConvertError::io("lock", &path, e);
        let file = match File::options().create(true).read(true).append(true).open(&path) {
            Ok(file) => file,
            // Another process has just finished and removed the folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(fail(error)),
        };
        taken(if part.is_some() { file.try_lock_shared() } else { file.try_lock() }, root)?;
        if !is_at(&file, &path).map_err(fail)? {
            continue;
        }
        let Some(part) = part else { return Ok(vec![file]) };
        let path = root.join(format!("lock-{}", part.index()));
        let own = File::options().create(true).append(true).open(&path);
        let own = own.map_err(|e| ConvertError::io("lock", &path, e))?;
        taken(own.try_lock(), root)?;
        return Ok(vec![file, own]);
    }
}

fn taken(locked: Result<(), TryLockError>, root: &Path) -> Result<(), ConvertError> {
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => {
            ConvertError::destination(root, "another process is converting to the same destination")
        }
        TryLockError::Error(error) => ConvertError::io("lock", root, error),
    })
}

/// Whether the open file is still the one at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a folder that only its owner can look into; one that is there is fine.
pub(super) fn make_folder(path: &Path) -> Result<(), ConvertError> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other.map_err(|e| ConvertError::io("create", path, e)),
    }
}

/// Removes whatever is at `path`; nothing there is fine.
pub(super) fn remove(path: &Path) -> Result<(), ConvertError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|e| ConvertError::io("remove", path, e)),
    }
}

/// Flushes the names in a folder to disk.
pub(super) fn sync_folder(path: &Path) -> Result<(), ConvertError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|e| ConvertError::io("flush", path, e))
}
