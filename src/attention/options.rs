//! What changes the scores of a layer, and its optional FP8 prefill.

use super::AttentionError;
use crate::device::Modifiers;

/// The options of a layer's attention. Applied in the order of the fields.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionOptions {
    /// Multiplies the product of query and key, usually `head_dim^-0.5`.
    pub softmax_scale: f32,
    /// `cap * tanh(score / cap)`.
    pub logits_soft_cap: Option<f32>,
    /// One slope for each query head: `slope * (key position - query position)` is added.
    pub alibi_slopes: Option<Vec<f32>>,
    /// A query sees itself and this many keys less one before it.
    pub sliding_window: Option<usize>,
    /// One score for each query head that takes part in the softmax and has no value.
    pub sinks: Option<Vec<f32>>,
    /// Quantize q, k and v of a prefill too: with their scales for MHA, with 1.0 for MLA. No effect on a cache that is
    /// not FP8, or without a cache, whose scales the keys and values need.
    pub fp8_prefill: bool,
}

impl AttentionOptions {
    /// Only a softmax scale.
    #[must_use]
    pub const fn new(softmax_scale: f32) -> Self {
        Self {
            softmax_scale,
            logits_soft_cap: None,
            alibi_slopes: None,
            sliding_window: None,
            sinks: None,
            fp8_prefill: false,
        }
    }

    pub(super) fn check(&self, num_heads: usize) -> Result<(), AttentionError> {
        let value = |what, value: f32, is_positive: bool| {
            let fits = value.is_finite() && (!is_positive || value > 0.0);
            if fits { Ok(()) } else { Err(AttentionError::Value { what, value, is_positive }) }
        };
        value("softmax_scale", self.softmax_scale, true)?;
        if let Some(cap) = self.logits_soft_cap {
            value("logits_soft_cap", cap, true)?;
        }
        for (what, list) in [("alibi_slopes", &self.alibi_slopes), ("sinks", &self.sinks)] {
            let Some(list) = list else { continue };
            super::error::check_len(what, list.len(), num_heads)?;
            list.iter().try_for_each(|x| value(what, *x, false))?;
        }
        match self.sliding_window {
            Some(0) => {
                let allowed = "a query sees at least itself, so at least 1".to_owned();
                Err(AttentionError::Size { what: "sliding_window", value: 0, allowed })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn modifiers(&self) -> Modifiers<'_> {
        Modifiers {
            softmax_scale: self.softmax_scale,
            logits_soft_cap: self.logits_soft_cap,
            alibi_slopes: self.alibi_slopes.as_deref(),
            sliding_window: self.sliding_window,
            sinks: self.sinks.as_deref(),
        }
    }
}
