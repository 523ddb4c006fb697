//! What a check found, in the shape of its JSON.

use serde::{Serialize, Serializer};

use super::concern::Verdict;
use super::distance::Distance;
use super::stored_cache::StoredCache;
use super::variant::Variants;
use crate::device::Backend;
use crate::scales::CacheDtype;

/// Where the activations come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivationSource {
    /// A file of captured ones.
    File,
    /// Drawn to the range that the scales were calibrated for.
    Synthetic,
}

/// What a check found.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Where the activations come from.
    pub activations: ActivationSource,
    /// What computed, and how products were accumulated.
    #[serde(rename = "mode", serialize_with = "arithmetic")]
    pub backend: Backend,
    /// The layers that were run.
    pub layers: Vec<LayerCheck>,
    /// The layers with a KV cache that were not.
    pub skipped: Vec<SkippedLayer>,
    /// What is not as it should be, most severe first.
    pub warnings: Vec<String>,
    /// What the numbers leave out.
    pub notes: Vec<String>,
    /// All of it in a sentence.
    pub verdict: String,
    /// The verdict as a value.
    #[serde(skip)]
    pub kind: Verdict,
}

fn arithmetic<S: Serializer>(backend: &Backend, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(backend.arithmetic())
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerCheck {
    /// The layer's number.
    pub layer: usize,
    /// The type of its cache.
    pub kv_cache_dtype: CacheDtype,
    /// The tokens that were run.
    pub tokens: usize,
    /// All tokens in one prefill, which uses keys and values as they were computed.
    pub prefill: Variants<Distance>,
    /// Every token computed through the cache.
    pub decode: Variants<Distance>,
    /// What the cache holds with the scales as inspected.
    pub cache: StoredCache,
}

/// A layer that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedLayer {
    /// The layer's number.
    pub layer: usize,
    /// Why.
    pub reason: String,
}

/// The outputs of a layer with the scales as inspected, `[tokens, heads * v_head_dim]`.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerOutputs {
    /// The layer's number.
    pub layer: usize,
    /// The tokens.
    pub tokens: usize,
    /// All tokens in one prefill.
    pub prefill: Vec<f32>,
    /// Every token computed through the cache.
    pub decode: Vec<f32>,
}
