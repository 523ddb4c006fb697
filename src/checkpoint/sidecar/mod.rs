//! Scales that lie beside the weights in JSON files.

mod inc;
mod table;

use std::path::PathBuf;

use super::json::read_object;
use super::names::Role;
use super::{CheckpointError, FindingCode, Findings};

/// Where a number of a sidecar file comes from and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SidecarNumber {
    /// A dequantization factor, like a scale tensor's.
    Scale(f64),
    /// The largest magnitude that was measured; its scale depends on the range that it is divided by.
    Amax(f64),
}

/// One entry of a sidecar file.
#[derive(Debug, Clone, PartialEq)]
pub struct SidecarScale {
    /// The file and the key in it, as messages and reports name it.
    pub name: String,
    /// The layer, counted from the model's first.
    pub layer: usize,
    /// `K`, `V` or `Kv`.
    pub role: Role,
    /// The number.
    pub number: SidecarNumber,
}

/// The tensor-parallel rank to read for, where files hold one entry a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorParallel {
    /// The number of ranks.
    pub size: usize,
    /// This rank, below `size`.
    pub rank: usize,
}

impl Default for TensorParallel {
    fn default() -> Self {
        Self { size: 1, rank: 0 }
    }
}

/// Which sidecar files a folder holds.
#[derive(Debug, Default)]
pub(crate) struct SidecarFiles {
    tables: Vec<PathBuf>,
    inc: Vec<PathBuf>,
    npz: Vec<String>,
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
            }
        }
        found
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
        scales.extend(inc::read(&self.inc, tensor_parallel, findings)?);
        Ok(scales)
    }
}

/// A JSON number, or one of Python's constants.
fn number(value: &serde_json::Value) -> Option<f64> {
    match value {
        serde_json::Value::Number(n) => n.as_f64(),
        serde_json::Value::String(s) => match s.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}
