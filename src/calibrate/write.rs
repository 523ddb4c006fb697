//! The calibrated model: the old one's files, the new scales, and configs that declare them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tracing::info_span;

use super::config::declare;
use super::destination::Destination;
use super::old_scales::OldScales;
use super::weight_files::{SCALE_FILE, index, scale_tensors, write_scales, write_without};
use super::{CalibrateError, Calibration};
use crate::checkpoint::{CheckpointError, ModelFolder, list_files};
use crate::scales::{CacheDtype, Options, inspect};

/// How weight files come into the new folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// As copies; a file system that can shares their blocks.
    Copy,
    /// As further names of the same files.
    Hardlink,
    /// As links to the files where they are.
    Symlink,
}

/// Where and how to write.
#[derive(Debug, Clone, Copy)]
pub struct WriteOptions<'a> {
    /// The folder to make.
    pub destination: &'a Path,
    /// How unchanged weight files come there. Other files are copied.
    pub carry: Carry,
    /// Leave the model's old KV scales behind.
    pub is_replacing: bool,
    /// Replace a model folder of the destination's name.
    pub is_forced: bool,
}

/// Suffixes of weight files.
const WEIGHTS: [&str; 5] = ["safetensors", "bin", "pt", "pth", "gguf"];

/// Writes a copy of the model with the scales of a calibration. It is made under a hidden name, read back and
/// inspected, and then appears under its own. Returns what is worth knowing.
///
/// # Errors
/// The model has KV scales that are not to be replaced; the destination exists or lies in the model's folder; a file
/// cannot be read or written; or the result would not be read as it is meant. Nothing is left behind then.
pub fn write(
    folder: &ModelFolder,
    calibration: &Calibration,
    options: &WriteOptions<'_>,
) -> Result<Vec<String>, CalibrateError> {
    let _span = info_span!("write", to = %options.destination.display()).entered();
    let old = OldScales::find(folder, options.is_replacing)?;
    let configs = declare(folder, calibration.strategy, &calibration.range)?;
    let destination = Destination::create(options.destination, folder.path(), options.is_forced)?;
    let hidden = destination.hidden();
    let scales = scale_tensors(calibration);
    let (index_name, index) = index(folder, &scales, &old.tensors)?;
    let mut written: BTreeSet<String> = old.sidecars.iter().cloned().collect();
    for config in &configs {
        write_text(&hidden.join(config.file_name), &config.text)?;
        written.insert(config.file_name.to_owned());
    }
    let path = hidden.join(&index_name);
    let index =
        serde_json::to_string_pretty(&index).map_err(|e| CheckpointError::json(&path, e.to_string()))?;
    write_text(&path, &(index + "\n"))?;
    written.insert(index_name);
    for shard in folder.shards() {
        if shard.tensors().iter().any(|tensor| old.tensors.contains(&tensor.name)) {
            let name = shard.path().file_name().unwrap_or_default();
            write_without(shard, &old.tensors, &hidden.join(name))?;
            written.insert(name.to_string_lossy().into_owned());
        }
    }
    let mut notes = Vec::new();
    carry_files(folder.path(), hidden, options.carry, &written, &mut notes)?;
    if hidden.join(SCALE_FILE).exists() {
        let reason = format!("the model has a file {SCALE_FILE} already");
        return Err(CalibrateError::Destination { path: options.destination.to_owned(), reason });
    }
    write_scales(&scales, calibration.strategy, &hidden.join(SCALE_FILE))?;
    notes.extend(read_back(hidden, calibration)?);
    destination.publish()?;
    Ok(notes)
}

fn write_text(path: &Path, text: &str) -> Result<(), CheckpointError> {
    fs::write(path, text).map_err(|e| CheckpointError::io(path, e))
}

/// Brings the files of a folder that are not `written` anew. Hidden ones stay behind, such as version control's.
fn carry_files(
    from: &Path,
    to: &Path,
    carry: Carry,
    written: &BTreeSet<String>,
    notes: &mut Vec<String>,
) -> Result<(), CheckpointError> {
    for path in list_files(from)? {
        let Some(name) = path.file_name() else { continue };
        let text = name.to_string_lossy();
        if text.starts_with('.') || written.contains(text.as_ref()) {
            continue;
        }
        let io = |e| CheckpointError::io(&path, e);
        let target = to.join(name);
        let kind = fs::symlink_metadata(&path).map_err(io)?;
        if kind.is_dir() {
            fs::create_dir(&target).map_err(|e| CheckpointError::io(&target, e))?;
            carry_files(&path, &target, carry, &BTreeSet::new(), notes)?;
        } else if fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            let is_weights = path.extension().is_some_and(|e| WEIGHTS.iter().any(|weights| e == *weights));
            // A link in the source may be relative, and a hard link to a link is a link.
            let file = fs::canonicalize(&path).map_err(io)?;
            match carry {
                Carry::Hardlink if is_weights => fs::hard_link(&file, &target).map_err(io)?,
                Carry::Symlink if is_weights => std::os::unix::fs::symlink(&file, &target).map_err(io)?,
                Carry::Copy | Carry::Hardlink | Carry::Symlink => drop(fs::copy(&file, &target).map_err(io)?),
            }
        } else {
            notes.push(format!("{} is left behind: it is no file", path.display()));
        }
    }
    Ok(())
}

/// Opens what was written as any reader does and compares the scales that it finds.
fn read_back(path: &Path, calibration: &Calibration) -> Result<Vec<String>, CalibrateError> {
    let folder = ModelFolder::open(path)?;
    let inspection = inspect(&folder, &Options::new(calibration.device), &|_| {})?;
    if let Some(error) = inspection.findings.errors.first() {
        return Err(CalibrateError::ReadBack(error.message.clone()));
    }
    if inspection.kv_cache_dtype != CacheDtype::Fp8 {
        return Err(CalibrateError::ReadBack("its configs declare no FP8 cache".to_owned()));
    }
    if inspection.scale_adjustment.fp8_max_quant != calibration.range.fp8_max_quant {
        let range = inspection.scale_adjustment.fp8_max_quant;
        return Err(CalibrateError::ReadBack(format!("its configs give the range {range}")));
    }
    for layer in &calibration.layers {
        let report = inspection.layers.iter().find(|report| report.layer == layer.layer);
        for (role, found) in
            [("k", report.and_then(|r| r.k.as_ref())), ("v", report.and_then(|r| r.v.as_ref()))]
        {
            let meant: Vec<f32> =
                layer.scales.iter().filter(|scale| scale.role == role).map(|scale| scale.scale).collect();
            let found = found.and_then(|found| found.checkpoint.as_ref()).map_or(&[][..], |n| n.as_slice());
            if found != meant {
                let what = format!("layer {}: its {role} scale is read as {found:?}", layer.layer);
                return Err(CalibrateError::ReadBack(what));
            }
        }
    }
    let warnings = inspection.findings.warnings.into_iter();
    Ok(warnings.map(|warning| format!("inspect warns: {} ({})", warning.message, warning.code)).collect())
}
