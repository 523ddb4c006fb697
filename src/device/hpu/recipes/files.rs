//! Recipes in files, so that the next process need not compile them.
//!
//! A file holds the key it was stored under, a hash, and what the library wrote. It is written under another name and
//! then renamed, so that a process that dies on the way leaves either the old state or the new. Whatever is wrong with a
//! file costs a compilation and a warning, never more.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tracing::{debug, warn};
use xxhash_rust::xxh3::xxh3_128;

use crate::device::hpu::synapse::{Api, Recipe};

/// The first bytes of a recipe file.
const MAGIC: &[u8; 16] = b"gaudi-kv recipe1";

/// The age from which a temporary file counts as left behind by a process that died.
const STALE: Duration = Duration::from_secs(3600);

/// The recipe files of a folder.
#[derive(Debug)]
pub(crate) struct RecipeFiles {
    folder: PathBuf,
}

impl RecipeFiles {
    /// The files of a folder, which need not exist.
    pub(crate) fn of(folder: PathBuf) -> Self {
        let files = Self { folder };
        files.remove_stale();
        files
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:032x}.recipe", xxh3_128(key.as_bytes())))
    }

    /// A temporary file, whose name no other writer has. The library is given paths only, so what it reads and writes is a file too.
    fn temporary(&self) -> TemporaryFile {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        TemporaryFile(self.folder.join(format!(".{}.{number}.tmp", std::process::id())))
    }

    /// The recipe that was stored under a key, if a good one was.
    pub(crate) fn load(&self, api: &Arc<Api>, key: &str, name: &str) -> Option<Recipe> {
        let path = self.path(key);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                warn!(path = %path.display(), %error, "recipe file cannot be read; compiling");
                return None;
            }
        };
        let Some(payload) = unpack(&bytes, key) else {
            warn!(path = %path.display(), "recipe file is damaged or of another origin; compiling");
            return None;
        };
        let temporary = self.temporary();
        if let Err(error) = fs::write(&temporary.0, payload) {
            warn!(path = %path.display(), %error, "recipe file cannot be unpacked; compiling");
            return None;
        }
        match Recipe::deserialize(api, &temporary.0, name) {
            Ok(recipe) => Some(recipe),
            Err(error) => {
                warn!(path = %path.display(), %error, "recipe file is not taken; compiling");
                None
            }
        }
    }

    /// Stores a recipe under a key.
    pub(crate) fn store(&self, recipe: &Recipe, key: &str) {
        let path = self.path(key);
        match self.try_store(recipe, key, &path) {
            Ok(()) => debug!(path = %path.display(), "recipe stored"),
            Err(reason) => warn!(path = %path.display(), reason, "recipe cannot be stored"),
        }
    }

    fn try_store(&self, recipe: &Recipe, key: &str, path: &Path) -> Result<(), String> {
        let shown = |error: io::Error| error.to_string();
        fs::create_dir_all(&self.folder).map_err(shown)?;
        let (written, packed) = (self.temporary(), self.temporary());
        recipe.serialize(&written.0).map_err(|error| error.to_string())?;
        let payload = fs::read(&written.0).map_err(shown)?;
        let mut file = File::create(&packed.0).map_err(shown)?;
        file.write_all(&pack(&payload, key)).map_err(shown)?;
        // The data before the name: a crash of the machine must not leave a name without data.
        file.sync_all().map_err(shown)?;
        fs::rename(&packed.0, path).map_err(shown)?;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(shown)
    }

    /// Removes what processes that died left behind.
    fn remove_stale(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_temporary = path.extension().is_some_and(|extension| extension == "tmp");
            let age = entry.metadata().and_then(|data| data.modified());
            let age = age.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
            if is_temporary && age.is_some_and(|age| age > STALE) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// A file that is removed with its value.
struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // It may not have been written, or been renamed.
        let _ = fs::remove_file(&self.0);
    }
}

fn pack(payload: &[u8], key: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((key.len() as u64).to_le_bytes());
    bytes.extend(xxh3_128(payload).to_le_bytes());
    bytes.extend(key.as_bytes());
    bytes.extend(payload);
    bytes
}

/// The payload of a file that was packed under this key; `None` for anything else.
fn unpack<'a>(bytes: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (len, rest) = rest.split_at_checked(8)?;
    let (hash, rest) = rest.split_at_checked(16)?;
    if u64::from_le_bytes(len.try_into().ok()?) != key.len() as u64 {
        return None;
    }
    let payload = rest.strip_prefix(key.as_bytes())?;
    (xxh3_128(payload).to_le_bytes() == hash).then_some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_file_of_the_same_key_is_taken() {
        let packed = pack(b"recipe", "key");
        assert_eq!(unpack(&packed, "key"), Some(&b"recipe"[..]));
        assert_eq!(unpack(&packed, "kez"), None);
        assert_eq!(unpack(&packed, "longer key"), None);
        for end in 0..packed.len() {
            assert_eq!(unpack(&packed[..end], "key"), None, "{end}");
        }
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 1;
            assert_eq!(unpack(&damaged, "key"), None, "{at}");
        }
        assert_eq!(unpack(&[&packed[..], b"x"].concat(), "key"), None);
    }
}
