//! A conversion from start to end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tracing::{debug, info_span};

use super::destination::Destination;
use super::factor::Change;
use super::layout::Layout;
use super::plan::{Plan, WeightFile};
use super::record::Record;
use super::shard::{ShardWriter, copy_file};
use super::tree::{Entry, Identity, Kind, link_text, list};
use super::work_folder::{Settings, WorkFolder, make_folder, remove, sync_folder};
use super::{Conversion, ConvertError, ConvertOptions, FileCounts, Outcome, WeightCounts};
use crate::checkpoint::{Finding, FindingCode, ModelFolder, Shard};
use crate::fp8::Rerange;

/// What a conversion tells while it runs, from several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// So many bytes are to be written by this process.
    Total(u64),
    /// So many more bytes are read or written.
    Bytes(u64),
}

/// Converts the model folder `source` to the folder `destination`, which appears when it is complete.
///
/// A result without work says why in [`Conversion::reason`], and nothing is written. A run that was killed is taken up
/// where it stopped. `progress` is told of bytes as they are done.
///
/// # Errors
/// See [`ConvertError`]; nothing has appeared under the destination's name then, and the source is as it was.
pub fn convert(
    source: &Path,
    destination: &Path,
    options: &ConvertOptions,
    progress: &(dyn Fn(Event) + Sync),
) -> Result<Conversion, ConvertError> {
    let place = Destination::check(source, destination, options.force)?;
    let folder = ModelFolder::open(&place.source)?;
    let entries = list(&place.source, &[&place.path, &WorkFolder::place(&place.path)])?;
    let strays = open_strays(&folder, &entries)?;
    let change = Change { to: options.to, factor: options.factor };
    let plan = {
        let _span = info_span!("plan").entered();
        Plan::new(&folder, &strays, change, &|bytes| progress(Event::Bytes(bytes)))?
    };
    let mut conversion = Conversion {
        outcome: Outcome::NothingToDo,
        reason: plan.nothing.clone(),
        to: options.to,
        factor: options.factor,
        weight_factor: (plan.planned.weights > 0).then(|| change.weight()),
        kv_scale_factor: change.kv_scale(),
        fp8_dtype_flavor: None,
        labelled: plan.labelled.clone(),
        weights: WeightCounts::default(),
        weight_scales: plan.planned.weight_scales,
        activation_scales: plan.planned.activation_scales,
        kv_scales: plan.planned.kv_scales,
        files: FileCounts::default(),
        bytes_written: 0,
        notes: plan.notes.clone(),
        warnings: plan.warnings.clone(),
    };
    if plan.nothing.is_some() {
        return Ok(conversion);
    }
    conversion.notes.extend(unread_weights(&entries));
    let settings = Settings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        to: options.to.name().to_owned(),
        factor: options.factor,
        part_count: options.part.map_or(1, super::Part::count),
    };
    let work = WorkFolder::open(&place.path, &settings, options.part)?;
    let run = Run {
        rerange: change.rerange()?,
        tasks: tasks(&place.source, &entries, &plan)?,
        source: &place.source,
        destination: &place.path,
        tree: work.tree(),
        state: work.state(),
        entries: &entries,
        plan: &plan,
        change,
        options,
        progress,
    };
    match run.all(&work, &mut conversion) {
        Ok(Some(_finishing)) => {
            let root = place.source.clone();
            let mode = folder_mode(&root)?;
            let tree = work.tree();
            if let Err(error) = set_mode(&tree, mode | 0o200) {
                return Err(work.give_up(error));
            }
            work.publish(options.force, options.sync)?;
            if mode & 0o200 == 0 {
                set_mode(&place.path, mode)?;
            }
            conversion.outcome = Outcome::Converted;
            conversion.warnings.extend(maybe_240(&folder, &conversion.weights));
            conversion.fp8_dtype_flavor = Some(change.flavor());
            Ok(conversion)
        }
        Ok(None) => {
            conversion.outcome = Outcome::PartDone;
            Ok(conversion)
        }
        Err(error) => Err(work.give_up(error)),
    }
}

