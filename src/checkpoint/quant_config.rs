//! The quantization config: which file holds it, what it says of the KV cache, and the FP8 range.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::config::nested_objects;
use super::json::{Document, kind};
use super::kv_scheme::{KvScheme, TORCH_DTYPE_KEY, declared_scheme};
use super::transforms::warn_of_rotation;
use super::{CheckpointError, FindingCode, Findings};
use crate::Generation;

/// The value of `fp8_dtype_flavor`: a label for the range that values were quantized to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Flavor {
    /// `float8_e4m3fn`: up to 448.
    #[serde(rename = "float8_e4m3fn")]
    E4m3fn,
    /// `float8_e4m3fnuz`: up to 240. The bytes decode as `e4m3fn` all the same.
    #[serde(rename = "float8_e4m3fnuz")]
    E4m3fnuz,
}

impl Flavor {
    /// The flavor that every reader takes a checkpoint without a label for.
    pub const UNLABELLED: Self = Self::E4m3fn;

    /// The label of values that were quantized to a generation's range.
    #[must_use]
    pub const fn of(generation: Generation) -> Self {
        match generation {
            Generation::Gaudi2 => Self::E4m3fnuz,
            Generation::Gaudi3 => Self::E4m3fn,
        }
    }

    /// The generation whose range this label stands for.
    #[must_use]
    pub const fn generation(self) -> Generation {
        match self {
            Self::E4m3fn => Generation::Gaudi3,
            Self::E4m3fnuz => Generation::Gaudi2,
        }
    }

    /// The largest value that this label stands for: 448 or 240.
    #[must_use]
    pub const fn fp8_max(self) -> u32 {
        whole_fp8_max(self.generation())
    }

    /// The label as configs spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::E4m3fn => "float8_e4m3fn",
            Self::E4m3fnuz => "float8_e4m3fnuz",
        }
    }
}

/// The largest value of a generation's FP8 as reports print it: a whole number.
#[must_use]
pub(crate) const fn whole_fp8_max(generation: Generation) -> u32 {
    generation.fp8_max() as u32
}

/// The key of the flavor.
pub(crate) const FLAVOR_KEY: &str = "fp8_dtype_flavor";

/// Where a quantization config stands: the object at a path of keys in a file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigPlace {
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
}

impl fmt::Display for ConfigPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, ": {}", self.path.join(".")) }
    }
}

/// What a checkpoint says about its own quantization.
#[derive(Debug, Clone, Default)]
pub struct QuantConfig {
    /// Where it was found, as `file: key`; `None` where the checkpoint has none.
    pub source: Option<String>,
    /// `quant_method`, or the producer's name where there is none.
    pub method: Option<String>,
    /// `provider`.
    pub provider: Option<String>,
    /// The KV cache it declares.
    pub kv_scheme: KvScheme,
    /// `fp8_dtype_flavor`.
    pub flavor: Option<Flavor>,
    /// Where the flavor belongs: this config first, then those that repeat it.
    pub(crate) places: Vec<ConfigPlace>,
}

/// The files that may hold a quantization config.
pub(crate) struct QuantSources<'a> {
    pub(crate) config: &'a Document,
    pub(crate) hf_quant_config: Option<&'a Document>,
    pub(crate) quantization_config: Option<&'a Document>,
    pub(crate) model_description: Option<&'a Document>,
}

struct Candidate<'a> {
    source: String,
    object: &'a Map<String, Value>,
    /// It is a file of its own, where ModelOpt puts most of the config under `quantization`.
    is_file: bool,
    place: ConfigPlace,
}

impl<'a> Candidate<'a> {
    fn at(document: &Document, path: &str, object: &'a Map<String, Value>) -> Self {
        let path = path.split('.').map(ToOwned::to_owned).collect();
        let place = ConfigPlace { file: document.file_name(), path };
        Self { source: place.to_string(), object, is_file: false, place }
    }

    fn file(document: &Document, object: &'a Map<String, Value>) -> Self {
        let nested = object.get("quantization").filter(|inner| inner.get(FLAVOR_KEY).is_some());
        let is_nested = nested.is_some() && !object.contains_key(FLAVOR_KEY);
        let path = if is_nested { vec!["quantization".to_owned()] } else { Vec::new() };
        let place = ConfigPlace { file: document.file_name(), path };
        Self { source: document.file_name(), object, is_file: true, place }
    }

    /// Whether it is a quantization config by more than a common word, or has a flavor that could contradict another.
    fn repeats_the_flavor(&self) -> bool {
        let is_common = self.place.path.last().is_some_and(|key| key == "quantization");
        !is_common || self.object.contains_key(FLAVOR_KEY) || self.is_file
    }
}

impl QuantConfig {
    /// Reads the quantization config: the outermost in `config.json`, else `hf_quant_config.json`, else
    /// `quantization_config.json`. A lower one that says something else is warned of.
    pub(crate) fn read(sources: &QuantSources<'_>, findings: &mut Findings) -> Result<Self, CheckpointError> {
        let mut candidates = candidates(sources)?.into_iter();
        if let Some(description) = sources.model_description {
            note_modelslim(description, findings);
        }
        let Some(first) = candidates.next() else { return Ok(Self::of_root(sources.config, findings)) };
        let mut chosen = Self::of(&first, sources, findings);
        chosen.places.push(first.place);
        for other in candidates {
            // What is wrong inside a config that does not count is not worth a warning of its own.
            let said = Self::of(&other, sources, &mut Findings::default());
            warn_of_disagreement(&chosen, &said, findings);
            if other.repeats_the_flavor() {
                chosen.places.push(other.place);
            }
        }
        Ok(chosen)
    }

