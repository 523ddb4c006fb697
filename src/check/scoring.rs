//! What changes the scores of a layer, and the scale of its softmax.

use crate::attention::AttentionOptions;
use crate::checkpoint::{AttentionConfig, CacheLayer};

/// What changes a layer's scores, with the softmax scale in float64 for the reference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scoring {
    pub(super) softmax_scale: f64,
    pub(super) options: AttentionOptions,
}

impl Scoring {
    /// From the layer and the config, and the sinks from the weights where there are any.
    pub(super) fn new(
        config: &AttentionConfig,
        layer: &CacheLayer,
        softmax_scale: f64,
        sinks: Option<Vec<f32>>,
    ) -> Self {
        let options = AttentionOptions {
            logits_soft_cap: config.logits_soft_cap.map(|cap| cap as f32),
            sliding_window: layer.sliding_window_tokens,
            sinks,
            ..AttentionOptions::new(softmax_scale as f32)
        };
        Self { softmax_scale, options }
    }
}
