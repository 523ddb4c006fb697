//! Compares the names that the grammar accepts with vLLM's own name handling.
//!
//! Both get every spelling of every producer in every place of a model. Where they differ, they differ on purpose:
//! [`DIFFERENCES`] says where and why, and nothing else may differ.
//!
//! The comparison needs a Python with vLLM: `python3`, or the interpreter that `GAUDI_KV_PYTHON` names. Without one it
//! is reported as ignored. The tables of `docs/names.md` are checked in any case.

use std::{
    collections::BTreeSet,
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use gaudi_kv::checkpoint::{LayerIndex, NameClass, Refusal, classify};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde::{Deserialize, Serialize};

/// The version that [`DIFFERENCES`] is about.
const VLLM_VERSION: &str = "0.32.0";

/// An attention module of a checkpoint.
struct Place {
    /// Its name in the checkpoint.
    attention: &'static str,
    /// Its name in vLLM's model; `None` where that has no KV cache.
    in_vllm: Option<&'static str>,
    /// The model class whose own renaming vLLM applies first, if any matters.
    model: Option<&'static str>,
}

impl Place {
    const fn plain(attention: &'static str) -> Self {
        Self { attention, in_vllm: Some(attention), model: None }
    }

    const fn without_cache(attention: &'static str) -> Self {
        Self { attention, in_vllm: None, model: None }
    }

    const fn of_model(model: &'static str, attention: &'static str, in_vllm: &'static str) -> Self {
        Self { attention, in_vllm: Some(in_vllm), model: Some(model) }
    }
}

const PLACES: &[Place] = &[
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

const GPT_J: &str = "gpt_j:GPTJForCausalLM";
const NEMOTRON_H: &str = "nemotron_h:NemotronHForCausalLM";
const MISTRAL: &str = "mistral:MistralForCausalLM";

/// What producers write after the attention module.
const SPELLINGS: &[&str] = &[
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

const METHODS: [&str; 4] = ["compressed-tensors", "fp8", "modelopt", "quark"];

/// How a model of vLLM loads its weights; `tests/python/vllm_names.py` describes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
enum Route {
    #[serde(rename = "autoload")]
    Autoload,
    #[serde(rename = "autoload+remap")]
    AutoloadRemap,
    #[serde(rename = "remap")]
    Remap,
}

use Route::{Autoload, AutoloadRemap, Remap};

impl Route {
    const ALL: [Self; 3] = [Autoload, AutoloadRemap, Remap];

    const fn name(self) -> &'static str {
        match self {
            Autoload => "autoload",
            AutoloadRemap => "autoload+remap",
            Remap => "remap",
        }
    }
}

/// A question to both sides.
#[derive(Clone, Serialize)]
struct Case {
    name: String,
    quant_method: &'static str,
    route: Route,
    is_mla: bool,
    /// The attention module in vLLM's model.
    attention: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'static str>,
    times: usize,
    /// The attention module in the checkpoint.
    #[serde(skip)]
    in_checkpoint: &'static str,
}

fn cases() -> Vec<Case> {
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

/// The differences on purpose, by what they are about.
const DIFFERENCES: &[Difference] = &[
    // Plain names.
    unloaded("[qkv]_scale", "[qkv]", OWN_NAME).routes(&[Autoload]).modules(&["attn"]).mha(),
    unloaded("[qkv]_scale", "[qkv]", MLA).mla(),
    unloaded("kv_scale", "k", MLA).mla(),
    unloaded("prob_scale", "prob", NO_RULE),
    taken("[qkv]_zero_point", "attn.[qkv]_zero_point", ZERO_POINT, ZERO)
        .methods(&["compressed-tensors"])
        .routes(&[Autoload])
        .modules(&["self_attn", "attention", "mixer"])
        .mha(),
    taken("[qkv]_zero_point", "attn.[qkv]_zero_point", ZERO_POINT, ZERO)
        .methods(&["compressed-tensors"])
        .routes(&[AutoloadRemap, Remap])
        .mha(),
    // ModelOpt.
    unloaded("q_proj.q_scale", "q", Q_PROJ),
    unloaded("[kv]_proj.[kv]_scale", "[kv]", MODULE).modules(&["attn", "attention"]).mha(),
    unloaded("[kv]_proj.[kv]_scale", "[kv]", MLA).routes(&[Autoload, AutoloadRemap]).mla(),
    unloaded("[kv]_proj.[kv]_scale", "[kv]", MODULE)
        .routes(&[Remap])
        .modules(&["attn", "attention", "mixer"])
        .mla(),
    taken("k_proj.v_scale", "attn.v_scale", REFUSED, CROSSED).modules(&["self_attn", "mixer"]).mha(),
    taken("v_proj.k_scale", "attn.k_scale", REFUSED, CROSSED).modules(&["self_attn", "mixer"]).mha(),
    taken("k_proj.v_scale", "mla_attn.mla_attn.v_scale", REFUSED, CROSSED)
        .routes(&[Remap])
        .modules(&["self_attn"])
        .mla(),
    taken("v_proj.k_scale", "mla_attn.mla_attn.k_scale", REFUSED, CROSSED)
        .routes(&[Remap])
        .modules(&["self_attn"])
        .mla(),
    unloaded("qkv_proj.q_scale", "q", Q_PROJ),
    unloaded("qkv_proj.[kv]_scale", "[kv]", MODULE).modules(&["attn", "attention", "mixer"]).mha(),
    unloaded("qkv_proj.[kv]_scale", "[kv]", MLA).mla(),
    unloaded("qkqkv_proj.[kv]_scale", "[kv]", MODULE).modules(&["attn", "attention", "mixer"]).mha(),
    unloaded("qkqkv_proj.[kv]_scale", "[kv]", MLA).mla(),
    // Quark, older compressed-tensors, AutoFP8.
    unloaded("[qkv]_proj.output_scale", "[qkv]", METHOD).methods(&["compressed-tensors", "modelopt"]),
    unloaded("[qkv]_proj.output_scale", "[qkv]", NO_RULE).methods(&["fp8", "quark"]).routes(&[Remap]),
    unloaded("[qkv]_proj.output_scale", "[qkv]", STACKED)
        .methods(&["fp8", "quark"])
        .models(&[GPT_J, NEMOTRON_H])
        .mha(),
    unloaded("[qkv]_proj.output_scale", "[qkv]", MLA)
        .methods(&["fp8", "quark"])
        .routes(&[Autoload, AutoloadRemap])
        .mla(),
    unloaded("prob_output_scale", "prob", METHOD).methods(&["compressed-tensors", "modelopt"]),
    unloaded("prob_output_scale", "prob", NO_RULE).methods(&["fp8", "quark"]).routes(&[Remap]),
    unloaded("prob_output_scale", "prob", MODULE)
        .methods(&["fp8", "quark"])
        .routes(&[Autoload, AutoloadRemap])
        .modules(&["attn", "attention", "mixer"])
        .mha(),
    unloaded("prob_output_scale", "prob", MLA)
        .methods(&["fp8", "quark"])
        .routes(&[Autoload, AutoloadRemap])
        .mla(),
    // INC.
    unloaded("attn.impl.kv_scale", "k", INC),
    unloaded("attn.impl.[kv]_cache.dequant_output.scale", "[kv]", INC),
    unloaded("attn.impl.[kv]_cache.quant_input.scale_inv", "[kv]", INC),
    unloaded("mla_attn.mla_attn.impl.kv_scale", "k", INC),
    unloaded("mla_attn.mla_attn.impl.latent_cache_k.dequant_output.scale", "k", INC),
    unloaded("mla_attn.mla_attn.impl.latent_cache_k.quant_input.scale_inv", "k", INC),
    // Hunyuan.
    unloaded("q.scale", "q", MODULE).modules(&["attn", "attention", "mixer"]).mha(),
    unloaded("q.scale", "q", MLA).mla(),
    unloaded("[kv]_cache.scale", "[kv]", MODULE).modules(&["attn", "attention", "mixer"]).mha(),
    unloaded("[kv]_cache.scale", "[kv]", MLA).mla(),
    // Mistral.
    unloaded("[qkv]_fake_quantizer.qscale_act", "[qkv]", ONLY_MISTRAL).models(NOT_MISTRAL).mha(),
    unloaded("[qkv]_fake_quantizer.qscale_act", "[qkv]", ONLY_MISTRAL).mla(),
    unloaded("kv_fake_quantizer.qscale_act", "k", ONLY_MISTRAL).models(NOT_MISTRAL).mha(),
    unloaded("kv_fake_quantizer.qscale_act", "k", ONLY_MISTRAL).mla(),
    // TensorRT-LLM.
    unloaded("kv_cache_scaling_factor", "k", NO_RULE),
    unloaded("[kv]_cache_scaling_factor", "[kv]", NO_RULE),
    unloaded("kv_cache_rcp_scaling_factor", "k", NO_RULE),
    // An engine's own parameters.
    unloaded("attn.[qkv]_scale", "[qkv]", LAYER_KIND).mla(),
    unloaded("attn.prob_scale", "prob", NO_PARAMETER).methods(&["compressed-tensors"]).mha(),
    unloaded("attn.prob_scale", "prob", LAYER_KIND).mla(),
    taken("attn.k_zero_point", "attn.k_zero_point", ZERO_POINT, ZERO).methods(&["compressed-tensors"]).mha(),
    unloaded("attn_mqa.[kv]_scale", "[kv]", SGLANG),
    unloaded("mla_attn.mla_attn.[qkv]_scale", "[qkv]", LAYER_KIND).mha(),
    unloaded("mla_attn.mla_attn.[qkv]_scale", "[qkv]", TWICE).routes(&[Autoload, AutoloadRemap]).mla(),
    unloaded("mla_attn.mla_attn.prob_scale", "prob", LAYER_KIND).mha(),
    unloaded("mla_attn.mla_attn.prob_scale", "prob", NO_PARAMETER).methods(&["compressed-tensors"]).mla(),
    taken("mla_attn.mla_attn.k_zero_point", "mla_attn.mla_attn.k_zero_point", ZERO_POINT, ZERO)
        .methods(&["compressed-tensors"])
        .routes(&[Remap])
        .mla(),
];

const MLA: &str = "vLLM puts `.attn` before the scale's name, and an MLA layer has no such module. Its scales are those \
                   of the latent cache.";
const OWN_NAME: &str =
    "A module called `attn` looks to the mapper like vLLM's own parameter, so it adds nothing.";
const MODULE: &str =
    "vLLM's rule is bound to other module names. What the scale means does not depend on them.";
const NO_RULE: &str = "vLLM has no rule for this spelling.";
const ZERO: &str =
    "vLLM loads zero points and does nothing with them. One that is not zero would make the cache wrong.";
const Q_PROJ: &str =
    "vLLM's rules know the key's and value's letters only, and the name ends up below the projection.";
const CROSSED: &str = "vLLM goes by the second letter. Nothing says which of the two the producer meant.";
const METHOD: &str = "vLLM has this rule for `fp8` and `quark` only. Files of other methods have the spelling too, older \
                      compressed-tensors ones for example.";
const STACKED: &str =
    "The model's fusion of q, k and v renames the projection before the rule for the suffix is tried.";
const INC: &str = "A module of INC on Gaudi. vLLM itself has no rule for it.";
const ONLY_MISTRAL: &str = "Only vLLM's Mistral class knows its consolidated files, and MHA alone.";
const LAYER_KIND: &str = "The name of a layer of the other kind. The model's config says what the layer is.";
const NO_PARAMETER: &str =
    "vLLM's compressed-tensors method has no such parameter. The scale is used all the same.";
const SGLANG: &str = "The name that SGLang gives an MLA layer's parameter. vLLM does not know it.";
const TWICE: &str =
    "The mapper adds `.attn` to a name that is vLLM's own already. Reading a name twice must change nothing.";

/// Every model class but Mistral's, and those without one.
const NOT_MISTRAL: &[&str] = &["", GPT_J, NEMOTRON_H];

/// A difference on purpose.
///
/// In names, `<attention>` is the attention module, `<inner>` what is below it in vLLM (`attn`, or `mla_attn.mla_attn` of
/// an MLA layer), and `[kv]` one of the letters, everywhere the same.
struct Difference {
    name: &'static str,
    /// Of MHA (and GQA) layers, of MLA layers.
    kinds: [bool; 2],
    routes: &'static [Route],
    methods: &'static [&'static str],
    /// What vLLM's model calls the module, last part only; empty for anything.
    modules: &'static [&'static str],
    /// The model classes, with "" for none in particular; empty for any.
    models: &'static [&'static str],
    vllm: &'static str,
    ours: Ours,
    why: &'static str,
}

