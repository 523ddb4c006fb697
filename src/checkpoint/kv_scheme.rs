//! Which KV cache a quantization config declares: one reader for each producer's shape.

use std::fmt;

use serde_json::{Map, Value};

use super::quark_scheme::quark_scheme;
use super::{FindingCode, Findings};

/// The KV cache that a quantization config declares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KvScheme {
    /// None: scale tensors alone declare nothing.
    #[default]
    None,
    /// FP8 e4m3 with scales of this granularity.
    Fp8(Strategy),
    /// A cache that this backend does not have, with its name.
    Unsupported(String),
}

/// How many scales an FP8 cache has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One for a layer's keys, one for its values.
    Tensor,
    /// One for each KV head.
    AttnHead,
}

impl Strategy {
    /// The name that compressed-tensors gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::AttnHead => "attn_head",
        }
    }
}

impl KvScheme {
    /// `fp8`, or the name of what is not supported, or `None`.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Fp8(_) => Some("fp8"),
            Self::Unsupported(name) => Some(name),
        }
    }
}

impl fmt::Display for KvScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no KV-cache scheme"),
            Self::Fp8(strategy) => write!(f, "an FP8 KV cache ({})", strategy.name()),
            Self::Unsupported(name) => write!(f, "a KV cache of {name}"),
        }
    }
}

/// The key of TGI.
pub(crate) const TORCH_DTYPE_KEY: &str = "kv_cache_torch_dtype";

/// Reads the scheme of one quantization config. `root` is the model's config, where TGI keeps its key.
pub(crate) fn declared_scheme(
    config: &Map<String, Value>,
    root: Option<&Map<String, Value>>,
    source: &str,
    findings: &mut Findings,
) -> KvScheme {
    let nested = config.get("quantization").and_then(Value::as_object);
    let mut declared: Vec<(String, KvScheme)> = Vec::new();
    let mut add = |key: &str, scheme: KvScheme| {
        if scheme != KvScheme::None {
            declared.push((key.to_owned(), scheme));
        }
    };
    for (path, object) in [("quantization.", nested), ("", Some(config))] {
        let Some(object) = object else { continue };
        add(&format!("{path}kv_cache_scheme"), scheme_value(object.get("kv_cache_scheme")));
        add(&format!("{path}kv_cache_quant_algo"), named_scheme(object.get("kv_cache_quant_algo")));
    }
    add("static_kv_dtype", named_scheme(config.get("static_kv_dtype")));
    add("export.kv_cache_group", quark_scheme(config, source, findings));
    let torch_dtype = config.get(TORCH_DTYPE_KEY).or_else(|| root?.get(TORCH_DTYPE_KEY));
    add(TORCH_DTYPE_KEY, named_scheme(torch_dtype));
    if declared.is_empty() {
        add_attention_groups(config, &mut declared);
    }
    let Some((first_key, first)) = declared.first().cloned() else { return KvScheme::None };
    // Two keys that name different caches: whichever is read, the other reader's engine computes something else.
    if let Some((key, other)) =
        declared.iter().find(|(_, other)| std::mem::discriminant(other) != std::mem::discriminant(&first))
    {
        findings.error(
            FindingCode::KvSchemeContradiction,
            None,
            format!("{source}: {first_key} declares {first}, {key} declares {other}"),
        );
    }
    first
}

/// `kv_cache_scheme`: an object of compressed-tensors or ModelOpt, or a name.
fn scheme_value(value: Option<&Value>) -> KvScheme {
    let Some(Value::Object(scheme)) = value else { return named_scheme(value) };
    if scheme.is_empty() {
        return KvScheme::None;
    }
    fp8_args(scheme, "kv_cache_scheme")
}

/// The arguments that compressed-tensors gives a quantized tensor.
fn fp8_args(scheme: &Map<String, Value>, what: &str) -> KvScheme {
    let text = |key: &str| scheme.get(key).and_then(Value::as_str);
    let bits = scheme.get("num_bits").and_then(Value::as_u64);
    let kind = text("type").unwrap_or("int");
    if bits != Some(8) || kind != "float" {
        let bits = bits.map_or_else(|| "?".to_owned(), |b| b.to_string());
        return KvScheme::Unsupported(if kind == "float" {
            format!("fp{bits}")
        } else {
            format!("{kind}{bits}")
        });
    }
    if scheme.get("symmetric").and_then(Value::as_bool) == Some(false) {
        return KvScheme::Unsupported(format!("asymmetric fp8 ({what}.symmetric is false)"));
    }
    if scheme.get("dynamic").is_some_and(|d| *d == Value::Bool(true) || d.is_string()) {
        return KvScheme::Unsupported(format!("fp8 with scales computed at run time ({what}.dynamic)"));
    }
    match text("strategy") {
        None | Some("tensor") => KvScheme::Fp8(Strategy::Tensor),
        Some("attn_head") => KvScheme::Fp8(Strategy::AttnHead),
        Some(other) => {
            KvScheme::Unsupported(format!("fp8 with strategy {other:?}; known are tensor, attn_head"))
        }
    }
}

/// A cache named by a string, in any case: ModelOpt's algorithms, AutoRound's and torch's types.
fn named_scheme(value: Option<&Value>) -> KvScheme {
    let Some(value) = value.filter(|value| !value.is_null() && **value != Value::Bool(false)) else {
        return KvScheme::None;
    };
    let Some(name) = value.as_str() else { return KvScheme::Unsupported(value.to_string()) };
    let name = name.to_lowercase();
    match name.strip_prefix("torch.").unwrap_or(&name) {
        "" | "none" | "null" | "auto" | "fp16" | "bf16" | "float16" | "bfloat16" => KvScheme::None,
        "fp8" | "fp8_cast" | "fp8_e4m3" | "e4m3" | "float8_e4m3fn" | "float8_e4m3fnuz" | "static" => {
            KvScheme::Fp8(Strategy::Tensor)
        }
        other => KvScheme::Unsupported(other.to_owned()),
    }
}

/// An attention module that is itself quantized (compressed-tensors groups, AutoRound's static attention) has an FP8
/// cache, whether or not `kv_cache_scheme` says so.
fn add_attention_groups(config: &Map<String, Value>, declared: &mut Vec<(String, KvScheme)>) {
    let groups = config.get("config_groups").and_then(Value::as_object).into_iter().flatten();
    let named = groups.map(|(name, group)| (format!("config_groups.{name}"), group));
    let own = config
        .get("attention_input_activations")
        .map(|group| ("attention_input_activations".to_owned(), group));
    for (key, group) in named.chain(own) {
        let targets = group.get("targets").and_then(Value::as_array).into_iter().flatten();
        if !targets.filter_map(Value::as_str).any(is_attention_target) {
            continue;
        }
        if let Some(args) = group.get("input_activations").and_then(Value::as_object) {
            declared.push((key, fp8_args(args, "input_activations")));
        }
    }
}

/// Whether a target, a class name or a `re:` pattern of module names, means attention modules.
fn is_attention_target(target: &str) -> bool {
    match target.strip_prefix("re:") {
        Some(pattern) => {
            let pattern = pattern.trim_end_matches('$');
            ["self_attn", "attn", "attention", "mixer"].iter().any(|module| pattern.ends_with(module))
        }
        None => target.contains("Attention") || target.ends_with("self_attn"),
    }
}
