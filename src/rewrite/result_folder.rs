//! The result in the making: files, links and modes.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::folder_entries::{link_text, list};
use super::work_folder::{make_folder, remove, sync_folder};
use super::{Destination, Entry, Identity, Kind, RewriteError, WorkFolder, copy_file};

/// The folder that is to appear under the destination's name.
#[derive(Debug)]
pub(crate) struct ResultFolder<'a> {
    place: &'a Destination,
    /// What the source holds.
    pub(crate) entries: &'a [Entry],
    /// Where it is meanwhile.
    pub(crate) folder: PathBuf,
    /// Where its files are written.
    pub(crate) state: PathBuf,
    /// Flush everything to disk.
    sync: bool,
}

impl<'a> ResultFolder<'a> {
    /// Makes the folders of the source, which only this process can write to.
    pub(crate) fn new(
        place: &'a Destination,
        entries: &'a [Entry],
        work: &WorkFolder,
        sync: bool,
    ) -> Result<Self, RewriteError> {
        let tree = Self { place, entries, folder: work.tree(), state: work.state(), sync };
        for entry in tree.folders() {
            make_folder(&tree.folder.join(&entry.path))?;
        }
        Ok(tree)
    }

    fn folders(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| entry.kind == Kind::Folder)
    }

    /// Makes the file at `path`, a path from the folder, by `write`, which gets the empty file and its present path, and
    /// returns the file whose mode it takes. It is moved into the folder when it is complete.
    pub(crate) fn make<T, E: From<RewriteError>>(
        &self,
        path: &Path,
        part_name: &str,
        write: impl FnOnce(&File, &Path) -> Result<(T, Metadata), E>,
    ) -> Result<T, E> {
        let new = self.state.join(format!("{part_name}.part"));
        let made = self.write(&new, write).and_then(|made| {
            let path = self.folder.join(path);
            let moved = fs::rename(&new, &path);
            moved.map_err(|e| RewriteError::io("move the finished file to", &path, e))?;
            Ok(made)
        });
        made.inspect_err(|_| drop(fs::remove_file(&new)))
    }

    fn write<T, E: From<RewriteError>>(
        &self,
        new: &Path,
        write: impl FnOnce(&File, &Path) -> Result<(T, Metadata), E>,
    ) -> Result<T, E> {
        let mut options = OpenOptions::new();
        let out = options.write(true).create(true).truncate(true).mode(0o600).open(new);
        let out = out.map_err(|e| RewriteError::io("create", new, e))?;
        let (made, source) = write(&out, new)?;
        let mode = Permissions::from_mode(source.permissions().mode() & 0o7777);
        out.set_permissions(mode).map_err(|e| RewriteError::io("set the mode of", new, e))?;
        if self.sync {
            out.sync_all().map_err(|e| RewriteError::io("flush", new, e))?;
        }
        Ok(made)
    }

    /// Makes a file of this content, with the mode of one of the source.
    pub(crate) fn make_text(&self, name: &str, content: &[u8], mode_of: &str) -> Result<(), RewriteError> {
        let source = self.place.source.join(mode_of);
        self.make(Path::new(name), "text", |mut out, new| {
            out.write_all(content).map_err(|e| RewriteError::io("write", new, e))?;
            let metadata = fs::metadata(&source).map_err(|e| RewriteError::io("look at", &source, e))?;
            Ok(((), metadata))
        })
    }

    /// Copies a file of the source, which must still be what it `was`.
    pub(crate) fn copy(
        &self,
        path: &Path,
        part_name: &str,
        was: Identity,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), RewriteError> {
        let source = self.place.source.join(path);
        self.make(path, part_name, |out, new| {
            let from = File::open(&source).map_err(|e| RewriteError::io("open", &source, e))?;
            copy_file(&from, &source, was.bytes, out, new, progress)?;
            let metadata = from.metadata().map_err(|e| RewriteError::io("look at", &source, e))?;
            if Identity::of(&metadata) != was {
                return Err(RewriteError::Changed { path: source.clone() });
            }
            Ok(((), metadata))
        })
    }

    /// Adds the links of the source that are not `made` files, which lead where they led once the folder has its name.
    /// Takes out what is neither in the source nor `made`. Returns how many links there are.
    pub(crate) fn link_and_tidy(&self, made: &BTreeSet<&Path>) -> Result<u64, RewriteError> {
        let mut links = 0;
        for entry in self.entries {
            let Kind::Link(text) = &entry.kind else { continue };
            if made.contains(entry.path.as_path()) {
                continue;
            }
            let path = self.folder.join(&entry.path);
            remove(&path)?;
            let text = link_text(&entry.path, text, &self.place.source, &self.place.path);
            symlink(&text, &path).map_err(|e| RewriteError::io("create the link", &path, e))?;
            links += 1;
        }
        let expected: BTreeSet<&Path> = self.entries.iter().map(|entry| entry.path.as_path()).collect();
        let is_expected = |path: &Path| expected.contains(path) || made.contains(path);
        for old in list(&self.folder, &[])?.iter().filter(|old| !is_expected(&old.path)) {
            remove(&self.folder.join(&old.path))?;
        }
        Ok(links)
    }

    /// Gives the folder its name, and every folder the mode of the source's.
    pub(crate) fn publish(&self, work: &WorkFolder, force: bool) -> Result<(), RewriteError> {
        // What is in a folder comes before the folder, which may be read-only from then on.
        for entry in self.folders().rev() {
            let path = self.folder.join(&entry.path);
            if self.sync {
                sync_folder(&path)?;
            }
            set_mode(&path, folder_mode(&self.place.source.join(&entry.path))?)?;
        }
        if self.sync {
            sync_folder(&self.folder)?;
        }
        let mode = folder_mode(&self.place.source)?;
        // A folder that may not be written to cannot be moved.
        set_mode(&self.folder, mode | 0o200)?;
        work.publish(force, self.sync)?;
        if mode & 0o200 == 0 { set_mode(&self.place.path, mode) } else { Ok(()) }
    }
}

fn folder_mode(path: &Path) -> Result<u32, RewriteError> {
    let metadata = fs::metadata(path).map_err(|e| RewriteError::io("look at", path, e))?;
    Ok(metadata.permissions().mode() & 0o7777)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), RewriteError> {
    let set = fs::set_permissions(path, Permissions::from_mode(mode));
    set.map_err(|e| RewriteError::io("set the mode of", path, e))
}