#[derive(Clone, Copy)]
enum Ours {
    /// `<attention>.<inner>.<role>_scale`, with this role.
    Role(&'static str),
    Word(&'static str),
}

/// vLLM does not load what the grammar takes for `role`.
const fn unloaded(name: &'static str, role: &'static str, why: &'static str) -> Difference {
    Difference {
        name,
        kinds: [true, true],
        routes: &Route::ALL,
        methods: &METHODS,
        modules: &[],
        models: &[],
        vllm: NOT_LOADED,
        ours: Ours::Role(role),
        why,
    }
}

/// vLLM loads what the grammar does not take.
const fn taken(name: &'static str, vllm: &'static str, ours: &'static str, why: &'static str) -> Difference {
    Difference { vllm, ours: Ours::Word(ours), ..unloaded(name, "", why) }
}

impl Difference {
    const fn mha(self) -> Self {
        Self { kinds: [true, false], ..self }
    }

    const fn mla(self) -> Self {
        Self { kinds: [false, true], ..self }
    }

    const fn routes(self, routes: &'static [Route]) -> Self {
        Self { routes, ..self }
    }

    const fn methods(self, methods: &'static [&'static str]) -> Self {
        Self { methods, ..self }
    }

    const fn modules(self, modules: &'static [&'static str]) -> Self {
        Self { modules, ..self }
    }

