//! The names that both sides are asked about, and how a model loads its weights.

use serde::Serialize;

/// The version that [`DIFFERENCES`] is about.
pub const VLLM_VERSION: &str = "0.32.0";

/// An attention module of a checkpoint.
pub struct Place {
    /// Its name in the checkpoint.
    pub attention: &'static str,
    /// Its name in vLLM's model; `None` where that has no KV cache.
    pub in_vllm: Option<&'static str>,
    /// The model class whose own renaming vLLM applies first, if any matters.
    pub model: Option<&'static str>,
}

impl Place {
    pub const fn plain(attention: &'static str) -> Self {
        Self { attention, in_vllm: Some(attention), model: None }
    }

    pub const fn without_cache(attention: &'static str) -> Self {
        Self { attention, in_vllm: None, model: None }
    }

    pub const fn of_model(model: &'static str, attention: &'static str, in_vllm: &'static str) -> Self {
        Self { attention, in_vllm: Some(in_vllm), model: Some(model) }
    }
}

pub const PLACES: &[Place] = &[
    Place::plain("model.layers.0.self_attn"),
    Place::plain("model.layers.3.attn"),
    Place::plain("model.layers.61.self_attn"),
    Place::plain("model.layers.92.self_attn"),
    Place::plain("layers.0.attention"),
    Place::plain("language_model.model.layers.0.self_attn"),
    Place::plain("language_model.layers.0.self_attn"),
    Place::plain("model.language_model.layers.3.self_attn"),
    Place::plain("model.language_model.model.layers.0.self_attn"),
    Place::plain("text_model.model.layers.0.self_attn"),
    Place::plain("thinker.model.layers.0.self_attn"),
    Place::plain("backbone.layers.7.mixer"),
    Place::plain("transformer.h.0.attn"),
    Place::plain("transformer.layers.0.attention"),
    Place::plain("transformer.blocks.0.norm_attn_norm.attn"),
    Place::plain("mtp.layers.0.self_attn"),
    Place::plain("model.mtp.layers.0.self_attn"),
    Place::of_model(GPT_J, "transformer.h.0.attn", "transformer.h.0.attn"),
    Place::of_model(NEMOTRON_H, "backbone.layers.7.mixer", "model.layers.7.mixer"),
    Place::of_model(MISTRAL, "layers.0.attention", "model.layers.0.self_attn"),
    Place::without_cache("vision_tower.vision_model.encoder.layers.0.self_attn"),
    Place::without_cache("model.visual.blocks.0.attn"),
];

pub const GPT_J: &str = "gpt_j:GPTJForCausalLM";
pub const NEMOTRON_H: &str = "nemotron_h:NemotronHForCausalLM";
pub const MISTRAL: &str = "mistral:MistralForCausalLM";

