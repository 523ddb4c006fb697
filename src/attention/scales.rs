//! The scales that attention needs beside those of the cache.

use super::AttentionError;
use crate::ScaleFactors;
use crate::cache::{check_scales, is_usable};
use crate::device::{Fp8Products, QueryScale};
use crate::scales::{LayerReport, Origin};

/// How query and probabilities are quantized. Keys and values have the scales of their cache.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionScales {
    pub(super) query: QueryScale,
    /// The factors of the probabilities.
    pub(super) prob: ScaleFactors<f32>,
}

impl Default for AttentionScales {
    /// The query by its own amax, probabilities by 1.0.
    fn default() -> Self {
        Self { query: QueryScale::Dynamic, prob: ScaleFactors::from_quant(1.0) }
    }
}

impl AttentionScales {
    /// A query scale of the checkpoint.
    #[must_use]
    pub fn with_query(mut self, scale: ScaleFactors) -> Self {
        self.query = QueryScale::Static(scale);
        self
    }

    /// A scale of the probabilities.
    #[must_use]
    pub fn with_prob(mut self, quant: f32, dequant: f32) -> Self {
        self.prob = ScaleFactors { quant, dequant };
        self
    }

    /// What FP8 products take of the scales.
    pub(super) fn fp8_products(&self) -> Fp8Products<'_> {
        Fp8Products { query_scale: &self.query, prob: self.prob }
    }

    /// Checks the scales where they are about to be used: a cache that is not FP8 never looks at them.
    pub(super) fn check(&self, num_kv_heads: usize) -> Result<(), AttentionError> {
        if let QueryScale::Static(ScaleFactors { quant, dequant }) = &self.query {
            for scales in [quant, dequant] {
                check_scales(scales, num_kv_heads, "query")?;
            }
        }
        match [self.prob.quant, self.prob.dequant].into_iter().find(|scale| !is_usable(*scale)) {
            Some(value) => Err(AttentionError::Value { what: "the prob scale", value, is_positive: true }),
            None => Ok(()),
        }
    }

    /// What an inspection gives a layer. A scale that an error made null is not replaced: `None`.
    #[must_use]
    pub fn from_layer(layer: &LayerReport) -> Option<Self> {
        let mut scales = Self::default();
        let query = layer.q.as_ref()?;
        if query.origin != Origin::Dynamic {
            scales = scales.with_query(query.factors.clone()?);
        }
        // The probabilities of all heads are quantized together.
        scales.prob = layer.prob.as_ref()?.factors.as_ref()?.of(0);
        Some(scales)
    }
}