    const fn models(self, models: &'static [&'static str]) -> Self {
        Self { models, ..self }
    }

    /// What the two sides say to a case, if this row is about it.
    fn expected(&self, case: &Case) -> Option<(String, String)> {
        let module = case.attention?.rsplit('.').next()?;
        let is_about = self.kinds[usize::from(case.is_mla)]
            && self.routes.contains(&case.route)
            && self.methods.contains(&case.quant_method)
            && (self.modules.is_empty() || self.modules.contains(&module))
            && (self.models.is_empty() || self.models.contains(&case.model.unwrap_or_default()));
        let spelling = case.name.strip_prefix(case.in_checkpoint)?.strip_prefix('.')?;
        let (letter, _) = expand(self.name).into_iter().find(|(_, name)| is_about && name == spelling)?;
        let in_vllm = if self.vllm == NOT_LOADED {
            NOT_LOADED.to_owned()
        } else {
            format!("{}.{}", case.in_checkpoint, with_letter(self.vllm, letter))
        };
        let ours = match self.ours {
            Ours::Role(role) => {
                format!("{}.{}.{}_scale", case.in_checkpoint, inner(case.is_mla), with_letter(role, letter))
            }
            Ours::Word(word) => word.to_owned(),
        };
        Some((in_vllm, ours))
    }

    /// The row of `docs/names.md`.
    fn markdown(&self) -> String {
        let mut when = Vec::new();
        match self.kinds {
            [true, false] => when.push("MHA".to_owned()),
            [false, true] => when.push("MLA".to_owned()),
            _ => {}
        }
        if self.methods.len() < METHODS.len() {
            when.push(self.methods.join(" or "));
        }
        if self.routes.len() < Route::ALL.len() {
            when.push(self.routes.iter().map(|route| route.name()).collect::<Vec<_>>().join(" or "));
        }
        if !self.modules.is_empty() {
            when.push(format!("in `{}`", self.modules.join("`, `")));
        }
        if self.models == NOT_MISTRAL {
            when.push("not in MistralForCausalLM".to_owned());
        } else if !self.models.is_empty() {
            let classes = self.models.iter().filter_map(|model| model.split(':').nth(1));
            when.push(format!("in {}", classes.collect::<Vec<_>>().join(" or ")));
        }
        let when = if when.is_empty() { "always".to_owned() } else { when.join("; ") };
        let in_vllm = if self.vllm == NOT_LOADED {
            NOT_LOADED.to_owned()
        } else {
            format!("`<attention>.{}`", self.vllm)
        };
        let ours = match self.ours {
            Ours::Role(role) => format!("`<attention>.<inner>.{role}_scale`"),
            Ours::Word(word) => word.to_owned(),
        };
        format!("| `<attention>.{}` | {when} | {in_vllm} | {ours} | {} |", self.name, self.why)
    }
}

