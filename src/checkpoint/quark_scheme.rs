//! The KV cache that a config of AMD's Quark declares.
//!
//! `export.kv_cache_group` holds patterns of module names. What those modules' outputs are is in `layer_quant_config`, whose
//! names are patterns or whole names, in `kv_cache_quant_config` where the attention itself is left alone, or in
//! `global_quant_config`.

use serde_json::{Map, Value};

use super::kv_scheme::{KvScheme, Strategy};
use super::{FindingCode, Findings};

const OUTPUTS: &str = "output_tensors";

/// Reads the scheme. Specifications of several modules must agree.
pub(super) fn quark_scheme(config: &Map<String, Value>, source: &str, findings: &mut Findings) -> KvScheme {
    let object = |key: &str| config.get(key).and_then(Value::as_object);
    let own = object("kv_cache_quant_config");
    let patterns = patterns(config.get("export").and_then(|export| export.get("kv_cache_group")));
    if patterns.is_empty() {
        let schemes = own.into_iter().flat_map(Map::values).map(of_module);
        return agreed(schemes, "kv_cache_quant_config", source, findings);
    }
    let found = |modules| matching(modules, &patterns);
    let mut schemes = object("layer_quant_config").map_or_else(Vec::new, found);
    if schemes.iter().all(|scheme| *scheme == KvScheme::None) {
        schemes = own.map_or_else(Vec::new, found);
    }
    if schemes.is_empty() {
        schemes.push(KvScheme::None);
    }
    // What has no specification of its own has the global one.
    let global =
        object("global_quant_config").map_or(KvScheme::None, |global| spec_scheme(global.get(OUTPUTS)));
    for scheme in schemes.iter_mut().filter(|scheme| **scheme == KvScheme::None) {
        *scheme = global.clone();
    }
    if schemes.iter().all(|scheme| *scheme == KvScheme::None) {
        let message = format!(
            "{source}: export.kv_cache_group names {}, but nothing says how these modules' outputs are quantized, so no KV \
             cache is declared",
            patterns.join(", ")
        );
        findings.warn(FindingCode::KvSchemeIncomplete, None, message);
    }
    agreed(schemes.into_iter(), "export.kv_cache_group", source, findings)
}

/// The first of the schemes, which the others must repeat.
fn agreed(
    mut schemes: impl Iterator<Item = KvScheme>,
    key: &str,
    source: &str,
    findings: &mut Findings,
) -> KvScheme {
    let Some(first) = schemes.next() else { return KvScheme::None };
    if let Some(other) = schemes.find(|other| *other != first) {
        findings.error(
            FindingCode::KvSchemeContradiction,
            None,
            format!("{source}: the modules of {key} disagree: {first} and {other}"),
        );
    }
    first
}

/// The patterns of a list, or a pattern that stands alone.
fn patterns(group: Option<&Value>) -> Vec<&str> {
    match group {
        Some(Value::Array(group)) => group.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(pattern)) => vec![pattern],
        _ => Vec::new(),
    }
}

/// The schemes of the modules that any pattern matches.
fn matching(modules: &Map<String, Value>, patterns: &[&str]) -> Vec<KvScheme> {
    modules
        .iter()
        .filter(|(name, _)| patterns.iter().any(|pattern| name == pattern || matches(pattern, name)))
        .map(|(_, module)| of_module(module))
        .collect()
}

fn of_module(module: &Value) -> KvScheme {
    spec_scheme(module.get(OUTPUTS))
}

/// A specification, which newer versions put into a list of steps.
fn spec_scheme(spec: Option<&Value>) -> KvScheme {
    let spec = match spec {
        Some(Value::Array(steps)) if steps.len() > 1 => {
            return KvScheme::Unsupported(format!("{} steps of quantization", steps.len()));
        }
        Some(Value::Array(steps)) => steps.first(),
        other => other,
    };
    let Some(spec) = spec.and_then(Value::as_object) else { return KvScheme::None };
    let text = |key: &str| spec.get(key).and_then(Value::as_str);
    match (text("dtype"), text("qscheme")) {
        (Some("fp8_e4m3"), None | Some("per_tensor"))
            if spec.get("is_dynamic") != Some(&Value::Bool(true)) =>
        {
            KvScheme::Fp8(Strategy::Tensor)
        }
        (Some("fp8_e4m3"), Some("per_tensor") | None) => {
            KvScheme::Unsupported("fp8 with scales computed at run time (is_dynamic)".to_owned())
        }
        (Some("fp8_e4m3"), Some(other)) => KvScheme::Unsupported(format!("fp8 with qscheme {other:?}")),
        (Some(dtype), _) => KvScheme::Unsupported(dtype.to_owned()),
        (None, _) => KvScheme::None,
    }
}

/// Whether a shell pattern matches a whole name: `*`, `?` and sets in brackets.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star stood, and the first character that it does not cover yet.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match one(&pattern[p..], name[n]) {
            Some(_) if pattern[p] == '*' => {
                star = Some((p, n));
                p += 1;
            }
            Some(len) => (p, n) = (p + len, n + 1),
            None => match star {
                Some((at, covered)) => {
                    star = Some((at, covered + 1));
                    (p, n) = (at + 1, covered + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How much of the pattern this character takes, if it fits.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '*' | '?' => Some(1),
        '[' => {
            let is_not = pattern.get(1) == Some(&'!');
            let start = 1 + usize::from(is_not);
            // A bracket that is first in the set is one of its characters.
            let Some(len) = pattern.iter().skip(start + 1).position(|x| *x == ']') else {
                return (c == '[').then_some(1);
            };
            let set = &pattern[start..=start + len];
            (is_in(set, c) != is_not).then_some(start + len + 2)
        }
        plain => (*plain == c).then_some(1),
    }
}

fn is_in(set: &[char], c: char) -> bool {
    match set {
        [] => false,
        [first, '-', last, rest @ ..] => (*first..=*last).contains(&c) || is_in(rest, c),
        [first, rest @ ..] => *first == c || is_in(rest, c),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    /// As Python's `fnmatch.fnmatchcase` has it.
    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("*k_proj", "model.layers.0.self_attn.k_proj", true),
            ("*k_proj", "*self_attn.k_proj", true),
            ("*k_proj", "model.layers.0.self_attn.k_proj.x", false),
            ("*language_model.*k_proj", "model.language_model.layers.*.self_attn.k_proj", true),
            ("*language_model.*k_proj", "model.layers.0.self_attn.k_proj", false),
            ("layers.?.k", "layers.3.k", true),
            ("layers.?.k", "layers.33.k", false),
            ("layers.[0-2].k", "layers.1.k", true),
            ("layers.[!0-2].k", "layers.1.k", false),
            ("layers.[!0-2].k", "layers.3.k", true),
            ("layers.[]].k", "layers.].k", true),
            ("layers.[0.k", "layers.[0.k", true),
            ("*", "", true),
            ("", "a", false),
            ("a*b*c", "a.b.b.c", true),
            ("a*b*c", "a.b.b", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
