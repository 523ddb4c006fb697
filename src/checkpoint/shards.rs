//! The weight files of a model folder: which there are, which belong to the model, and what they hold.

use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::header::{TensorEntry, parse_header};
use super::json::read_file;
use super::mapped_file::MappedFile;
use super::names::is_scale_like;
use super::{CheckpointError, FindingCode, Findings};

/// One safetensors file with its checked header.
#[derive(Debug)]
pub struct Shard {
    map: MappedFile,
    tensors: Vec<TensorEntry>,
}

impl Shard {
    /// Maps a file and checks its header.
    pub(crate) fn open(path: &Path) -> Result<Self, CheckpointError> {
        let map = MappedFile::open(path)?;
        let tensors = parse_header(path, map.bytes())?;
        Ok(Self { map, tensors })
    }

    /// The file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.map.path()
    }

    /// The tensors in the order of their bytes.
    #[must_use]
    pub fn tensors(&self) -> &[TensorEntry] {
        &self.tensors
    }

    /// The bytes of one of this shard's tensors, unaligned.
    #[must_use]
    pub fn data(&self, tensor: &TensorEntry) -> &[u8] {
        self.map.bytes().get(tensor.start..tensor.end).unwrap_or_default()
    }

    /// The open file, for positioned reads.
    pub(crate) fn file(&self) -> &std::fs::File {
        self.map.file()
    }
}

/// Opens the weight files of `folder`: those that a `*.safetensors.index.json` names, else every `*.safetensors`.
///
/// Headers are parsed on all cores. Files that the index does not name are no part of the model, as engines have it;
/// one that holds KV scales is warned of, because its scales reach nobody.
pub(crate) fn open_shards(folder: &Path, findings: &mut Findings) -> Result<Vec<Shard>, CheckpointError> {
    let files = list_files(folder)?;
    let weights: Vec<&PathBuf> = files.iter().filter(|f| has_suffix(f, ".safetensors")).collect();
    if let Some(index) = find_index(&files) {
        let map = WeightMap::read(index)?;
        let shards = open_all(&map.paths(folder)?)?;
        check_against_index(&map, &shards, findings)?;
        warn_of_strays(&weights, &shards, findings);
        return Ok(shards);
    }
    // A Mistral folder holds the same weights twice, in two namings.
    let models: Vec<PathBuf> = weights.iter().filter(|f| !is_consolidated(f)).map(|f| (*f).clone()).collect();
    let chosen = if models.is_empty() { weights.into_iter().cloned().collect() } else { models };
    let shards = open_all(&chosen)?;
    refuse_repeated_names(&shards)?;
    Ok(shards)
}

/// The shard index that counts.
pub(crate) fn find_index(files: &[PathBuf]) -> Option<&PathBuf> {
    ["model.safetensors.index.json", "consolidated.safetensors.index.json"]
        .iter()
        .find_map(|name| files.iter().find(|f| has_suffix(f, name)))
        .or_else(|| files.iter().find(|f| has_suffix(f, ".safetensors.index.json")))
}

/// The plain files of the folder, sorted by name so that everything after is deterministic.
pub(crate) fn list_files(folder: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    let entries = std::fs::read_dir(folder).map_err(|e| CheckpointError::io(folder, e))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|e| CheckpointError::io(folder, e))?.path());
    }
    files.sort();
    Ok(files)
}

fn has_suffix(path: &Path, suffix: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(suffix))
}

fn is_consolidated(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("consolidated"))
}

fn open_all(paths: &[PathBuf]) -> Result<Vec<Shard>, CheckpointError> {
    paths.par_iter().map(|path| Shard::open(path)).collect()
}

fn refuse_repeated_names(shards: &[Shard]) -> Result<(), CheckpointError> {
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for shard in shards {
        for tensor in &shard.tensors {
            if let Some(other) = seen.insert(&tensor.name, shard.path()) {
                return Err(CheckpointError::tensor(
                    shard.path(),
                    &tensor.name,
                    format!("is in {} too, and no index says which one counts", other.display()),
                ));
            }
        }
    }
    Ok(())
}