/// Weights that could have been of the smaller range already never decide; this says how to find out.
fn maybe_240(folder: &ModelFolder, weights: &WeightCounts) -> Option<Finding> {
    let is_open = folder.quant_config().flavor.is_none() && weights.codes > 0 && weights.above_0x77 == 0;
    is_open.then(|| Finding {
        code: FindingCode::FlavorMissing,
        layer: None,
        message: format!(
            "none of {} FP8 codes lies above 240 and no flavor is given: the range may be 240 already; it was \
             converted as 448. If it is 240, add \"fp8_dtype_flavor\": \"float8_e4m3fnuz\" to the source instead",
            weights.codes
        ),
    })
}

/// Weight files of the folder that are no part of the model.
fn open_strays(folder: &ModelFolder, entries: &[Entry]) -> Result<Vec<Shard>, ConvertError> {
    let own: BTreeSet<&Path> = folder.shards().iter().map(Shard::path).collect();
    let is_weights = |entry: &&Entry| {
        entry.kind != Kind::Folder
            && entry.path.components().count() == 1
            && has_extension(&entry.path, "safetensors")
    };
    entries
        .iter()
        .filter(is_weights)
        .map(|entry| folder.path().join(&entry.path))
        // A link without an end is carried over as it is.
        .filter(|path| !own.contains(path.as_path()) && path.exists())
        .map(|path| Ok(Shard::open(&path)?))
        .collect()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// Says which weights are carried over without a look at them.
fn unread_weights(entries: &[Entry]) -> Option<String> {
    let is_unread = |entry: &&Entry| {
        let is_below = entry.path.components().count() > 1 && has_extension(&entry.path, "safetensors");
        entry.kind != Kind::Folder
            && (is_below || ["bin", "pt", "pth", "gguf", "npz"].iter().any(|e| has_extension(&entry.path, e)))
    };
    let names: Vec<String> = entries.iter().filter(is_unread).map(|e| e.path.display().to_string()).collect();
    let first = names.first()?;
    Some(format!(
        "{} weight files are carried over unread, such as {first}: only *.safetensors beside config.json are read",
        names.len()
    ))
}

/// A file that is made from one of the source.
struct Task<'a> {
    /// Where it is, from either folder.
    path: &'a Path,
    /// The weight file, where tensors of it change.
    weights: Option<&'a WeightFile<'a>>,
    source: Identity,
}

fn tasks<'a>(source: &Path, entries: &'a [Entry], plan: &'a Plan<'a>) -> Result<Vec<Task<'a>>, ConvertError> {
    let changed: BTreeMap<&Path, &WeightFile<'_>> =
        plan.files.iter().filter(|file| file.changes()).map(|file| (file.shard.path(), file)).collect();
    let mut tasks = Vec::new();
    for entry in entries {
        let full = source.join(&entry.path);
        let weights = changed.get(full.as_path()).copied();
        if entry.kind == Kind::Folder || is_edited(plan, &entry.path) {
            continue;
        }
        if weights.is_none() && entry.kind != Kind::File {
            continue;
        }
        let metadata = match weights {
            Some(file) => file.shard.file().metadata(),
            None => fs::metadata(&full),
        };
        let source = Identity::of(&metadata.map_err(|e| ConvertError::io("look at", &full, e))?);
        tasks.push(Task { path: &entry.path, weights, source });
    }
    Ok(tasks)
}

fn is_edited(plan: &Plan<'_>, path: &Path) -> bool {
    path.to_str().is_some_and(|name| plan.edits.files.contains_key(name))
}

struct Run<'a> {
    rerange: Rerange,
    tasks: Vec<Task<'a>>,
    source: &'a Path,
    destination: &'a Path,
    tree: PathBuf,
    state: PathBuf,
    entries: &'a [Entry],
    plan: &'a Plan<'a>,
    change: Change,
    options: &'a ConvertOptions,
    progress: &'a (dyn Fn(Event) + Sync),
}

