//! A model folder, opened: its configs, its weight files and its sidecar files.

use std::path::{Path, PathBuf};

use tracing::{debug, info_span};

use super::config::{AttentionConfig, TextConfig};
use super::json::{Document, read_object};
use super::quant_config::{QuantConfig, QuantSources};
use super::shards::{Shard, list_files, open_shards};
use super::sidecar::{SidecarFiles, SidecarScale, TensorParallel};
use super::{CheckpointError, Findings, LayerPlan};

/// A Hugging Face model folder whose configs are read and whose shard headers are checked.
#[derive(Debug)]
pub struct ModelFolder {
    path: PathBuf,
    config: Document,
    architecture: String,
    layers: LayerPlan,
    quant: QuantConfig,
    shards: Vec<Shard>,
    sidecars: SidecarFiles,
    model_type: Option<String>,
    findings: Findings,
}

impl ModelFolder {
    /// Opens a folder: reads its JSON files and the headers of its weight files. Weights are not read.
    ///
    /// # Errors
    /// The folder, a config or a weight file cannot be read or is damaged; see [`CheckpointError`].
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let _span = info_span!("read", model = %path.display()).entered();
        if !std::fs::metadata(path).map_err(|e| CheckpointError::io(path, e))?.is_dir() {
            return Err(CheckpointError::NotAModel {
                path: path.to_owned(),
                reason: "is not a folder; give the folder that holds config.json".to_owned(),
            });
        }
        let files = list_files(path)?;
        let find = |name: &str| files.iter().find(|f| f.file_name().is_some_and(|n| n == name));
        let read = |name: &str| find(name).map(|path| read_object(path)).transpose();
        let Some(config) = read("config.json")?.map_or_else(|| read("params.json"), |c| Ok(Some(c)))? else {
            return Err(CheckpointError::NotAModel {
                path: path.to_owned(),
                reason: "holds no config.json (nor Mistral's params.json)".to_owned(),
            });
        };
        let mut findings = Findings::default();
        let text = TextConfig::find(&config)?;
        let shards = open_shards(path, &mut findings)?;
        let layers = LayerPlan::read(&text, &|layers| has_draft_weights(&shards, layers), &mut findings)?;
        let (hf_quant_config, quantization_config) =
            (read("hf_quant_config.json")?, read("quantization_config.json")?);
        let model_description = read("quant_model_description.json")?;
        let quant = QuantConfig::read(
            &QuantSources {
                config: &config,
                hf_quant_config: hf_quant_config.as_ref(),
                quantization_config: quantization_config.as_ref(),
                model_description: model_description.as_ref(),
            },
            &mut findings,
        )?;
        let architecture = architecture(&config, &text);
        let model_type = text.model_type().map(ToOwned::to_owned);
        let sidecars = SidecarFiles::find(&files);
        if shards.is_empty() && sidecars.is_empty() {
            return Err(CheckpointError::NotAModel {
                path: path.to_owned(),
                reason: "holds no *.safetensors; other weight formats are not read".to_owned(),
            });
        }
        debug!(shards = shards.len(), layers = layers.cached.len(), "model folder read");
        Ok(Self {
            path: path.to_owned(),
            config,
            architecture,
            layers,
            quant,
            shards,
            sidecars,
            model_type,
            findings,
        })
    }

    /// The folder's path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model's class, such as `DeepseekV2ForCausalLM`, or its `model_type`, or `unknown`.
    #[must_use]
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// What its config says about how attention is computed. It is read anew: an inspection needs none of it.
    ///
    /// # Errors
    /// A key holds something else than it must.
    pub fn attention_config(&self) -> Result<AttentionConfig, CheckpointError> {
        AttentionConfig::read(&TextConfig::find(&self.config)?)
    }

    /// Its layers.
    #[must_use]
    pub fn layers(&self) -> &LayerPlan {
        &self.layers
    }

    /// What it says about its quantization.
    #[must_use]
    pub fn quant_config(&self) -> &QuantConfig {
        &self.quant
    }

    /// Its weight files.
    #[must_use]
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// Its sidecar files.
    pub(crate) fn sidecars(&self) -> &SidecarFiles {
        &self.sidecars
    }

    /// What reading it brought up.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The names of its sidecar files.
    pub(crate) fn sidecar_names(&self) -> Vec<String> {
        self.sidecars.names()
    }

    /// The scales of its sidecar files, as this rank sees them.
    ///
    /// # Errors
    /// A sidecar file cannot be read or does not have one of the shapes known.
    pub fn sidecar_scales(
        &self,
        tensor_parallel: TensorParallel,
        findings: &mut Findings,
    ) -> Result<Vec<SidecarScale>, CheckpointError> {
        self.sidecars.read(self.model_type.as_deref(), tensor_parallel, findings)
    }
}

/// Whether any weight is of a draft that follows so many layers: under a name of its own, or numbered on from the last.
fn has_draft_weights(shards: &[Shard], layers: usize) -> bool {
    let next = format!(".layers.{layers}.");
    let mut names = shards.iter().flat_map(Shard::tensors).map(|tensor| tensor.name.as_str());
    names.any(|name| name.starts_with("mtp.") || name.contains(".mtp") || name.contains(&next))
}

fn architecture(config: &Document, text: &TextConfig<'_>) -> String {
    let named = |value: &serde_json::Value| Some(value.get("architectures")?.get(0)?.as_str()?.to_owned());
    named(&config.value)
        .or_else(|| text.get("architectures")?.get(0)?.as_str().map(ToOwned::to_owned))
        .or_else(|| config.value.get("architecture")?.as_str().map(ToOwned::to_owned))
        .or_else(|| text.model_type().map(ToOwned::to_owned))
        .unwrap_or_else(|| "unknown".to_owned())
}
