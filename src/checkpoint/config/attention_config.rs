//! What a configuration says about how attention is computed, beyond the sizes of the layers.

use super::text::TextConfig;
use super::unmodelled::unmodelled_parts;
use crate::checkpoint::CheckpointError;

/// What holds for the attention of all layers. Each is `None` where the config does not give it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttentionConfig {
    /// `attn_logit_softcapping`.
    pub logits_soft_cap: Option<f64>,
    /// Parts of the attention that the config declares and nothing here computes.
    pub other_parts: Vec<&'static str>,
}

impl AttentionConfig {
    pub(crate) fn read(config: &TextConfig<'_>) -> Result<Self, CheckpointError> {
        let key = "attn_logit_softcapping";
        let logits_soft_cap = config.get(key).map_or(Ok(None), |cap| config.as_positive(key, cap))?;
        Ok(Self { logits_soft_cap, other_parts: unmodelled_parts(config)? })
    }
}
