//! Scales that lie beside the weights in JSON files.

mod inc;
mod scale;
mod table;

pub use scale::{SidecarNumber, SidecarScale, TensorParallel};

use std::path::{Path, PathBuf};

use super::json::read_object;
use super::shards::list_files;
use super::{CheckpointError, FindingCode, Findings};

/// Which sidecar files a folder holds.
#[derive(Debug, Default)]
pub(crate) struct SidecarFiles {
    tables: Vec<PathBuf>,
    inc: Vec<PathBuf>,
    npz: Vec<String>,
    other_caches: Vec<String>,
}

impl SidecarFiles {
    pub(crate) fn find(files: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for path in files {
            let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
            if name.contains("hooks_maxabs") && name.ends_with(".npz") {
                found.npz.push(name.to_owned());
            }
            if !name.ends_with(".json") {
                continue;
            }
            if name.contains("hooks_maxabs") && !name.contains("mod_list") {
                found.inc.push(path.clone());
            } else if name.starts_with("kv_") && name.contains("scale") {
                found.tables.push(path.clone());
            } else if name.contains("scale") {
                found.add_by_content(path);
            }
        }
        found
    }

    /// A file whose name says less is a table of KV scales if it has the shape of one. What cannot be read is none.
    fn add_by_content(&mut self, path: &Path) {
        let Ok(document) = read_object(path) else { return };
        let format = document.value.get("format").and_then(serde_json::Value::as_str);
        if format.is_some_and(|format| format.starts_with("nvfp4_ds_mla_outer_scale")) {
            self.other_caches.push(document.file_name());
        } else if table::has_its_shape(&document.value) {
            self.tables.push(path.to_owned());
        }
    }

    /// Tables of KV scales.
    pub(crate) fn tables(&self) -> &[PathBuf] {
        &self.tables
    }

    /// INC's scale files, and those of its `.npz` files whose names say that they hold scales. Measurements are not
    /// among them.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn inc_scales(&self) -> Result<Vec<String>, CheckpointError> {
        let names_a_method = |name: &&String| {
            let rest = name.split_once("hooks_maxabs_").map_or("", |(_, rest)| rest);
            rest.starts_with(|first: char| !first.is_ascii_digit())
        };
        let mut found: Vec<String> = self.npz.iter().filter(names_a_method).cloned().collect();
        for path in &self.inc {
            let document = read_object(path)?;
            if document.value.get("Mode").and_then(serde_json::Value::as_str) == Some("Scale") {
                found.push(document.file_name());
            }
        }
        Ok(found)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.inc.is_empty()
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<String> {
        let paths = self.tables.iter().chain(&self.inc);
        let names = paths.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        names.chain(self.npz.iter().cloned()).collect()
    }

    /// Reads all of them.
    pub(crate) fn read(
        &self,
        model_type: Option<&str>,
        tensor_parallel: TensorParallel,
        findings: &mut Findings,
    ) -> Result<Vec<SidecarScale>, CheckpointError> {
        let mut scales = Vec::new();
        for path in &self.tables {
            scales.extend(table::read(&read_object(path)?, model_type, findings)?);
        }
        if let (Some(name), true) = (self.npz.first(), self.inc.is_empty()) {
            let message = format!("{name} is not read: no .json lies beside it");
            findings.warn(FindingCode::SidecarNotRead, None, message);
        }
        for name in &self.other_caches {
            let message = format!("{name} holds the outer scales of an NVFP4 latent; no FP8 cache has them");
            findings.note(FindingCode::SidecarOtherCache, None, message);
        }
        scales.extend(inc::read(&self.inc, tensor_parallel, findings)?);
        Ok(scales)
    }
}

/// Reads the measurements (amax) that INC made, from one file or from those of a folder.
pub(crate) fn read_inc_measurements(path: &Path) -> Result<Vec<SidecarScale>, CheckpointError> {
    let metadata = std::fs::metadata(path).map_err(|e| CheckpointError::io(path, e))?;
    let paths =
        if metadata.is_dir() { SidecarFiles::find(&list_files(path)?).inc } else { vec![path.to_owned()] };
    if paths.is_empty() {
        let reason = "holds no *hooks_maxabs*.json, which INC writes (an .npz is not read)".to_owned();
        return Err(CheckpointError::NotAModel { path: path.to_owned(), reason });
    }
    inc::read_measurements(&paths)
}