/// What producers write after the attention module.
pub const SPELLINGS: &[&str] = &[
    // compressed-tensors, llm-compressor, native fp8, AutoRound; older AutoFP8 and Quark.
    "q_scale",
    "k_scale",
    "v_scale",
    "kv_scale",
    "prob_scale",
    "q_zero_point",
    "k_zero_point",
    "v_zero_point",
    "q_max",
    // ModelOpt, and what a loader's fusion makes of it.
    "q_proj.q_scale",
    "k_proj.k_scale",
    "v_proj.v_scale",
    "k_proj.v_scale",
    "v_proj.k_scale",
    "k_proj.k_bias",
    "v_proj.v_bias",
    "qkv_proj.q_scale",
    "qkv_proj.k_scale",
    "qkv_proj.v_scale",
    "qkqkv_proj.k_scale",
    "qkqkv_proj.v_scale",
    // Quark, older compressed-tensors, AutoFP8.
    "q_proj.output_scale",
    "k_proj.output_scale",
    "v_proj.output_scale",
    "qkv_proj.output_scale",
    "prob_output_scale",
    // INC.
    "attn.impl.kv_scale",
    "attn.impl.k_cache.dequant_output.scale",
    "attn.impl.v_cache.dequant_output.scale",
    "attn.impl.k_cache.quant_input.scale_inv",
    "attn.impl.v_cache.quant_input.scale_inv",
    "mla_attn.mla_attn.impl.kv_scale",
    "mla_attn.mla_attn.impl.latent_cache_k.dequant_output.scale",
    "mla_attn.mla_attn.impl.latent_cache_k.quant_input.scale_inv",
    // Hunyuan.
    "q.scale",
    "k_cache.scale",
    "v_cache.scale",
    // Mistral.
    "q_fake_quantizer.qscale_act",
    "k_fake_quantizer.qscale_act",
    "v_fake_quantizer.qscale_act",
    "kv_fake_quantizer.qscale_act",
    // TensorRT-LLM.
    "kv_cache_scaling_factor",
    "k_cache_scaling_factor",
    "v_cache_scaling_factor",
    "kv_cache_rcp_scaling_factor",
    // An engine's own parameters.
    "attn.q_scale",
    "attn.k_scale",
    "attn.v_scale",
    "attn.prob_scale",
    "attn.k_zero_point",
    "mla_attn.mla_attn.k_zero_point",
    "attn_mqa.k_scale",
    "attn_mqa.v_scale",
    "mla_attn.mla_attn.q_scale",
    "mla_attn.mla_attn.k_scale",
    "mla_attn.mla_attn.v_scale",
    "mla_attn.mla_attn.prob_scale",
    // Caches that are not FP8.
    "k_proj.kv_cache_scale",
    "v_proj.kv_cache_scale",
    "fa_q.scale",
    "fa_k.scale",
    "fa_v.scale",
    "k_global_scale",
    "v_global_scale",
    // Not KV scales.
    "k_proj.weight_scale",
    "k_proj.weight_scale_inv",
    "k_proj.weight_scale_2",
    "k_proj.input_scale",
    "qkv_proj.input_scale",
    "kv_b_proj.weight_scale",
    "kv_a_proj_with_mqa.input_scale",
    "o_proj.input_scale",
    "k_norm.weight",
    "indexer.k_cache.scale",
];

pub const METHODS: [&str; 4] = ["compressed-tensors", "fp8", "modelopt", "quark"];

/// How a model of vLLM loads its weights; `tests/python/vllm_names.py` describes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Route {
    #[serde(rename = "autoload")]
    Autoload,
    #[serde(rename = "autoload+remap")]
    AutoloadRemap,
    #[serde(rename = "remap")]
    Remap,
}

pub use Route::{Autoload, AutoloadRemap, Remap};

impl Route {
    pub const ALL: [Self; 3] = [Autoload, AutoloadRemap, Remap];

    pub const fn name(self) -> &'static str {
        match self {
            Autoload => "autoload",
            AutoloadRemap => "autoload+remap",
            Remap => "remap",
        }
    }
}

/// A question to both sides.
#[derive(Clone, Serialize)]
pub struct Case {
    pub name: String,
    pub quant_method: &'static str,
    pub route: Route,
    pub is_mla: bool,
    /// The attention module in vLLM's model.
    pub attention: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'static str>,
    pub times: usize,
    /// The attention module in the checkpoint.
    #[serde(skip)]
    pub in_checkpoint: &'static str,
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for place in PLACES {
        // A model class has one way to load; where none is named, any model may be meant.
        let routes = if place.model.is_some() { &[Autoload][..] } else { &Route::ALL };
        for spelling in SPELLINGS {
            let is_runtime = spelling.starts_with("attn.") || spelling.starts_with("mla_attn.");
            for quant_method in METHODS {
                for route in routes {
                    for is_mla in [false, true] {
                        for times in 1..=if is_runtime { 2 } else { 1 } {
                            cases.push(Case {
                                name: format!("{}.{spelling}", place.attention),
                                quant_method,
                                route: *route,
                                is_mla,
                                attention: place.in_vllm,
                                model: place.model,
                                times,
                                in_checkpoint: place.attention,
                            });
                        }
                    }
                }
            }
        }
    }
    cases
}
