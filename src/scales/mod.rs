//! What a checkpoint's scales mean on a device: the FP8 range, the adjustment, and the scales of each layer.

mod adjustment;
mod collect;
mod heads;
mod inspect;
mod inspection;
mod policy;
mod resolve;
mod weights;

pub use adjustment::{AdjustmentSource, SCALE_ADJUSTMENT_ENV, ScaleAdjustment, parse_scale_adjustment};
pub use inspect::inspect;
pub(crate) use inspection::generation_name;
pub use inspection::{
    CacheDtype, Inspection, LayerReport, LayerScale, ModelReport, Origin, QuantizationReport,
    TensorParallelReport,
};
pub use weights::{OffendingTensor, WeightScan, fp8_weight_bytes};

use crate::Generation;
use crate::checkpoint::{CheckpointError, TensorParallel};

/// The cache type that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheDtypeRequest {
    /// What the checkpoint's config declares: FP8, or else bf16.
    #[default]
    Auto,
    /// bf16, whatever is declared.
    Bf16,
    /// FP8, whatever is declared.
    Fp8,
}

/// Which scale the one latent of an MLA layer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MlaScale {
    /// `k_scale`; `v_scale` changes nothing.
    #[default]
    KOnly,
    /// The larger of `k_scale` and `v_scale`, as vllm-gaudi has it.
    MaxKv,
}

/// What a query without a scale is quantized with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QMissing {
    /// One scale for each token and head, from its own amax.
    #[default]
    Dynamic,
    /// 1.0, what vLLM ends up with.
    One,
}

/// A layer, or a kind of layer, whose cache stays bf16 although the model's is FP8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipLayer {
    /// The layer of that number.
    Index(usize),
    /// Every layer that attends to a sliding window.
    SlidingWindow,
}

/// What to inspect for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The device's generation.
    pub device: Generation,
    /// The cache type.
    pub kv_cache_dtype: CacheDtypeRequest,
    /// The policy for MLA layers.
    pub mla_scale: MlaScale,
    /// The policy for queries without a scale.
    pub q_missing: QMissing,
    /// The rank whose part of per-head scales is wanted; `None` for all heads.
    pub tensor_parallel: Option<TensorParallel>,
    /// Layers whose cache stays bf16.
    pub skip_layers: Vec<SkipLayer>,
    /// The value of `VLLM_SCALE_ADJUSTMENT`, `None` where it is unset.
    pub scale_adjustment: Option<bool>,
    /// Read all FP8 weights and check the flavor against them.
    pub verify_weights: bool,
    /// Scales of zero are errors.
    pub strict: bool,
}

impl Options {
    /// Everything at its default, for a device.
    #[must_use]
    pub fn new(device: Generation) -> Self {
        Self {
            device,
            kv_cache_dtype: CacheDtypeRequest::default(),
            mla_scale: MlaScale::default(),
            q_missing: QMissing::default(),
            tensor_parallel: None,
            skip_layers: Vec::new(),
            scale_adjustment: None,
            verify_weights: false,
            strict: false,
        }
    }
}

/// Why an inspection cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The folder cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The rank does not exist.
    #[error("rank {rank} of {size} ranks; allowed are 0 to {}", size.saturating_sub(1))]
    Rank {
        /// The number of ranks.
        size: usize,
        /// The rank asked for.
        rank: usize,
    },
    /// The ranks cannot share the heads.
    #[error(
        "{size} ranks cannot share the {num_kv_heads} KV heads of layer {layer}: one number must divide the other"
    )]
    TensorParallel {
        /// The number of ranks.
        size: usize,
        /// The layer.
        layer: usize,
        /// Its KV heads.
        num_kv_heads: usize,
    },
}