/// What is below the attention module in vLLM.
const fn inner(is_mla: bool) -> &'static str {
    if is_mla { "mla_attn.mla_attn" } else { "attn" }
}

/// Every name that a pattern stands for, with the letter it has in place of `[kv]`.
fn expand(pattern: &str) -> Vec<(char, String)> {
    let letters = pattern.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    // Without a class the letter is not used.
    letters.unwrap_or("-").chars().map(|letter| (letter, with_letter(pattern, letter))).collect()
}

fn with_letter(pattern: &str, letter: char) -> String {
    let letter = letter.to_string();
    pattern.replace("[qkv]", &letter).replace("[kv]", &letter)
}

/// What vLLM said to a case.
#[derive(Deserialize)]
struct Answer {
    mapped: Option<String>,
    outcome: Outcome,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Loaded,
    Dropped,
    Fails,
}

#[derive(Deserialize)]
struct Answers {
    version: String,
    results: Vec<Answer>,
}

/// Dropped in silence, or loading fails: which of them depends on what else the model has.
const NOT_LOADED: &str = "not loaded";
const REFUSED: &str = "refused";
const ZERO_POINT: &str = "checked to be zero";
const NOT_TAKEN: &str = "not taken";

/// Whether an answer names a parameter.
fn is_parameter(answer: &str) -> bool {
    ![NOT_LOADED, REFUSED, ZERO_POINT, NOT_TAKEN].contains(&answer)
}

