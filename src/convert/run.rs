//! A conversion from start to end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use tracing::{debug, info_span};

use super::factor::Change;
use super::plan::{Plan, WeightFile};
use super::progress_record::ProgressRecord;
use super::shard::ShardWriter;
use super::{Conversion, ConvertError, ConvertOptions, Factor, FileCounts, Outcome, WeightCounts, WorkShare};
use crate::checkpoint::{CheckpointError, Finding, FindingCode, ModelFolder, Shard};
use crate::fp8::Rerange;
use crate::rewrite::{
    Destination, Entry, Identity, Kind, ResultFolder, RewriteError, ShardLayout, WorkFolder, list,
};

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
    let mut conversion = planned_conversion(&plan, change);
    if plan.nothing.is_some() {
        return Ok(conversion);
    }
    conversion.notes.extend(unread_weights(&entries));
    let settings = SharedSettings::of(options).to_json(source)?;
    let work = WorkFolder::open(&place.path, Some(&settings), options.part.map(WorkShare::index))?;
    let mut run = || -> Result<bool, ConvertError> {
        let run = Run {
            rerange: change.rerange()?,
            tasks: tasks(&place.source, &entries, &plan)?,
            tree: ResultFolder::new(&place, &entries, &work, options.sync)?,
            plan: &plan,
            change,
            options,
            progress,
        };
        run.all(&work, &mut conversion)
    };
    match run() {
        Ok(true) => {
            conversion.outcome = Outcome::Converted;
            conversion.warnings.extend(maybe_240(&folder, &conversion.weights));
            conversion.fp8_dtype_flavor = Some(change.flavor());
            Ok(conversion)
        }
        Ok(false) => {
            conversion.outcome = Outcome::PartDone;
            Ok(conversion)
        }
        Err(error) => {
            let kept = work.give_up(error.keeps_finished_files());
            Err(error.kept_in(kept))
        }
    }
}

/// The report of a conversion that has written nothing yet.
fn planned_conversion(plan: &Plan<'_>, change: Change) -> Conversion {
    Conversion {
        outcome: Outcome::NothingToDo,
        reason: plan.nothing.clone(),
        to: change.to,
        factor: change.factor,
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
    }
}

/// What all processes that work on one result must agree on.
#[derive(Serialize)]
struct SharedSettings {
    version: &'static str,
    to: &'static str,
    factor: Factor,
    part_count: usize,
}

impl SharedSettings {
    fn of(options: &ConvertOptions) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            to: options.to.name(),
            factor: options.factor,
            part_count: options.part.map_or(1, WorkShare::count),
        }
    }

    fn to_json(&self, source: &Path) -> Result<String, CheckpointError> {
        serde_json::to_string(self).map_err(|e| CheckpointError::json(source, e.to_string()))
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
        let source = Identity::of(&metadata.map_err(|e| RewriteError::io("look at", &full, e))?);
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
    tree: ResultFolder<'a>,
    plan: &'a Plan<'a>,
    change: Change,
    options: &'a ConvertOptions,
    progress: &'a (dyn Fn(Event) + Sync),
}

impl Run<'_> {
    /// Makes this process's files, and makes the result appear where nothing is missing any more. Returns whether it did.
    fn all(&self, work: &WorkFolder, conversion: &mut Conversion) -> Result<bool, ConvertError> {
        let _span = info_span!("write").entered();
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
        // Held until the result has appeared.
        let Some(_finishing) = work.lock_for_finish()? else {
            conversion.reason = Some("another machine has finished the result".to_owned());
            return Ok(false);
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
            return Ok(false);
        }
        let mut made: BTreeSet<&Path> = self.tasks.iter().map(|task| task.path).collect();
        for (name, content) in &self.plan.edits.files {
            self.tree.make_text(name, content, name)?;
            made.insert(Path::new(name));
            conversion.files.edited += 1;
            conversion.bytes_written += content.len() as u64;
        }
        conversion.files.links = self.tree.link_and_tidy(&made)?;
        self.tree.publish(work, self.options.force)?;
        Ok(true)
    }

    /// The record of a file that is in the result already, made from the same source.
    fn finished(&self, task: &Task<'_>) -> Result<Option<ProgressRecord>, ConvertError> {
        let record = ProgressRecord::read(&self.tree.state, task.path);
        let Some(record) = record.filter(|record| record.source == task.source) else {
            return Ok(None);
        };
        let bytes = match task.weights {
            Some(file) => ShardLayout::new(file.shard, &file.fates())?.bytes,
            None => task.source.bytes,
        };
        let there = fs::symlink_metadata(self.tree.folder.join(task.path));
        Ok(there.is_ok_and(|file| file.is_file() && file.len() == bytes).then_some(record))
    }

    /// Makes a file, and writes down that it is finished.
    fn make(&self, task: &Task<'_>) -> Result<(), ConvertError> {
        debug!(file = %task.path.display(), "writing");
        let part_name = ProgressRecord::name(task.path);
        let progress = |bytes| (self.progress)(Event::Bytes(bytes));
        let weights = match task.weights {
            Some(file) => self.tree.make(task.path, &part_name, |out, out_path| {
                self.write(file, task.source, out, out_path, &progress)
            })?,
            None => {
                self.tree.copy(task.path, &part_name, task.source, &progress)?;
                WeightCounts::default()
            }
        };
        Ok(ProgressRecord { source: task.source, weights }.write(&self.tree.state, task.path)?)
    }

    fn write(
        &self,
        file: &WeightFile<'_>,
        was: Identity,
        out: &File,
        out_path: &Path,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(WeightCounts, fs::Metadata), ConvertError> {
        let WeightFile { shard, actions } = file;
        let layout = ShardLayout::new(shard, &file.fates())?;
        let (change, rerange) = (self.change, &self.rerange);
        let writer =
            ShardWriter { shard, actions, layout: &layout, change, rerange, out, out_path, progress };
        let weights = writer.write()?;
        let metadata = shard.file().metadata().map_err(|e| RewriteError::io("look at", shard.path(), e))?;
        if Identity::of(&metadata) != was {
            return Err(RewriteError::Changed { path: shard.path().to_owned() }.into());
        }
        Ok((weights, metadata))
    }
}
