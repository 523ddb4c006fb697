//! The edits of JSON files: the label of the range, and what a shard index says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::RewriteError;
use super::json_text::{find, members, set, update};
use crate::checkpoint::{CheckpointError, ConfigPlace, FLAVOR_KEY, Flavor, read_file};

/// New contents of files at the top of the folder, by name.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// What becomes of a shard index.
#[derive(Debug)]
pub(crate) struct IndexEdit<'a> {
    /// Tensors to take out.
    pub(crate) dropped: &'a BTreeSet<String>,
    /// Tensors to add, all in one new file.
    pub(crate) added: Vec<&'a str>,
    /// That file.
    pub(crate) added_file: &'a str,
    /// The bytes of the tensors of each file afterwards.
    pub(crate) file_bytes: &'a BTreeMap<String, u64>,
}

impl Edits {
    /// Changes a file by `edit`, on top of what has been changed in it. What `edit` finds nothing to do in stays as it
    /// is. Returns whether it changed.
    pub(crate) fn change(
        &mut self,
        folder: &Path,
        name: &str,
        edit: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<bool, RewriteError> {
        let text = match self.files.get(name) {
            Some(text) => text.clone(),
            None => read_file(&folder.join(name))?,
        };
        let new = edit(&text).filter(|new| *new != text);
        let is_changed = new.is_some();
        self.files.extend(new.map(|new| (name.to_owned(), new)));
        Ok(is_changed)
    }

    /// Sets a key of the object at a place.
    pub(crate) fn set(
        &mut self,
        folder: &Path,
        place: &ConfigPlace,
        key: &str,
        value: &Value,
    ) -> Result<(), RewriteError> {
        let mut is_found = false;
        self.change(folder, &place.file, |text| {
            let object = find(text, place.path.iter().map(String::as_str))?;
            let new = set(text, object.start, key, value)?;
            is_found = true;
            Some(new)
        })?;
        if is_found {
            return Ok(());
        }
        let reason = format!("{} cannot be found in the text, or is no object", place.path.join("."));
        Err(CheckpointError::key(&folder.join(&place.file), key, reason).into())
    }

    /// Writes the flavor into every quantization config, so that no copy contradicts another. Returns where, as
    /// `file: key`.
    pub(crate) fn label(
        &mut self,
        folder: &Path,
        places: &[ConfigPlace],
        flavor: Flavor,
    ) -> Result<Vec<String>, RewriteError> {
        let value = Value::from(flavor.name());
        let label = |place: &ConfigPlace| {
            self.set(folder, place, FLAVOR_KEY, &value)?;
            Ok(place.to_string())
        };
        places.iter().map(label).collect()
    }

    /// Changes a shard index, and makes its total the bytes of the files that it names then. What has no total gets none.
    pub(crate) fn index(
        &mut self,
        folder: &Path,
        name: &str,
        edit: &IndexEdit<'_>,
    ) -> Result<(), RewriteError> {
        let mut is_done = false;
        self.change(folder, name, |text| {
            let file = Value::from(edit.added_file);
            let added: Vec<(&str, &Value)> = edit.added.iter().map(|name| (*name, &file)).collect();
            let map = find(text, ["weight_map"])?.start;
            let new = update(text, map, |name| edit.dropped.contains(name), &added)?;
            let entries = members(&new, find(&new, ["weight_map"])?.start)?;
            let named: BTreeSet<String> =
                entries.iter().filter_map(|m| serde_json::from_slice(&new[m.value.clone()]).ok()).collect();
            let total: u64 = named.iter().filter_map(|file| edit.file_bytes.get(file)).sum();
            is_done = true;
            match find(&new, ["metadata"]).filter(|_| find(&new, ["metadata", "total_size"]).is_some()) {
                Some(metadata) => set(&new, metadata.start, "total_size", &Value::from(total)),
                None => Some(new),
            }
        })?;
        if is_done {
            return Ok(());
        }
        Err(CheckpointError::key(&folder.join(name), "weight_map", "cannot be changed in the text").into())
    }
}
