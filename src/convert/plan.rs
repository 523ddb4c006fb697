//! What a conversion has to do, decided before anything is written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use safetensors::Dtype;

use super::factor::Change;
use super::kv_scale::compensate;
use super::names::{activation_scales, is_kv_scale, weight_scales};
use super::scale_cast::dtype_after;
use super::sidecar::rescale_table;
use super::tensor_edit::TensorEdit;
use super::{ConvertError, Factor};
use crate::Generation;
use crate::checkpoint::{
    CheckpointError, Finding, FindingCode, Flavor, ModelFolder, NameClass, Refusal, ScaleName, Shard,
    TensorParallel, classify, is_all_zero, list_names, narrow,
};
use crate::rewrite::{Edits, Fate, IndexEdit, RewriteError};
use crate::scales::{CacheDtypeRequest, Options, inspect};

/// A weight file and what becomes of its tensors.
#[derive(Debug)]
pub(super) struct WeightFile<'a> {
    pub(super) shard: &'a Shard,
    pub(super) actions: Vec<TensorEdit>,
}

impl WeightFile<'_> {
    /// Whether any tensor changes.
    pub(super) fn changes(&self) -> bool {
        self.actions.iter().any(|action| *action != TensorEdit::Keep)
    }

    /// What becomes of each tensor.
    pub(super) fn fates(&self) -> Vec<Fate> {
        self.actions.iter().map(|action| action.fate()).collect()
    }

    /// The bytes of its tensors afterwards, and whether they change.
    fn tensor_bytes(&self) -> (u64, bool) {
        let tensors = self.shard.tensors();
        let old: usize = tensors.iter().map(|tensor| tensor.end - tensor.start).sum();
        let new: usize =
            tensors.iter().zip(&self.actions).map(|(t, action)| action.fate().bytes_after(t)).sum();
        (new as u64, new != old)
    }
}

/// How many tensors of each kind change.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Planned {
    pub(super) weights: u64,
    pub(super) weight_scales: u64,
    pub(super) activation_scales: u64,
    pub(super) kv_scales: u64,
}

/// What there is to do.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) files: Vec<WeightFile<'a>>,
    pub(super) edits: Edits,
    pub(super) labelled: Vec<String>,
    pub(super) planned: Planned,
    /// Why nothing has to be done.
    pub(super) nothing: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<Finding>,
}