impl Answer {
    /// The parameter, as if vLLM's model called its modules as the checkpoint does.
    fn describe(&self, case: &Case) -> String {
        match (self.outcome, &self.mapped, case.attention) {
            (Outcome::Loaded, Some(mapped), Some(attention)) => {
                let below = mapped.strip_prefix(attention).unwrap_or(mapped);
                format!("{}{below}", case.in_checkpoint)
            }
            (Outcome::Loaded, ..) => panic!("{} is loaded into no parameter", case.name),
            (Outcome::Dropped | Outcome::Fails, ..) => NOT_LOADED.to_owned(),
        }
    }
}

/// Where the grammar puts a name.
fn ours(name: &str, is_mla: bool) -> String {
    match classify(name) {
        NameClass::Scale(scale) => scale.runtime(is_mla),
        NameClass::ZeroPoint(_) => ZERO_POINT.to_owned(),
        NameClass::Refused(_) => REFUSED.to_owned(),
        NameClass::OtherRole | NameClass::Other => NOT_TAKEN.to_owned(),
    }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    // A runner that lists the tests before it runs them learns here that this one cannot run.
    let is_ignored = args.list && python_with_vllm().is_err();
    let comparison = Trial::ignorable_test("names_compared_with_vllm", || match python_with_vllm() {
        Ok(python) => compare(&python),
        Err(reason) => Ok(Completion::ignored_with(reason)),
    });
    let tests = vec![
        comparison.with_ignored_flag(is_ignored),
        Trial::test("parameters_are_read_as_themselves", parameters_are_read_as_themselves),
        Trial::test("docs_have_the_differences", docs_have_the_differences),
        Trial::test("docs_have_what_the_grammar_reads", docs_have_what_the_grammar_reads),
    ];
    libtest_mimic::run(&args, tests).exit_code()
}

