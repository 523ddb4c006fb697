//! The calibrated model: the old one's files, the new scales, and configs that declare them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tracing::info_span;

use super::calibration::Calibration;
use super::config::declare;
use super::error::{CalibrateError, refuse_unsound};
use super::old_scales::OldScales;
use super::weight_files::{SCALE_FILE, fates, file_name, index, scale_file, scale_tensors, write_without};
use crate::checkpoint::{ModelFolder, Shard};
use crate::rewrite::{
    Destination, Edits, Entry, Fate, Identity, Kind, ResultFolder, RewriteError, WorkFolder, list,
};
use crate::scales::{CacheDtype, Options, inspect};

/// How weight files come into the new folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// As copies, also of what a link leads to; a file system that can shares their blocks.
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
    /// How unchanged weight files come there. Other files are copied, and their links stay links.
    pub carry: Carry,
    /// Leave the model's old KV scales behind.
    pub replace: bool,
    /// Replace a model folder of the destination's name, even the model itself.
    pub force: bool,
    /// Flush every file to disk before the result appears.
    pub sync: bool,
}

/// Suffixes of weight files.
const WEIGHTS: [&str; 5] = ["safetensors", "bin", "pt", "pth", "gguf"];

/// Refuses what [`write()`] would refuse for the model, the destination and the options alone, before anything is
/// measured. Returns the bytes of the files that it copies or makes anew in place of others.
///
/// # Errors
/// The model has errors, KV scales that are not to be replaced, or a file of the new scales' name; or the destination
/// is refused.
pub fn check(folder: &ModelFolder, options: &WriteOptions<'_>) -> Result<u64, CalibrateError> {
    refuse_unsound(folder)?;
    let plan = Plan::new(folder, options)?;
    let is_copied = |entry: &&Entry| is_copied(&entry.path, options.carry);
    let size = |entry: &Entry| {
        fs::metadata(plan.place.source.join(&entry.path)).map_or(0, |metadata| metadata.len())
    };
    Ok(plan
        .entries
        .iter()
        .filter(|entry| is_carried(entry, &plan.place.source))
        .filter(is_copied)
        .map(size)
        .sum())
}

/// What is known before the scales are.
struct Plan {
    old: OldScales,
    place: Destination,
    entries: Vec<Entry>,
}

impl Plan {
    fn new(folder: &ModelFolder, options: &WriteOptions<'_>) -> Result<Self, CalibrateError> {
        let old = OldScales::find(folder, options.replace)?;
        let place = Destination::check(folder.path(), options.destination, options.force)?;
        if options.carry == Carry::Symlink && place.is_source() {
            let reason = "is the model itself, whose weight files no link can lead to once it is replaced";
            return Err(RewriteError::destination(options.destination, reason).into());
        }
        let left_out = left_out(folder, &old);
        let mut entries = list(&place.source, &[&place.path, &WorkFolder::place(&place.path)])?;
        entries.retain(|entry| !left_out.contains(&entry.path));
        if entries.iter().any(|entry| entry.path == Path::new(SCALE_FILE)) {
            let reason = format!("cannot be written: the model has a file {SCALE_FILE} already");
            return Err(RewriteError::destination(options.destination, reason).into());
        }
        Ok(Self { old, place, entries })
    }
}

