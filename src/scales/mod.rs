//! What a checkpoint's scales mean on a device: the FP8 range, the adjustment, and the scales of each layer.

mod adjustment;
mod cache_range;
mod collect;
mod conventions;
mod heads;
mod inspect;
mod inspection;
mod layer_sizes;
mod options;
mod policy;
mod resolve;
mod weights;

pub use adjustment::{AdjustmentSource, SCALE_ADJUSTMENT_ENV, ScaleAdjustment, parse_scale_adjustment};
pub(crate) use cache_range::{CacheRange, is_flushed};
pub use inspect::inspect;
pub(crate) use inspection::generation_name;
pub use inspection::{
    CacheDtype, Inspection, LayerReport, LayerScale, ModelReport, Origin, QuantizationReport,
    TensorParallelReport,
};
pub use layer_sizes::LayerSizes;
pub use options::{
    CacheDtypeRequest, MlaScale, OptionError, Options, QMissing, SkipLayer, requested_scale_adjustment,
};
pub use weights::{OffendingTensor, WeightScan, fp8_weight_bytes};

use crate::checkpoint::CheckpointError;

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
