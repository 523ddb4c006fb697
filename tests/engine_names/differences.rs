//! Where vLLM and the grammar differ on purpose, and why.

use crate::cases::*;

/// Dropped in silence, or loading fails: which of them depends on what else the model has.
pub const NOT_LOADED: &str = "not loaded";
pub const REFUSED: &str = "refused";
pub const ZERO_POINT: &str = "checked to be zero";
pub const NOT_TAKEN: &str = "not taken";

/// The differences on purpose, by what they are about.
pub const DIFFERENCES: &[Difference] = &[
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

pub const MLA: &str = "vLLM puts `.attn` before the scale's name, and an MLA layer has no such module. Its scales are those \
                   of the latent cache.";
pub const OWN_NAME: &str =
    "A module called `attn` looks to the mapper like vLLM's own parameter, so it adds nothing.";
pub const MODULE: &str =
    "vLLM's rule is bound to other module names. What the scale means does not depend on them.";
pub const NO_RULE: &str = "vLLM has no rule for this spelling.";
pub const ZERO: &str =
    "vLLM loads zero points and does nothing with them. One that is not zero would make the cache wrong.";
pub const Q_PROJ: &str =
    "vLLM's rules know the key's and value's letters only, and the name ends up below the projection.";
pub const CROSSED: &str = "vLLM goes by the second letter. Nothing says which of the two the producer meant.";
pub const METHOD: &str = "vLLM has this rule for `fp8` and `quark` only. Files of other methods have the spelling too, older \
                      compressed-tensors ones for example.";
pub const STACKED: &str =
    "The model's fusion of q, k and v renames the projection before the rule for the suffix is tried.";
pub const INC: &str = "A module of INC on Gaudi. vLLM itself has no rule for it.";
pub const ONLY_MISTRAL: &str = "Only vLLM's Mistral class knows its consolidated files, and MHA alone.";
pub const LAYER_KIND: &str =
    "The name of a layer of the other kind. The model's config says what the layer is.";
pub const NO_PARAMETER: &str =
    "vLLM's compressed-tensors method has no such parameter. The scale is used all the same.";
pub const SGLANG: &str = "The name that SGLang gives an MLA layer's parameter. vLLM does not know it.";
pub const TWICE: &str =
    "The mapper adds `.attn` to a name that is vLLM's own already. Reading a name twice must change nothing.";

/// Every model class but Mistral's, and those without one.
pub const NOT_MISTRAL: &[&str] = &["", GPT_J, NEMOTRON_H];

/// A difference on purpose.
///
/// In names, `<attention>` is the attention module, `<inner>` what is below it in vLLM (`attn`, or `mla_attn.mla_attn` of
/// an MLA layer), and `[kv]` one of the letters, everywhere the same.
pub struct Difference {
    pub name: &'static str,
    /// Whether it concerns layers of MHA (and GQA), and those of MLA.
    pub kinds: [bool; 2],
    pub routes: &'static [Route],
    pub methods: &'static [&'static str],
    /// What vLLM's model calls the module, last part only; empty for anything.
    pub modules: &'static [&'static str],
    /// The model classes, with "" for none in particular; empty for any.
    pub models: &'static [&'static str],
    pub vllm: &'static str,
    pub ours: Ours,
    pub why: &'static str,
}

#[derive(Clone, Copy)]
pub enum Ours {
    /// `<attention>.<inner>.<role>_scale`, with this role.
    Role(&'static str),
    Word(&'static str),
}

/// vLLM does not load what the grammar takes for `role`.
pub const fn unloaded(name: &'static str, role: &'static str, why: &'static str) -> Difference {
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
pub const fn taken(
    name: &'static str,
    vllm: &'static str,
    ours: &'static str,
    why: &'static str,
) -> Difference {
    Difference { vllm, ours: Ours::Word(ours), ..unloaded(name, "", why) }
}

impl Difference {
    pub const fn mha(self) -> Self {
        Self { kinds: [true, false], ..self }
    }

    pub const fn mla(self) -> Self {
        Self { kinds: [false, true], ..self }
    }

    pub const fn routes(self, routes: &'static [Route]) -> Self {
        Self { routes, ..self }
    }

    pub const fn methods(self, methods: &'static [&'static str]) -> Self {
        Self { methods, ..self }
    }

    pub const fn modules(self, modules: &'static [&'static str]) -> Self {
        Self { modules, ..self }
    }

    pub const fn models(self, models: &'static [&'static str]) -> Self {
        Self { models, ..self }
    }

    /// What the two sides say to a case, if this row is about it.
    pub fn expected(&self, case: &Case) -> Option<(String, String)> {
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
    pub fn markdown(&self) -> String {
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
pub const fn inner(is_mla: bool) -> &'static str {
    if is_mla { "mla_attn.mla_attn" } else { "attn" }
}

/// Every name that a pattern stands for, with the letter it has in place of `[kv]`.
pub fn expand(pattern: &str) -> Vec<(char, String)> {
    let letters = pattern.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    // Without a class the letter is not used.
    letters.unwrap_or("-").chars().map(|letter| (letter, with_letter(pattern, letter))).collect()
}

pub fn with_letter(pattern: &str, letter: char) -> String {
    let letter = letter.to_string();
    pattern.replace("[qkv]", &letter).replace("[kv]", &letter)
}
