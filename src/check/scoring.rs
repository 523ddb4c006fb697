//! What changes the scores of a layer, and the scale of its softmax.

use crate::activations::LayerShape;
use crate::attention::AttentionOptions;
use crate::checkpoint::AttentionConfig;

/// What changes a layer's scores, with the softmax scale in float64 for the reference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scoring {
    pub(super) softmax_scale: f64,
    pub(super) options: AttentionOptions,
}

impl Scoring {
    /// From the config, and the sinks from the weights where there are any.
    pub(super) fn new(
        config: &AttentionConfig,
        shape: &LayerShape,
        is_sliding: bool,
        sinks: Option<Vec<f32>>,
    ) -> Self {
        let softmax_scale = softmax_scale(config, shape);
        let options = AttentionOptions {
            logits_soft_cap: config.logits_soft_cap.map(|cap| cap as f32),
            sliding_window: config.sliding_window.filter(|_| is_sliding),
            sinks,
            ..AttentionOptions::new(softmax_scale as f32)
        };
        Self { softmax_scale, options }
    }
}

fn softmax_scale(config: &AttentionConfig, shape: &LayerShape) -> f64 {
    match shape {
        LayerShape::Mla { nope_dim, rope_dim, .. } => {
            let mscale = config.yarn_softmax.map_or(1.0, |(factor, mscale)| yarn_mscale(factor, mscale));
            ((nope_dim + rope_dim) as f64).sqrt().recip() * mscale * mscale
        }
        LayerShape::Mha { head_dim, .. } => {
            let is_one = config.model_type.as_deref().is_some_and(has_scale_one);
            match (config.query_pre_attn_scalar, config.attention_multiplier) {
                (Some(scalar), _) => scalar.sqrt().recip(),
                (None, Some(multiplier)) => multiplier,
                (None, None) if is_one => 1.0,
                (None, None) => (*head_dim as f64).sqrt().recip(),
            }
        }
    }
}

/// Models that normalize query and key instead of scaling their product.
fn has_scale_one(model_type: &str) -> bool {
    ["gemma3n", "gemma4"].iter().any(|family| model_type.starts_with(family))
}

/// DeepSeek's `yarn_get_mscale`.
fn yarn_mscale(factor: f64, mscale: f64) -> f64 {
    if factor <= 1.0 { 1.0 } else { 0.1 * mscale * libm::log(factor) + 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activations::Heads;

    fn mla() -> LayerShape {
        let heads = Heads { all: 4, local: 0..4 };
        LayerShape::Mla { heads, kv_lora_rank: 512, nope_dim: 128, rope_dim: 64, v_head_dim: 128 }
    }

    fn mha() -> LayerShape {
        let heads = Heads { all: 4, local: 0..4 };
        LayerShape::Mha { heads: heads.clone(), kv_heads: heads, head_dim: 64, v_head_dim: 64 }
    }

    #[test]
    fn softmax_scales_of_real_models() {
        let config = AttentionConfig::default();
        assert_eq!(softmax_scale(&config, &mha()), 0.125);
        assert!((softmax_scale(&config, &mla()) - 0.072_168_783_6).abs() < 1e-9);
        // DeepSeek-V3: factor 40, mscale_all_dim 1.0; vLLM's scaling is 0.1352...
        let deepseek = AttentionConfig { yarn_softmax: Some((40.0, 1.0)), ..AttentionConfig::default() };
        assert!((softmax_scale(&deepseek, &mla()) - 0.135_233_8).abs() < 1e-6);
        let gemma2 = AttentionConfig { query_pre_attn_scalar: Some(144.0), ..AttentionConfig::default() };
        assert!((softmax_scale(&gemma2, &mha()) - 1.0 / 12.0).abs() < 1e-12);
        let granite = AttentionConfig { attention_multiplier: Some(0.0078125), ..AttentionConfig::default() };
        assert_eq!(softmax_scale(&granite, &mha()), 0.0078125);
        let gemma4 = AttentionConfig { model_type: Some("gemma4_text".into()), ..AttentionConfig::default() };
        assert_eq!(softmax_scale(&gemma4, &mha()), 1.0);
    }
}