fn check_against_index(
    map: &WeightMap,
    shards: &[Shard],
    findings: &mut Findings,
) -> Result<(), CheckpointError> {
    struct Held {
        shard: usize,
        is_indexed: bool,
    }
    let mut held: HashMap<&str, Held> = HashMap::with_capacity(map.entries.len());
    for (number, shard) in shards.iter().enumerate() {
        for tensor in &shard.tensors {
            if let Some(other) = held.insert(&tensor.name, Held { shard: number, is_indexed: false }) {
                let reason = format!("is in {} too", shards[other.shard].path().display());
                return Err(CheckpointError::tensor(shard.path(), &tensor.name, reason));
            }
        }
    }
    for (name, file) in &map.entries {
        match held.get_mut(name.as_str()) {
            Some(held) if held.is_indexed => {
                return Err(CheckpointError::tensor(&map.path, name, "appears twice in the index"));
            }
            Some(held) if held.shard == *file => held.is_indexed = true,
            _ => {
                let reason = format!("the index places it in {}, which does not hold it", map.files[*file]);
                return Err(CheckpointError::tensor(&map.path, name, reason));
            }
        }
    }
    if held.len() > map.entries.len() {
        let missing = || held.iter().filter(|(_, held)| !held.is_indexed).map(|(name, _)| *name);
        findings.note(
            FindingCode::TensorNotInIndex,
            None,
            format!(
                "{} tensors are in the shards but not in the index, such as {}; engines load them all the same",
                missing().count(),
                missing().min().unwrap_or_default()
            ),
        );
    }
    Ok(())
}

fn warn_of_strays(weights: &[&PathBuf], shards: &[Shard], findings: &mut Findings) {
    let named: std::collections::HashSet<&Path> = shards.iter().map(Shard::path).collect();
    for path in weights.iter().filter(|path| !named.contains(path.as_path()) && !is_consolidated(path)) {
        // The file is no part of the model, so damage in it is none of ours.
        let Ok(stray) = Shard::open(path) else { continue };
        let scales: Vec<&str> =
            stray.tensors.iter().map(|t| t.name.as_str()).filter(|n| is_scale_like(n)).collect();
        if let Some(first) = scales.first() {
            findings.warn(
                FindingCode::ShardNotInIndex,
                None,
                format!(
                    "{} holds {} KV scales, such as {first}, but the index does not name the file, so no engine reads it",
                    path.display(),
                    scales.len()
                ),
            );
        }
    }
}

/// `weight_map` of a shard index: which file holds each tensor.
struct WeightMap {
    path: PathBuf,
    files: Vec<String>,
    entries: Vec<(String, usize)>,
}

impl WeightMap {
    fn read(path: &Path) -> Result<Self, CheckpointError> {
        #[derive(serde::Deserialize)]
        struct Index {
            weight_map: Entries,
        }
        let content = read_file(path)?;
        let index: Index = serde_json::from_slice(&content)
            .map_err(|e| CheckpointError::json(path, format!("invalid shard index: {e}")))?;
        let Entries { files, entries } = index.weight_map;
        if entries.is_empty() {
            return Err(CheckpointError::key(path, "weight_map", "is empty"));
        }
        Ok(Self { path: path.to_owned(), files, entries })
    }

    /// The files named, all of which must lie in the folder itself and exist.
    fn paths(&self, folder: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
        self.files
            .iter()
            .map(|file| {
                let mut parts = Path::new(file).components();
                let is_plain = matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none();
                let path = folder.join(file);
                if !is_plain {
                    let reason = format!("names the shard {file:?}, which is not a file name in the folder");
                    Err(CheckpointError::key(&self.path, "weight_map", reason))
                } else if !path.exists() {
                    let reason = format!("names the shard {file:?}, which cannot be found in the folder");
                    Err(CheckpointError::key(&self.path, "weight_map", reason))
                } else {
                    Ok(path)
                }
            })
            .collect()
    }
}

/// The map as (tensor, file number) pairs: an index of 91,000 entries has 163 different file names.
#[derive(Default)]
struct Entries {
    files: Vec<String>,
    entries: Vec<(String, usize)>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object from tensor names to file names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Entries, A::Error> {
                let mut numbers: HashMap<String, usize> = HashMap::new();
                let mut map = Entries::default();
                while let Some((tensor, file)) = access.next_entry::<String, std::borrow::Cow<'de, str>>()? {
                    let number = match numbers.get(file.as_ref()) {
                        Some(number) => *number,
                        None => {
                            let number = map.files.len();
                            map.files.push(file.to_string());
                            numbers.insert(file.into_owned(), number);
                            number
                        }
                    };
                    map.entries.push((tensor, number));
                }
                Ok(map)
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}