impl<'a> Plan<'a> {
    /// Decides. `strays` are weight files of the folder that are no part of the model, such as Mistral's consolidated
    /// ones, which some engines read instead.
    pub(super) fn new(
        folder: &'a ModelFolder,
        strays: &'a [Shard],
        change: Change,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self, ConvertError> {
        let flavor = folder.quant_config().flavor;
        let warnings = examine(folder, change.to, flavor, progress)?;
        let mut plan = Self {
            files: Vec::new(),
            edits: Edits::default(),
            labelled: Vec::new(),
            planned: Planned::default(),
            nothing: None,
            notes: Vec::new(),
            warnings,
        };
        let has_range = flavor.unwrap_or(Flavor::UNLABELLED).fp8_max();
        if has_range == change.flavor().fp8_max() {
            plan.nothing = Some(match flavor {
                Some(flavor) => format!(
                    "it is labelled {} ({has_range}), which {} reads as it is",
                    flavor.name(),
                    change.to
                ),
                None => format!(
                    "it has no fp8_dtype_flavor, so its range is {has_range}, which {} reads as it is",
                    change.to
                ),
            });
            return Ok(plan);
        }
        let shards = || folder.shards().iter().chain(strays);
        let keeps_weights = change.to == Generation::Gaudi3
            && change.factor == Factor::PowerOfTwo
            && any_code_above(shards(), 0x76)?;
        if keeps_weights {
            plan.notes.push(
                "FP8 weights reach 240, twice which is beyond 448: weights and their scales stay as they are, which \
                 gaudi3 reads as well; --factor exact re-ranges them"
                    .to_owned(),
            );
        }
        plan.files = shards()
            .map(|shard| WeightFile { shard, actions: vec![TensorEdit::Keep; shard.tensors().len()] })
            .collect();
        // The model's files share one set of names, the others another: those repeat the model's.
        let models = folder.shards().len();
        plan.choose(0..models, change, keeps_weights)?;
        plan.choose(models..plan.files.len(), change, keeps_weights)?;
        plan.note_other_fp8();
        plan.note_scales_left_alone();
        plan.edit(folder, change)?;
        Ok(plan)
    }

    /// Chooses what becomes of the tensors of these files.
    fn choose(
        &mut self,
        files: std::ops::Range<usize>,
        change: Change,
        keeps_weights: bool,
    ) -> Result<(), ConvertError> {
        let shards: Vec<&Shard> = self.files[files.clone()].iter().map(|file| file.shard).collect();
        let mut places: HashMap<&str, (usize, usize)> = HashMap::new();
        for (number, shard) in shards.iter().enumerate() {
            places.extend(shard.tensors().iter().enumerate().map(|(i, t)| (t.name.as_str(), (number, i))));
        }
        let first = files.start;
        for (number, shard) in shards.iter().enumerate() {
            for (index, tensor) in shard.tensors().iter().enumerate() {
                let file = || shard.path().to_owned();
                match classify(&tensor.name) {
                    NameClass::Scale(ScaleName { format, .. }) | NameClass::CrossAttention(format) => {
                        self.kv_scale(first + number, index, format.is_reciprocal())?;
                    }
                    _ if is_kv_scale(&tensor.name) => self.kv_scale(first + number, index, false)?,
                    _ if tensor.dtype != Dtype::F8_E4M3 || keeps_weights => {}
                    // Zero has the same code in every range.
                    _ if tensor.name.ends_with("zero_point") => {
                        if !is_all_zero(shard, tensor) {
                            return Err(ConvertError::ZeroPoint {
                                file: file(),
                                tensor: tensor.name.clone(),
                            });
                        }
                    }
                    _ => {
                        self.files[first + number].actions[index] = TensorEdit::Rerange;
                        self.planned.weights += 1;
                        let found = |names: &[String]| -> Vec<(usize, usize)> {
                            names.iter().filter_map(|name| places.get(name.as_str()).copied()).collect()
                        };
                        let names = weight_scales(&tensor.name);
                        let scales = found(&names);
                        if scales.is_empty() {
                            let tensor = tensor.name.clone();
                            return Err(ConvertError::NoScale { file: file(), tensor, looked_for: names });
                        }
                        for (file, index) in scales {
                            self.planned.weight_scales += self.scale(first + file, index, change)?;
                        }
                        for (file, index) in found(&activation_scales(&tensor.name)) {
                            self.planned.activation_scales += self.scale(first + file, index, change)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn kv_scale(&mut self, file: usize, index: usize, is_reciprocal: bool) -> Result<(), ConvertError> {
        let WeightFile { shard, actions } = &mut self.files[file];
        let tensor = &shard.tensors()[index];
        if !matches!(tensor.dtype, Dtype::F32 | Dtype::BF16 | Dtype::F16 | Dtype::F64 | Dtype::F8_E8M0) {
            let (path, tensor, dtype) = (shard.path().to_owned(), tensor.name.clone(), tensor.dtype);
            return Err(CheckpointError::ScaleDtype { path, tensor, dtype }.into());
        }
        actions[index] = TensorEdit::KvScale { is_reciprocal };
        self.planned.kv_scales += 1;
        Ok(())
    }

    /// Compensates a scale that multiplies on the way out. Returns how many there are: none where it was found before.
    fn scale(&mut self, file: usize, index: usize, change: Change) -> Result<u64, ConvertError> {
        let WeightFile { shard, actions } = &mut self.files[file];
        let tensor = &shard.tensors()[index];
        let factor = 1.0 / change.weight();
        if actions[index] != TensorEdit::Keep {
            return Ok(0);
        }
        let Some(to) = dtype_after(tensor.dtype, factor) else {
            let (file, dtype) = (shard.path().to_owned(), tensor.dtype);
            return Err(ConvertError::ScaleDtype { file, tensor: tensor.name.clone(), dtype, factor });
        };
        actions[index] = TensorEdit::Scale { factor, to };
        Ok(1)
    }

    /// Says which FP8 tensors of other types are left alone.
    fn note_other_fp8(&mut self) {
        let mut others: BTreeMap<String, u64> = BTreeMap::new();
        for tensor in self.files.iter().flat_map(|file| file.shard.tensors()) {
            if matches!(tensor.dtype, Dtype::F8_E5M2 | Dtype::F8_E4M3FNUZ | Dtype::F8_E5M2FNUZ) {
                *others.entry(format!("{:?}", tensor.dtype)).or_default() += 1;
            }
        }
        for (dtype, count) in others {
            self.notes
                .push(format!("{count} tensors of type {dtype} are carried over: only e4m3 has two ranges"));
        }
    }

    /// Names what is called like a KV scale and belongs to no cache that is known. Whether an engine applies such a number is
    /// not known either, so it stays what it is.
    fn note_scales_left_alone(&mut self) {
        let names = self.files.iter().flat_map(|file| file.shard.tensors()).map(|tensor| &tensor.name);
        let (mut towers, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match classify(name) {
                NameClass::OtherRole => towers.push(name.as_str()),
                NameClass::Refused(Refusal::UnknownPlace) => unknown.push(name.as_str()),
                _ => {}
            }
        }
        let groups =
            [("scales of towers, indexers and the like", towers), ("scales in unknown places", unknown)];
        for (what, names) in groups.into_iter().filter(|(_, names)| !names.is_empty()) {
            self.notes.push(format!(
                "{} {what} are carried over as they are: {}",
                names.len(),
                list_names(&names)
            ));
        }
    }

    /// Plans the edits of JSON files, or finds that there is nothing to do at all.
    fn edit(&mut self, folder: &ModelFolder, change: Change) -> Result<(), ConvertError> {
        let root = folder.path();
        let sidecars = folder.sidecars();
        if let Some(name) = sidecars.inc_scales()?.first() {
            return Err(ConvertError::IncScales { file: root.join(name) });
        }
        for table in sidecars.tables() {
            let name = file_name(table);
            let rescale = |x: f64| compensate(narrow(x), false, change);
            self.planned.kv_scales += rescale_table(&mut self.edits, root, &name, rescale)?;
        }
        // What a measurement means follows from the label alone.
        let has_measurements =
            !folder.sidecar_scales(TensorParallel::default(), &mut Default::default())?.is_empty();
        if !self.files.iter().any(WeightFile::changes) && !has_measurements {
            self.nothing = Some("it has neither FP8 (e4m3) weights nor KV scales".to_owned());
            return Ok(());
        }
        let places = &folder.quant_config().places;
        if places.is_empty() {
            return Err(ConvertError::NoQuantConfig { path: root.to_owned() });
        }
        self.labelled = self.edits.label(root, places, change.flavor())?;
        let sizes = || self.files.iter().map(|file| (file_name(file.shard.path()), file.tensor_bytes()));
        if sizes().any(|(_, (_, is_changed))| is_changed) {
            let file_bytes: BTreeMap<String, u64> = sizes().map(|(name, (bytes, _))| (name, bytes)).collect();
            let dropped = BTreeSet::new();
            let edit =
                IndexEdit { dropped: &dropped, added: Vec::new(), added_file: "", file_bytes: &file_bytes };
            let entries = std::fs::read_dir(root).map_err(|e| RewriteError::io("list", root, e))?;
            for entry in entries {
                let name = entry.map_err(|e| RewriteError::io("list", root, e))?.file_name();
                if let Some(name) = name.to_str().filter(|name| name.ends_with(".safetensors.index.json")) {
                    self.edits.index(root, name, &edit)?;
                }
            }
        }
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Refuses a model with errors. The weights of one that is labelled 240 are read for what they say of the label.
/// Returns what is questionable.
fn examine(
    folder: &ModelFolder,
    device: Generation,
    flavor: Option<Flavor>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<Finding>, ConvertError> {
    let has_kv_scales = folder.shards().iter().flat_map(Shard::tensors).any(|t| is_kv_scale(&t.name))
        || !folder.sidecar_scales(TensorParallel::default(), &mut Default::default())?.is_empty();
    // Scales that no config declares are applied by engines that are asked for an FP8 cache, so they must be sound.
    let kv_cache_dtype = if has_kv_scales { CacheDtypeRequest::Fp8 } else { CacheDtypeRequest::Auto };
    // Weights of the other range are read once, while they are converted.
    let verify_weights = flavor == Some(Flavor::E4m3fnuz) || device == Generation::Gaudi3;
    let inspection =
        inspect(folder, &Options { kv_cache_dtype, verify_weights, ..Options::new(device) }, progress)?;
    if inspection.findings.errors.is_empty() {
        // A scale that is not there is not converted.
        let mut warnings = inspection.findings.warnings;
        warnings.retain(|warning| warning.code != FindingCode::ScaleMissing);
        Ok(warnings)
    } else {
        Err(ConvertError::Model(inspection.findings.errors))
    }
}

/// Whether any e4m3 code, its sign ignored, is above `code`.
fn any_code_above<'a>(shards: impl Iterator<Item = &'a Shard>, code: u8) -> Result<bool, ConvertError> {
    const BLOCK_BYTES: usize = 256 << 10;
    let blocks: Vec<(&Shard, usize, usize)> = shards
        .flat_map(|shard| shard.tensors().iter().map(move |tensor| (shard, tensor)))
        .filter(|(_, tensor)| tensor.dtype == Dtype::F8_E4M3)
        .flat_map(|(shard, tensor)| {
            let starts = (tensor.start..tensor.end).step_by(BLOCK_BYTES);
            starts.map(move |start| (shard, start, tensor.end.min(start + BLOCK_BYTES)))
        })
        .collect();
    let found = blocks
        .into_par_iter()
        .map_init(Vec::new, |buffer, (shard, start, end)| {
            buffer.resize(end - start, 0);
            let read = shard.file().read_exact_at(buffer, start as u64);
            read.map_err(|e| RewriteError::io("read", shard.path(), e))?;
            Ok(buffer.iter().any(|byte| byte & 0x7F > code))
        })
        .find_any(|result: &Result<bool, ConvertError>| !matches!(result, Ok(false)));
    found.unwrap_or(Ok(false))
}