impl Run<'_> {
    /// Makes this process's files, and the whole result where nothing is missing any more. Returns the lock
    /// under which it is to appear where it is whole.
    fn all(&self, work: &WorkFolder, conversion: &mut Conversion) -> Result<Option<File>, ConvertError> {
        let _span = info_span!("write").entered();
        for entry in self.entries.iter().filter(|entry| entry.kind == Kind::Folder) {
            make_folder(&self.tree.join(&entry.path))?;
        }
        let sizes: Vec<u64> = self.tasks.iter().map(|task| task.source.bytes).collect();
        let own = self.options.part.map_or_else(|| vec![true; sizes.len()], |part| part.own(&sizes));
        let mut open = Vec::new();
        for (task, _) in self.tasks.iter().zip(own).filter(|(_, is_own)| *is_own) {
            match self.finished(task)? {
                Some(_) => conversion.files.picked_up += 1,
                None => open.push(task),
            }
        }
        let total = open.iter().map(|task| task.source.bytes).sum();
        (self.progress)(Event::Total(total));
        // One file at a time where that is enough for all cores; else the pieces of several.
        open.into_par_iter().with_max_len(1).try_for_each(|task| self.make(task))?;
        conversion.bytes_written = total;
        let Some(finishing) = work.lock_for_finish()? else {
            conversion.reason = Some("another machine has finished the result".to_owned());
            return Ok(None);
        };
        let mut missing = 0;
        for task in &self.tasks {
            match self.finished(task)? {
                Some(record) => {
                    conversion.weights += record.weights;
                    *(if task.weights.is_some() {
                        &mut conversion.files.converted
                    } else {
                        &mut conversion.files.copied
                    }) += 1;
                }
                None => missing += 1,
            }
        }
        if missing > 0 {
            conversion.reason =
                Some(format!("{missing} of {} files are for the other machines to finish", self.tasks.len()));
            return Ok(None);
        }
        self.complete(conversion)?;
        Ok(Some(finishing))
    }

    /// The record of a file that is in the result already, made from the same source.
    fn finished(&self, task: &Task<'_>) -> Result<Option<Record>, ConvertError> {
        let Some(record) = Record::read(&self.state, task.path).filter(|record| record.source == task.source)
        else {
            return Ok(None);
        };
        let bytes = match task.weights {
            Some(file) => Layout::new(file.shard, &file.actions)?.bytes,
            None => task.source.bytes,
        };
        let there = fs::symlink_metadata(self.tree.join(task.path));
        Ok(there.is_ok_and(|file| file.is_file() && file.len() == bytes).then_some(record))
    }

    /// Writes a file beside the result, and moves it in when it is complete.
    fn make(&self, task: &Task<'_>) -> Result<(), ConvertError> {
        debug!(file = %task.path.display(), "writing");
        let new = self.state.join(format!("{}.part", Record::name(task.path)));
        let made = self.write(task, &new).and_then(|weights| {
            let path = self.tree.join(task.path);
            fs::rename(&new, &path).map_err(|e| ConvertError::io("move the finished file to", &path, e))?;
            Record { source: task.source, weights }.write(&self.state, task.path)
        });
        made.inspect_err(|_| drop(fs::remove_file(&new)))
    }

    fn write(&self, task: &Task<'_>, new: &Path) -> Result<WeightCounts, ConvertError> {
        let out = create(new)?;
        let progress = |bytes| (self.progress)(Event::Bytes(bytes));
        let path = self.source.join(task.path);
        let mut weights = WeightCounts::default();
        let metadata = |file: &File| file.metadata().map_err(|e| ConvertError::io("look at", &path, e));
        let source: Metadata = match task.weights {
            Some(WeightFile { shard, actions }) => {
                let layout = Layout::new(shard, actions)?;
                let (change, rerange) = (self.change, &self.rerange);
                let writer = ShardWriter {
                    shard,
                    layout: &layout,
                    change,
                    rerange,
                    out: &out,
                    out_path: new,
                    progress: &progress,
                };
                weights = writer.write()?;
                metadata(shard.file())?
            }
            None => {
                let from = File::open(&path).map_err(|e| ConvertError::io("open", &path, e))?;
                copy_file(&from, &path, task.source.bytes, &out, new, &progress)?;
                metadata(&from)?
            }
        };
        if Identity::of(&source) != task.source {
            return Err(ConvertError::Changed { path });
        }
        self.close(&out, new, &source)?;
        Ok(weights)
    }

    /// Gives a file the mode of its source, and flushes it where that is wanted.
    fn close(&self, out: &File, path: &Path, source: &Metadata) -> Result<(), ConvertError> {
        let mode = fs::Permissions::from_mode(source.permissions().mode() & 0o7777);
        out.set_permissions(mode).map_err(|e| ConvertError::io("set the mode of", path, e))?;
        if self.options.sync {
            out.sync_all().map_err(|e| ConvertError::io("flush", path, e))?;
        }
        Ok(())
    }

    /// Adds what is quick to the result: edited files, links and modes. Takes out what the source has not.
    fn complete(&self, conversion: &mut Conversion) -> Result<(), ConvertError> {
        for (name, content) in &self.plan.edits.files {
            let source = self.source.join(name);
            let metadata = fs::metadata(&source).map_err(|e| ConvertError::io("look at", &source, e))?;
            let (new, path) = (self.state.join("edited.part"), self.tree.join(name));
            let mut out = create(&new)?;
            out.write_all(content).map_err(|e| ConvertError::io("write", &new, e))?;
            self.close(&out, &new, &metadata)?;
            fs::rename(&new, &path).map_err(|e| ConvertError::io("move the finished file to", &path, e))?;
            conversion.files.edited += 1;
            conversion.bytes_written += content.len() as u64;
        }
        let made: BTreeSet<&Path> = self.tasks.iter().map(|task| task.path).collect();
        let mut expected: BTreeSet<&Path> = self.entries.iter().map(|entry| entry.path.as_path()).collect();
        for entry in self.entries {
            let Kind::Link(text) = &entry.kind else { continue };
            if made.contains(entry.path.as_path()) || is_edited(self.plan, &entry.path) {
                continue;
            }
            let path = self.tree.join(&entry.path);
            remove(&path)?;
            let text = link_text(&entry.path, text, self.source, self.destination);
            symlink(&text, &path).map_err(|e| ConvertError::io("create the link", &path, e))?;
            conversion.files.links += 1;
        }
        expected.insert(Path::new(""));
        for old in list(&self.tree, &[])?.iter().filter(|old| !expected.contains(old.path.as_path())) {
            remove(&self.tree.join(&old.path))?;
        }
        // What is in a folder comes before the folder, which may be read-only from then on.
        for entry in self.entries.iter().rev().filter(|entry| entry.kind == Kind::Folder) {
            let path = self.tree.join(&entry.path);
            if self.options.sync {
                sync_folder(&path)?;
            }
            set_mode(&path, folder_mode(&self.source.join(&entry.path))?)?;
        }
        if self.options.sync { sync_folder(&self.tree) } else { Ok(()) }
    }
}

fn create(path: &Path) -> Result<File, ConvertError> {
    let options = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).to_owned();
    options.open(path).map_err(|e| ConvertError::io("create", path, e))
}

fn folder_mode(path: &Path) -> Result<u32, ConvertError> {
    let metadata = fs::metadata(path).map_err(|e| ConvertError::io("look at", path, e))?;
    Ok(metadata.permissions().mode() & 0o7777)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), ConvertError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|e| ConvertError::io("set the mode of", path, e))
}
