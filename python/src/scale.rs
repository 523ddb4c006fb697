//! Scales of planes, queries and probabilities, and the options of attention, as Python gives them.

use gaudi_kv::attention::{AttentionOptions, AttentionScales};
use gaudi_kv::{HeadScales, ScaleFactors};
use pyo3::prelude::*;

/// One multiplier, or one for each head.
#[derive(Debug, FromPyObject)]
pub(crate) enum Multipliers {
    One(f32),
    PerHead(Vec<f32>),
}

/// The multipliers on the way into FP8 and out of it.
pub(crate) type Scale = (Multipliers, Multipliers);

/// The scale of a plane.
pub(crate) fn plane_scale((quant, dequant): Scale) -> ScaleFactors {
    let heads = |multipliers| match multipliers {
        Multipliers::One(one) => HeadScales::One(one),
        Multipliers::PerHead(all) => HeadScales::PerHead(all),
    };
    ScaleFactors { quant: heads(quant), dequant: heads(dequant) }
}

/// The scales of query and probabilities. A query without one is quantized by its own amax.
pub(crate) fn attention_scales(q_scale: Option<Scale>, (quant, dequant): (f32, f32)) -> AttentionScales {
    let scales = AttentionScales::default().with_prob(quant, dequant);
    match q_scale {
        Some(scale) => scales.with_query(plane_scale(scale)),
        None => scales,
    }
}

/// The options of attention, by the names of [`AttentionOptions`].
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    softmax_scale: f32,
    logits_soft_cap: Option<f32>,
    alibi_slopes: Option<Vec<f32>>,
    sliding_window: Option<usize>,
    sinks: Option<Vec<f32>>,
    fp8_prefill: bool,
}

impl From<Options> for AttentionOptions {
    fn from(options: Options) -> Self {
        let Options { softmax_scale, logits_soft_cap, alibi_slopes, sliding_window, sinks, fp8_prefill } =
            options;
        Self { softmax_scale, logits_soft_cap, alibi_slopes, sliding_window, sinks, fp8_prefill }
    }
}