/// The interpreter, or why the comparison cannot run.
fn python_with_vllm() -> Result<String, String> {
    let python = env::var("GAUDI_KV_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python)
        .args(["-c", "import vllm; print(vllm.__version__)"])
        .output()
        .map_err(|e| format!("{python} does not run: {e}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().last().unwrap_or("no message");
        return Err(format!("{python} cannot import vllm: {last}"));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let version = printed.lines().last().unwrap_or_default();
    if version == VLLM_VERSION {
        Ok(python)
    } else {
        Err(format!("{python} has vLLM {version}, the differences are those of {VLLM_VERSION}"))
    }
}

fn ask_vllm(python: &str, cases: &[Case]) -> Result<Answers, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/vllm_names.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    // The script reads all of it before it writes anything.
    stdin.write_all(&serde_json::to_vec(cases)?)?;
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the script ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn compare(python: &str) -> Result<Completion, Failed> {
    let cases = cases();
    let answers = ask_vllm(python, &cases)?;
    if answers.version != VLLM_VERSION || answers.results.len() != cases.len() {
        return Err(format!("{} answers from vLLM {}", answers.results.len(), answers.version).into());
    }
    let mut uses = vec![0_usize; DIFFERENCES.len()];
    let mut faults = BTreeSet::new();
    let (mut same, mut neither) = (0_usize, 0_usize);
    for (case, answer) in cases.iter().zip(&answers.results) {
        let (in_vllm, ours) = (answer.describe(case), ours(&case.name, case.is_mla));
        let differs = in_vllm != ours && (is_parameter(&in_vllm) || is_parameter(&ours));
        let rows: Vec<_> = DIFFERENCES
            .iter()
            .enumerate()
            .filter_map(|(i, row)| Some((i, row.expected(case)?)))
            .inspect(|(i, _)| uses[*i] += 1)
            .collect();
        let fault = match rows.as_slice() {
            [] if !differs => {
                *(if is_parameter(&ours) { &mut same } else { &mut neither }) += 1;
                continue;
            }
            [(_, expected)] if differs && *expected == (in_vllm.clone(), ours.clone()) => continue,
            [] => "in no row",
            [_] if !differs => "no difference, but in a row",
            [_] => "not as its row says",
            _ => "in several rows",
        };
        let kind = if case.is_mla { "MLA" } else { "MHA" };
        let example = format!(
            "{fault}: {} ({kind}, {}, {}, {}): vLLM {in_vllm}, gaudi-kv {ours}",
            case.name,
            case.quant_method,
            case.route.name(),
            case.model.unwrap_or("any model"),
        );
        faults.insert(example);
    }
    println!("differences from vLLM {VLLM_VERSION}:");
    let mut stale = Vec::new();
    for (row, uses) in DIFFERENCES.iter().zip(&uses) {
        println!("{uses:>6} {}", row.markdown());
        if *uses == 0 {
            stale.push(format!("row of no name: {}", row.markdown()));
        }
    }
    let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
    let explained = uses.iter().sum::<usize>();
    println!(
        "{} names, {} comparisons: {same} go to the same parameter, {neither} to none, {explained} differ on purpose",
        names.len(),
        cases.len()
    );
    let count = stale.len() + faults.len();
    if count == 0 {
        return Ok(Completion::Completed);
    }
    let shown: Vec<_> = stale.into_iter().chain(faults).take(40).collect();
    Err(format!("{count} faults, among them:\n{}", shown.join("\n")).into())
}

/// A parameter's own name gives that parameter, so reading twice changes nothing.
fn parameters_are_read_as_themselves() -> Result<(), Failed> {
    for case in cases() {
        if let NameClass::Scale(scale) = classify(&case.name) {
            let runtime = scale.runtime(case.is_mla);
            let again = ours(&runtime, case.is_mla);
            if again != runtime {
                return Err(format!("{} gives {runtime}, and that gives {again}", case.name).into());
            }
        }
    }
    Ok(())
}

/// The rows of the table below a heading of `docs/names.md`, as lines.
fn docs_table(heading: &str) -> Result<Vec<String>, Failed> {
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/names.md"))?;
    let mut lines = docs.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading);
    lines.next().ok_or_else(|| format!("no heading '{heading}'"))?;
    let rows = lines.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    Ok(rows.map(str::to_owned).collect())
}

fn docs_have_the_differences() -> Result<(), Failed> {
    let docs = docs_table(&format!("Where gaudi-kv differs from vLLM {VLLM_VERSION}, and why"))?;
    let expected: Vec<_> = DIFFERENCES.iter().map(Difference::markdown).collect();
    if docs == expected {
        return Ok(());
    }
    Err(format!("docs/names.md should have these rows:\n{}", expected.join("\n")).into())
}

/// The cells of a table's row, without the marks of code.
fn cells(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
}

fn docs_have_what_the_grammar_reads() -> Result<(), Failed> {
    let attention = "model.layers.7.self_attn";
    let mut faults = Vec::new();
    let mut check = |name: String, found: String, expected: String| {
        if found != expected {
            faults.push(format!("{name}: {found}, not {expected}"));
        }
    };
    let accepted = docs_table("Accepted spellings")?;
    let refused = docs_table("Refused spellings")?;
    let places = docs_table("Places")?;
    if [&accepted, &refused, &places].iter().any(|rows| rows.is_empty()) {
        return Err("a table of docs/names.md is empty".into());
    }
    for row in accepted {
        let cells = cells(&row);
        for (letter, name) in expand(&cells[0].replace("<attention>", attention)) {
            for is_mla in [false, true] {
                let parameter = with_letter(&cells[2], letter)
                    .replace("<attention>", attention)
                    .replace("<inner>", inner(is_mla));
                check(name.clone(), ours(&name, is_mla), parameter);
            }
        }
    }
    for row in refused {
        let cells = cells(&row);
        for (_, name) in expand(&cells[0].replace("<attention>", attention)) {
            let found = match classify(&name) {
                NameClass::Refused(Refusal::CrossedLetters) => "crossed letters",
                NameClass::Refused(Refusal::Ambiguous) => "ambiguous",
                NameClass::Refused(Refusal::Int8) => "int8",
                NameClass::Refused(Refusal::Nvfp4) => "NVFP4",
                NameClass::Refused(Refusal::UnknownPlace) => "unknown place",
                NameClass::ZeroPoint(_) => "zero point",
                NameClass::OtherRole => "another role",
                NameClass::Other => "no KV scale",
                NameClass::Scale(_) => "accepted",
            };
            check(name, found.to_owned(), cells[1].clone());
        }
    }
    for row in places {
        let cells = cells(&row);
        let name = format!("{}.k_scale", cells[0]);
        let found = match classify(&name) {
            NameClass::Scale(scale) => match scale.layer {
                LayerIndex::Model(number) => format!("layer {number}"),
                LayerIndex::Draft(number) => format!("draft layer {number}"),
            },
            NameClass::Refused(_) => "refused".to_owned(),
            _ => "no KV cache".to_owned(),
        };
        check(name, found, cells[2].clone());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}
