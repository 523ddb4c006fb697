//! What the source folder holds, and links that must lead to the same place from elsewhere.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::RewriteError;

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) bytes: u64,
    modified_s: i64,
    modified_ns: i64,
    inode: u64,
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
            inode: metadata.ino(),
        }
    }
}

/// What an entry of the source folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    /// A link with its text.
    Link(PathBuf),
}

/// An entry of the source folder or of a folder in it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Where it is, from the source folder.
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

/// Everything below `root`, folders before what is in them, without what lies under one of `left_out`. Links are not
/// followed.
pub(crate) fn list(root: &Path, left_out: &[&Path]) -> Result<Vec<Entry>, RewriteError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let read = |error| RewriteError::io("list", &path, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(read)? {
            names.push(entry.map_err(read)?.file_name());
        }
        names.sort();
        for name in names {
            let path = folder.join(name);
            let full = root.join(&path);
            if left_out.contains(&full.as_path()) {
                continue;
            }
            let metadata = fs::symlink_metadata(&full).map_err(|e| RewriteError::io("look at", &full, e))?;
            let kind = if metadata.is_dir() {
                folders.push(path.clone());
                Kind::Folder
            } else if metadata.is_symlink() {
                Kind::Link(fs::read_link(&full).map_err(|e| RewriteError::io("read the link", &full, e))?)
            } else if metadata.is_file() {
                Kind::File
            } else {
                return Err(RewriteError::SpecialFile { path: full });
            };
            found.push(Entry { path, kind });
        }
    }
    Ok(found)
}

/// The text for a link at `path` in the folder `to` that leads where `text` leads from `path` in the folder `from`.
///
/// A link keeps its text where it is absolute, where it leads into its own folder (what it leads to is carried over
/// too), and where it leads to the same place. Else it becomes absolute.
pub(crate) fn link_text(path: &Path, text: &Path, from: &Path, to: &Path) -> PathBuf {
    if text.is_absolute() {
        return text.to_owned();
    }
    let beside = path.parent().unwrap_or(Path::new(""));
    let place = normalized(&from.join(beside).join(text));
    if place.starts_with(from) || normalized(&to.join(beside).join(text)) == place {
        text.to_owned()
    } else {
        place
    }
}

/// Without `.` and `..`, by the names alone.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[track_caller]
    fn assert_link(text: &str, to: &str, expected: &str) {
        let from = Path::new("/cache/snapshots/a");
        let new = link_text(Path::new("x/m.json"), Path::new(text), from, Path::new(to));
        assert_eq!(new, Path::new(expected));
    }

    /// Size, time and inode: one that differs is enough.
    #[test]
    fn a_file_that_differs_in_anything_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        let write = |path: &Path, content: &str, time: SystemTime| {
            fs::write(path, content).unwrap();
            fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
            Identity::of(&fs::metadata(path).unwrap())
        };
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 5);
        let first = write(&path, "one", time);
        assert_eq!(write(&path, "two", time), first);
        assert_ne!(write(&path, "three", time), first);
        assert_ne!(write(&path, "one", time + Duration::from_nanos(1)), first);
        assert_ne!(write(&path, "one", time + Duration::from_secs(1)), first);
        assert_eq!(write(&path, "one", time), first);
        assert_ne!(write(&other, "one", time), first);
    }

    #[test]
    fn links_lead_to_the_same_place() {
        assert_link("../../../blobs/1", "/cache/snapshots/b", "../../../blobs/1");
        assert_link("../../../blobs/1", "/models/b", "/cache/blobs/1");
        assert_link("/cache/blobs/1", "/models/b", "/cache/blobs/1");
        assert_link("../n.json", "/models/b", "../n.json");
        assert_link("n.json", "/models/b", "n.json");
    }
}
