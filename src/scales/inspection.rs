//! What an inspection found, in the shape of its JSON.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::adjustment::ScaleAdjustment;
use super::layer_sizes::LayerSizes;
use super::weights::WeightScan;
use crate::checkpoint::{Attention, Findings, Flavor};
use crate::{Generation, HeadScales, ScaleFactors};

/// The type of a KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheDtype {
    /// bfloat16, without scales.
    Bf16,
    /// The device's e4m3.
    Fp8,
}

/// Everything that is known about a model's KV scales on a device.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// The model.
    pub model: ModelReport,
    /// What its quantization config says.
    pub quantization: QuantizationReport,
    /// The device's generation.
    #[serde(serialize_with = "generation_name")]
    pub device: Generation,
    /// The type of the cache, once `auto` is resolved.
    pub kv_cache_dtype: CacheDtype,
    /// The decision on scale adjustment.
    pub scale_adjustment: ScaleAdjustment,
    /// The rank whose part of per-head scales is shown, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_parallel: Option<TensorParallelReport>,
    /// The layers that have a KV cache, draft layers last.
    pub layers: Vec<LayerReport>,
    /// The KV-scale tensors that no layer takes, sorted.
    pub unused: Vec<String>,
    /// The result of reading all FP8 weights, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightScan>,
    /// Notes, warnings and errors.
    #[serde(flatten)]
    pub findings: Findings,
}

pub(crate) fn generation_name<S: Serializer>(
    generation: &Generation,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(generation.name())
}

/// The model, as its config describes it.
#[derive(Debug, Clone, Serialize)]
pub struct ModelReport {
    /// The folder, as it was given.
    pub path: String,
    /// The model's class.
    pub architecture: String,
    /// `mha`, `mla`, `mixed` where layers differ, or `none` where no layer has a cache.
    pub attention: String,
    /// Layers of the model, those without a cache included, draft layers not.
    pub layers: usize,
    /// Draft layers behind them.
    pub draft_layers: usize,
    /// Query heads.
    pub num_heads: usize,
    /// Key and value heads of the first layer with a cache.
    pub num_kv_heads: usize,
}

/// The quantization config.
#[derive(Debug, Clone, Serialize)]
pub struct QuantizationReport {
    /// `quant_method`.
    pub method: Option<String>,
    /// The declared KV cache: `fp8`, the name of another, or null.
    pub kv_cache_scheme: Option<String>,
    /// `tensor` or `attn_head`, where the declared cache is FP8.
    pub strategy: Option<String>,
    /// The flavor, where it is one of the two that mean something.
    pub fp8_dtype_flavor: Option<Flavor>,
    /// The file and key that all of this comes from.
    pub source: Option<String>,
}

/// A tensor-parallel rank.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct TensorParallelReport {
    /// The number of ranks.
    pub size: usize,
    /// This rank.
    pub rank: usize,
}

/// The scales of one layer. Each is null where the layer's cache is not FP8 or where an error says why.
#[derive(Debug, Clone, Serialize)]
pub struct LayerReport {
    /// The layer's number.
    pub layer: usize,
    /// The kind of its cache.
    pub attention: Attention,
    /// Whether it is a draft layer.
    pub draft: bool,
    /// The type of its own cache, which differs from the model's for skipped layers.
    pub kv_cache_dtype: CacheDtype,
    /// The layer whose cache it reads, where that is not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_owner: Option<usize>,
    /// The sizes of its attention.
    #[serde(flatten)]
    pub sizes: LayerSizes,
    /// The key's scale, or the latent's.
    pub k: Option<LayerScale>,
    /// The value's scale. Null for an MLA layer unless `max-kv` was asked for.
    pub v: Option<LayerScale>,
    /// The query's scale.
    pub q: Option<LayerScale>,
    /// The scale of the softmax probabilities.
    pub prob: Option<LayerScale>,
}

/// One scale of a layer: raw, as it is applied, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerScale {
    /// The dequantization factor of the checkpoint; 1.0 where it is defaulted, `None` where it is dynamic.
    pub checkpoint: Option<HeadScales>,
    /// What the device multiplies with; `None` where the scale is dynamic.
    pub factors: Option<ScaleFactors>,
    /// Where the scale comes from.
    pub origin: Origin,
    /// The tensor, or a sidecar's file and key, that holds the number.
    pub tensor: Option<String>,
}

impl LayerScale {
    /// What multiplies values on the way into FP8; `None` where the scale is dynamic.
    #[must_use]
    pub fn quant(&self) -> Option<&HeadScales> {
        self.factors.as_ref().map(|factors| &factors.quant)
    }

    /// What multiplies codes on the way out; `None` where the scale is dynamic.
    #[must_use]
    pub fn dequant(&self) -> Option<&HeadScales> {
        self.factors.as_ref().map(|factors| &factors.dequant)
    }
}

impl Serialize for LayerScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("LayerScale", 5)?;
        object.serialize_field("checkpoint", &self.checkpoint.as_ref().map(Numbers))?;
        object.serialize_field("quant", &self.quant().map(Numbers))?;
        object.serialize_field("dequant", &self.dequant().map(Numbers))?;
        object.serialize_field("origin", &self.origin)?;
        object.serialize_field("tensor", &self.tensor)?;
        object.end()
    }
}

/// The JSON of a scale: a number for all heads, or an array with one for each.
struct Numbers<'a>(&'a HeadScales);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            HeadScales::One(number) => number.serialize(serializer),
            HeadScales::PerHead(numbers) => numbers.serialize(serializer),
        }
    }
}

/// Where a scale comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Its own tensor.
    Loaded,
    /// The other one of k and v, or one tensor for both.
    Duplicated,
    /// The layer whose cache this layer reads.
    Inherited,
    /// Nowhere: 1.0, not adjusted.
    Defaulted,
    /// Computed from each token as it comes.
    Dynamic,
}

impl Inspection {
    /// Whether the model can be run as asked: no errors, and under `strict` no warnings either.
    #[must_use]
    pub fn is_fine(&self, strict: bool) -> bool {
        self.findings.errors.is_empty() && (!strict || self.findings.warnings.is_empty())
    }
}
