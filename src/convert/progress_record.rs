//! What is written down about a finished file, so that a later run, or another machine, need not do it again.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::WeightCounts;
use crate::rewrite::{Identity, RewriteError};

/// A finished file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProgressRecord {
    /// The file that it was made from, as it was then.
    pub(super) source: Identity,
    /// What became of its weights.
    pub(super) weights: WeightCounts,
}

fn place(state: &Path, file: &Path) -> PathBuf {
    state.join(format!("{}.json", ProgressRecord::name(file)))
}

impl ProgressRecord {
    /// A name for what belongs to `file`, a path from the source folder, without folders in it.
    pub(super) fn name(file: &Path) -> String {
        format!("{:016x}", xxh3_64(file.as_os_str().as_encoded_bytes()))
    }

    /// What is written down about `file`, a path from the source folder. A record that cannot be read is none.
    pub(super) fn read(state: &Path, file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(place(state, file)).ok()?).ok()
    }

    /// Writes it down, all at once.
    pub(super) fn write(&self, state: &Path, file: &Path) -> Result<(), RewriteError> {
        let path = place(state, file);
        let fail = |e| RewriteError::io("write", &path, e);
        let text = serde_json::to_vec(self).map_err(|e| fail(e.into()))?;
        let new = path.with_extension("new");
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(fail)
    }
}
