//! The edits of JSON files: the label of the new range, and the total size in a shard index.

use std::collections::BTreeMap;
use std::path::Path;

use super::json_text::{find, members, replace, set};
use super::{ConvertError, sidecar};
use crate::checkpoint::{CheckpointError, ConfigPlace, FLAVOR_KEY, Flavor, read_file};

/// New contents of files at the top of the folder, by name.
#[derive(Debug, Default)]
pub(super) struct Edits {
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

impl Edits {
    /// Changes a file by `edit`, on top of what has been changed in it. What `edit` finds nothing to do in stays as it
    /// is. Returns whether it changed.
    fn change(
        &mut self,
        folder: &Path,
        name: &str,
        edit: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<bool, ConvertError> {
        let text = match self.files.get(name) {
            Some(text) => text.clone(),
            None => read_file(&folder.join(name))?,
        };
        let new = edit(&text).filter(|new| *new != text);
        let is_changed = new.is_some();
        self.files.extend(new.map(|new| (name.to_owned(), new)));
        Ok(is_changed)
    }

    /// Writes the flavor into every quantization config, so that no copy contradicts another. Returns where, as
    /// `file: key`.
    pub(super) fn label(
        &mut self,
        folder: &Path,
        places: &[ConfigPlace],
        flavor: Flavor,
    ) -> Result<Vec<String>, ConvertError> {
        let mut labelled = Vec::new();
        let value = format!("\"{}\"", flavor.name());
        for place in places {
            let path = || place.path.iter().map(String::as_str);
            let mut is_found = false;
            self.change(folder, &place.file, |text| {
                let object = find(text, path())?;
                is_found = true;
                set(text, object.start, FLAVOR_KEY, &value)
            })?;
            if !is_found {
                let reason = format!("{} cannot be found in the text", place.path.join("."));
                return Err(CheckpointError::key(&folder.join(&place.file), FLAVOR_KEY, reason).into());
            }
            labelled.push(place.to_string());
        }
        Ok(labelled)
    }

    /// Multiplies the KV scales of a sidecar table. Returns how many there are.
    pub(super) fn rescale_table(
        &mut self,
        folder: &Path,
        name: &str,
        rescale: impl Fn(f64) -> f32,
    ) -> Result<u64, ConvertError> {
        let mut scales = 0;
        self.change(folder, name, |text| {
            let edits = sidecar::edits(text, &rescale);
            scales = edits.len() as u64;
            Some(replace(text, &edits))
        })?;
        Ok(scales)
    }

    /// Adds what each weight file has grown by to the total of a shard index that names it.
    pub(super) fn update_index(
        &mut self,
        folder: &Path,
        name: &str,
        growth: &BTreeMap<String, i64>,
    ) -> Result<(), ConvertError> {
        self.change(folder, name, |text| {
            let files = members(text, find(text, ["weight_map"])?.start)?;
            let named: std::collections::BTreeSet<String> =
                files.iter().filter_map(|m| serde_json::from_slice(&text[m.value.clone()]).ok()).collect();
            let grown: i64 = named.iter().filter_map(|file| growth.get(file)).sum();
            let total = find(text, ["metadata", "total_size"])?;
            let old: u64 = std::str::from_utf8(&text[total.clone()]).ok()?.parse().ok()?;
            Some(replace(text, &[(total, old.checked_add_signed(grown)?.to_string())]))
        })?;
        Ok(())
    }
}
