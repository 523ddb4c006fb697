//! What kind of attention a layer has, as the words of configurations say it.

/// What one entry of `layer_types` and its relatives means for the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Full,
    Sliding,
    /// Other attention with a cache, such as Llama 4's chunks.
    Chunked,
    Mla,
    Mha,
    NoCache,
}

/// The kind of a layer's attention, with the config's word for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LayerKind {
    pub(super) kind: Kind,
    pub(super) name: String,
}

impl LayerKind {
    /// Reads a word of a list. A word that is not known has a cache: a layer that is listed as having no scale is seen,
    /// one that is not listed is lost.
    pub(super) fn named(name: &str) -> Self {
        let kind = match name {
            "sliding_attention"
            | "sliding_window"
            | "sliding"
            | "local_attention"
            | "local"
            | "swa"
            | "hybrid_sliding"
            | "reference_sliding_attention" => Kind::Sliding,
            "chunked_attention" => Kind::Chunked,
            "mla" | "mla_attention" | "multi_latent_attention" => Kind::Mla,
            "mha" | "gqa" | "mqa" => Kind::Mha,
            "linear_attention" | "linear" | "mamba" | "mamba2" | "conv" | "recurrent" | "rglru"
            | "gated_deltanet" | "gdn" | "kda" | "rwkv" | "ssm" | "gmu" | "mlp" | "moe" | "none"
            | "no_op" | "cross_attention" | "M" | "-" | "E" => Kind::NoCache,
            _ => Kind::Full,
        };
        Self { kind, name: name.to_owned() }
    }

    /// The kind of a layer that a rule describes.
    pub(super) fn derived(has_cache: bool, is_sliding: bool) -> Self {
        Self::named(match (has_cache, is_sliding) {
            (false, _) => "none",
            (true, true) => "sliding_attention",
            (true, false) => "full_attention",
        })
    }

    /// A layer without a KV cache of the text itself.
    pub(super) fn without_cache(name: &str) -> Self {
        Self { kind: Kind::NoCache, name: name.to_owned() }
    }
}
