//! Why a copy of a model folder was not written. Nothing has appeared under the destination's name then.

use std::io;
use std::path::{Path, PathBuf};

use crate::checkpoint::CheckpointError;

/// A folder that was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// A file of the source cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// The disk is full, or a quota is. What had been written is removed, unless other machines work on the same result.
    #[error("no room left while writing {}: {source}; {}", path.display(), remains(kept.as_ref()))]
    NoSpace {
        /// The file that was written.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
        /// Where finished files are kept; `None` where nothing is left behind.
        kept: Option<PathBuf>,
    },
    /// The destination is refused.
    #[error("{}: {reason}", path.display())]
    Destination {
        /// The path given.
        path: PathBuf,
        /// Why, and what would be accepted.
        reason: String,
    },
    /// Something in the source folder is neither a file, a folder nor a link.
    #[error("{}: is neither a file, a folder nor a link, so it cannot be carried over", path.display())]
    SpecialFile {
        /// Where it is.
        path: PathBuf,
    },
    /// A file of the source changed while it was read.
    #[error("{}: changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

fn remains(kept: Option<&PathBuf>) -> String {
    match kept {
        Some(folder) => format!("what is finished is kept in {}", folder.display()),
        None => "what was written is removed".to_owned(),
    }
}

impl RewriteError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { path, source, kept: None }
            }
            _ => Self::Io { doing, path, source },
        }
    }

    pub(crate) fn destination(path: &Path, reason: impl Into<String>) -> Self {
        Self::Destination { path: path.to_owned(), reason: reason.into() }
    }

    /// Whether a second run could go on where this one stopped.
    pub(crate) fn keeps_finished_files(&self) -> bool {
        matches!(
            self,
            Self::Io { .. } | Self::Checkpoint(_) | Self::Changed { .. } | Self::Destination { .. }
        )
    }

    /// The error with where what is finished stays, as far as that is of interest.
    pub(crate) fn kept_in(self, folder: Option<PathBuf>) -> Self {
        match self {
            Self::NoSpace { path, source, .. } => Self::NoSpace { path, source, kept: folder },
            other => other,
        }
    }
}