    /// TGI's key stands beside the quantization config, so it may stand there alone.
    fn of_root(config: &Document, findings: &mut Findings) -> Self {
        let source = format!("{}: {TORCH_DTYPE_KEY}", config.file_name());
        let scheme = declared_scheme(&Map::new(), config.value.as_object(), &source, findings);
        match scheme {
            KvScheme::None => Self::default(),
            kv_scheme => Self { source: Some(source), kv_scheme, ..Self::default() },
        }
    }

    fn of(candidate: &Candidate<'_>, sources: &QuantSources<'_>, findings: &mut Findings) -> Self {
        let object = candidate.object;
        let string = |key: &str| object.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let producer = object.get("producer").and_then(|p| p.get("name")).and_then(Value::as_str);
        let root = sources.config.value.as_object();
        warn_of_rotation(object, &candidate.source, findings);
        Self {
            source: Some(candidate.source.clone()),
            method: string("quant_method").or_else(|| producer.map(ToOwned::to_owned)),
            provider: string("provider"),
            kv_scheme: declared_scheme(object, root, &candidate.source, findings),
            flavor: read_flavor(candidate, findings),
            places: Vec::new(),
        }
    }
}

/// Every quantization config there is, the one that counts first.
fn candidates<'a>(sources: &QuantSources<'a>) -> Result<Vec<Candidate<'a>>, CheckpointError> {
    let mut found = Vec::new();
    let config = sources.config;
    for (path, object) in nested_objects(config) {
        // `compression_config` is the older compressed-tensors key; TensorRT-LLM writes `quantization`.
        for key in ["quantization_config", "compression_config", "quantization"] {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            match object.get(key) {
                Some(Value::Object(inner)) if !inner.is_empty() => {
                    found.push(Candidate::at(config, &path, inner));
                }
                None | Some(Value::Null | Value::Object(_)) => {}
                // Too common a word to be taken for TensorRT-LLM's whatever it holds.
                Some(_) if key == "quantization" => {}
                Some(other) => {
                    let reason = format!("{} where an object is needed", kind(other));
                    return Err(CheckpointError::key(&config.path, path, reason));
                }
            }
        }
    }
    let files = [sources.hf_quant_config, sources.quantization_config];
    for document in files.into_iter().flatten() {
        if let Some(object) = document.value.as_object() {
            found.push(Candidate::file(document, object));
        }
    }
    Ok(found)
}

fn read_flavor(candidate: &Candidate<'_>, findings: &mut Findings) -> Option<Flavor> {
    let source = &candidate.source;
    // In a file of its own, both the file and what it calls `quantization` are the top level.
    let wrapped =
        candidate.object.get("quantization").filter(|_| candidate.is_file).and_then(|q| q.get(FLAVOR_KEY));
    match candidate.object.get(FLAVOR_KEY).or(wrapped) {
        Some(Value::String(name)) if name == Flavor::E4m3fn.name() => return Some(Flavor::E4m3fn),
        Some(Value::String(name)) if name == Flavor::E4m3fnuz.name() => return Some(Flavor::E4m3fnuz),
        None | Some(Value::Null) => {}
        Some(other) => findings.warn(
            FindingCode::FlavorUnknown,
            None,
            format!(
                "{source}: {FLAVOR_KEY} is {other}; known are \"float8_e4m3fn\" and \"float8_e4m3fnuz\", so it is ignored"
            ),
        ),
    }
    let nested = candidate
        .object
        .iter()
        .find(|(_, value)| value.get(FLAVOR_KEY).is_some_and(|flavor| !flavor.is_null()));
    if let Some((key, _)) = nested {
        findings.warn(
            FindingCode::FlavorMisplaced,
            None,
            format!(
                "{source}: {FLAVOR_KEY} stands under {key}; it counts only at the top level, so it is ignored"
            ),
        );
    }
    None
}

fn warn_of_disagreement(chosen: &QuantConfig, other: &QuantConfig, findings: &mut Findings) {
    let (Some(first), Some(second)) = (&chosen.source, &other.source) else { return };
    if chosen.kv_scheme != other.kv_scheme {
        findings.warn(
            FindingCode::ConfigsDisagree,
            None,
            format!(
                "{first} declares {}, {second} declares {}; the first counts",
                chosen.kv_scheme, other.kv_scheme
            ),
        );
    }
    if chosen.flavor != other.flavor && other.flavor.is_some() {
        findings.warn(
            FindingCode::ConfigsDisagree,
            None,
            format!(
                "{first} has the flavor {}, {second} has {}; the first counts",
                chosen.flavor.map_or("none", Flavor::name),
                other.flavor.map_or("none", Flavor::name)
            ),
        );
    }
}

/// `quant_model_description.json` of vllm-ascend describes int8 caches.
fn note_modelslim(description: &Document, findings: &mut Findings) {
    for key in ["kv_cache_type", "fa_quant_type"] {
        match description.value.get(key) {
            None | Some(Value::Null) => {}
            Some(value) => findings.warn(
                FindingCode::Int8Scheme,
                None,
                format!(
                    "{}: {key} is {}, an int8 cache of another backend; it declares no FP8 cache",
                    description.file_name(),
                    value.as_str().map_or_else(|| kind(value).to_owned(), |s| format!("{s:?}"))
                ),
            ),
        }
    }
}