/// Writes a copy of the model with the scales of a calibration. It is made in a hidden folder, read back and inspected,
/// and then appears under its name. `progress` is told of the bytes that [`check`] counts. Returns what is worth
/// knowing.
///
/// # Errors
/// What [`check`] refuses; a file cannot be read or written; or the result would not be read as it is meant. Nothing is
/// left behind then.
pub fn write(
    folder: &ModelFolder,
    calibration: &Calibration,
    options: &WriteOptions<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<String>, CalibrateError> {
    let _span = info_span!("write", to = %options.destination.display()).entered();
    let Plan { old, place, entries } = Plan::new(folder, options)?;
    let mut edits = declare(folder, calibration.strategy, &calibration.range)?;
    let scales = scale_tensors(calibration);
    index(folder, &scales, &old.tensors, &mut edits)?;
    let scale_file = scale_file(&scales, calibration.strategy)?;
    let work = WorkFolder::open(&place.path, None, None)?;
    let written = || -> Result<Vec<String>, CalibrateError> {
        let tree = ResultFolder::new(&place, &entries, &work, options.sync)?;
        let copy =
            Copy { folder, dropped: &old.tensors, edits: &edits, carry: options.carry, tree, progress };
        let mut made = copy.make_changed()?;
        copy.tree.make_text(SCALE_FILE, &scale_file, "config.json")?;
        made.insert(Path::new(SCALE_FILE));
        copy.carry_over(&place.source, &mut made)?;
        let notes = read_back(&copy.tree.folder, calibration)?;
        // Links come last, because from here they may lead elsewhere than from the destination.
        copy.tree.link_and_tidy(&made)?;
        copy.tree.publish(&work, options.force)?;
        Ok(notes)
    };
    written().inspect_err(|_| drop(work.give_up(false)))
}

/// Files of old scales alone.
fn left_out(folder: &ModelFolder, old: &OldScales) -> BTreeSet<PathBuf> {
    let is_left_out = |shard: &&Shard| fates(shard, &old.tensors).iter().all(|fate| *fate == Fate::Dropped);
    let shards = folder.shards().iter().filter(|shard| !shard.tensors().is_empty()).filter(is_left_out);
    shards.map(file_name).chain(old.sidecars.iter().cloned()).map(PathBuf::from).collect()
}

/// Whether a file has a weight file's name.
fn is_weights(path: &Path) -> bool {
    path.extension().is_some_and(|extension| WEIGHTS.iter().any(|weights| extension == *weights))
}

/// Whether an entry of the source comes as a file. A link without an end is carried over as it is.
fn is_carried(entry: &Entry, source: &Path) -> bool {
    entry.kind == Kind::File || (is_weights(&entry.path) && source.join(&entry.path).is_file())
}

/// Whether the bytes of a file are copied, where none is made in its place.
fn is_copied(path: &Path, carry: Carry) -> bool {
    carry == Carry::Copy || !is_weights(path)
}

/// A copy in the making.
struct Copy<'a> {
    folder: &'a ModelFolder,
    /// Tensors to leave out.
    dropped: &'a BTreeSet<String>,
    edits: &'a Edits,
    carry: Carry,
    tree: ResultFolder<'a>,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl<'a> Copy<'a> {
    /// Makes the files that differ from the model's. Returns where they are.
    fn make_changed(&self) -> Result<BTreeSet<&'a Path>, CalibrateError> {
        let mut made = BTreeSet::new();
        for (name, content) in &self.edits.files {
            let is_old = self.tree.entries.iter().any(|entry| entry.path == Path::new(name));
            self.tree.make_text(name, content, if is_old { name } else { "config.json" })?;
            self.replaced(Path::new(name));
            made.insert(Path::new(name));
        }
        for shard in self.folder.shards() {
            let fates = fates(shard, self.dropped);
            let is_changed = fates.contains(&Fate::Dropped) && fates.contains(&Fate::Kept);
            let Some(name) = shard.path().file_name().filter(|_| is_changed) else { continue };
            self.tree.make(Path::new(name), "weights", |out, out_path| {
                write_without(shard, &fates, out, out_path)?;
                let metadata = shard.file().metadata();
                let metadata = metadata.map_err(|e| RewriteError::io("look at", shard.path(), e))?;
                Ok::<_, RewriteError>(((), metadata))
            })?;
            self.replaced(Path::new(name));
            made.insert(Path::new(name));
        }
        Ok(made)
    }

    /// Tells of a file in whose place another was made.
    fn replaced(&self, path: &Path) {
        let source = self.folder.path();
        let is_counted = |entry: &Entry| entry.path == path && is_carried(entry, source);
        if self.tree.entries.iter().any(is_counted)
            && is_copied(path, self.carry)
            && let Ok(metadata) = source.join(path).metadata()
        {
            (self.progress)(metadata.len());
        }
    }

    /// Brings the files that are not `made` anew, and adds them to those that are.
    fn carry_over(&self, source: &Path, made: &mut BTreeSet<&'a Path>) -> Result<(), CalibrateError> {
        for entry in self.tree.entries {
            let path = &entry.path;
            if !is_carried(entry, source) || made.contains(path.as_path()) {
                continue;
            }
            let full = source.join(path);
            let look_at = |e| RewriteError::io("look at", &full, e);
            let target = self.tree.folder.join(path);
            match self.carry {
                Carry::Hardlink | Carry::Symlink if is_weights(path) => {
                    // A link in the source may be relative, and a hard link to a link is a link.
                    let file = fs::canonicalize(&full).map_err(look_at)?;
                    let link = match self.carry {
                        Carry::Symlink => symlink(&file, &target),
                        Carry::Hardlink | Carry::Copy => fs::hard_link(&file, &target),
                    };
                    link.map_err(|e| RewriteError::io("create the link", &target, e))?;
                }
                Carry::Copy | Carry::Hardlink | Carry::Symlink => {
                    let metadata = fs::metadata(&full).map_err(look_at)?;
                    self.tree.copy(path, "file", Identity::of(&metadata), self.progress)?;
                }
            }
            made.insert(path);
        }
        Ok(())
    }
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
