//! What a tensor name says of a KV scale: role, layer, spelling, or why it is refused.

use std::fmt;

/// What a scale is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The query.
    Q,
    /// The key, or the latent of an MLA layer.
    K,
    /// The value.
    V,
    /// One scale for key and value.
    Kv,
    /// The softmax probabilities.
    Prob,
}

impl Role {
    pub(super) fn from_letter(letter: &str) -> Option<Self> {
        match letter {
            "q" => Some(Self::Q),
            "k" => Some(Self::K),
            "v" => Some(Self::V),
            "kv" => Some(Self::Kv),
            "prob" => Some(Self::Prob),
            _ => None,
        }
    }

    /// `q`, `k`, `v`, `kv` or `prob`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q => "q",
            Self::K => "k",
            Self::V => "v",
            Self::Kv => "kv",
            Self::Prob => "prob",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a producer spells the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameFormat {
    /// `self_attn.k_scale`: compressed-tensors, llm-compressor, AutoRound, native fp8, NemotronH.
    Attention,
    /// `self_attn.attn.k_scale`, `self_attn.mla_attn.mla_attn.k_scale`: an engine's own parameter.
    Runtime,
    /// `self_attn.k_proj.k_scale`: ModelOpt.
    Projection,
    /// `self_attn.qkv_proj.k_scale`, `self_attn.qkqkv_proj.k_scale`: renamed by a loader.
    Fused,
    /// `self_attn.k_proj.output_scale`: Quark, older compressed-tensors, AutoFP8.
    OutputScale,
    /// `self_attn.prob_output_scale`: Quark.
    ProbOutput,
    /// `self_attn.k_cache.scale`: Hunyuan.
    Cache,
    /// `attention.k_fake_quantizer.qscale_act`: Mistral consolidated.
    FakeQuantizer,
    /// `attention.kv_cache_scaling_factor`: TensorRT-LLM.
    ScalingFactor,
    /// `attention.kv_cache_rcp_scaling_factor`: the same, as 1/s.
    ReciprocalScalingFactor,
    /// `impl.k_cache.dequant_output.scale`: INC.
    IncDequant,
    /// `impl.k_cache.quant_input.scale_inv`: INC, as 1/s.
    IncQuantReciprocal,
}

impl NameFormat {
    /// Whether the tensor holds `1/s`.
    #[must_use]
    pub const fn is_reciprocal(self) -> bool {
        matches!(self, Self::ReciprocalScalingFactor | Self::IncQuantReciprocal)
    }

    /// The order in which equal sources are named: the most specific spelling first.
    pub(crate) const fn precedence(self) -> u8 {
        match self {
            Self::Attention | Self::Runtime | Self::Projection | Self::Fused | Self::Cache => 0,
            Self::FakeQuantizer | Self::ScalingFactor | Self::OutputScale | Self::ProbOutput => 1,
            Self::IncDequant => 2,
            Self::ReciprocalScalingFactor | Self::IncQuantReciprocal => 3,
        }
    }
}

/// Where a layer number counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LayerIndex {
    /// In the model's own list of layers; draft layers may follow its last one.
    Model(usize),
    /// In the list of draft layers: `mtp.layers.0` is the first after the model's last.
    Draft(usize),
}

/// A name that the grammar accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaleName {
    /// Everything up to and including the attention module: `model.layers.0.self_attn`.
    pub module: String,
    /// The layer.
    pub layer: LayerIndex,
    /// What the scale is for.
    pub role: Role,
    /// How the name is spelled.
    pub format: NameFormat,
}

impl ScaleName {
    /// The compressed-tensors spelling of the same scale. Classifying it gives the same module, layer and role, so
    /// applying it twice changes nothing.
    #[must_use]
    pub fn canonical(&self) -> String {
        format!("{}.{}_scale", self.module, self.role)
    }

    /// The parameter that vLLM gives this scale: in the `attn` module of the layer, or in `mla_attn.mla_attn` of an
    /// MLA layer. A `kv` scale is the key's.
    #[must_use]
    pub fn runtime(&self, is_mla: bool) -> String {
        let role = if self.role == Role::Kv { Role::K } else { self.role };
        let inner = if is_mla { "mla_attn.mla_attn" } else { "attn" };
        format!("{}.{inner}.{role}_scale", self.module)
    }
}

/// Why a tensor that looks like a KV scale is taken by no layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// `k_proj.v_scale`: the letters contradict each other.
    CrossedLetters,
    /// `qkv_proj.output_scale`: one scale for query, key and value at once.
    Ambiguous,
    /// An int8 cache's scale (vllm-ascend).
    Int8,
    /// An NVFP4 cache's scale.
    Nvfp4,
    /// `kv_b_proj.output_scale`, `qkv.output_scale`: what comes out of the projection is not what the cache holds.
    Projection,
    /// `k_bmm_quantizer._amax`: what ModelOpt measured, before its export made a scale of it.
    Amax,
    /// The prefix or the module is none that the grammar knows.
    UnknownPlace,
}

/// What a tensor name is, as far as KV scales go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameClass {
    /// A KV scale.
    Scale(ScaleName),
    /// A zero point of the KV cache, which must be zero.
    ZeroPoint(ScaleName),
    /// It looks like a KV scale and is refused.
    Refused(Refusal),
    /// A KV-scale suffix in a place without a text KV cache: a vision tower, an indexer, a quantizer's transient state.
    OtherRole,
    /// A scale of a decoder's cross attention, whose cache holds what the encoder made.
    CrossAttention(NameFormat),
    /// Nothing to do with KV scales.
    Other,
}

/// Names in a sentence: all of them, or the first and how many more there are.
#[must_use]
pub(crate) fn list_names(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => "none".to_owned(),
        _ if names.len() <= SHOWN => names.join(", "),
        _ => format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN),
    }
}
