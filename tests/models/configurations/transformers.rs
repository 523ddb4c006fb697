//! Heads, sizes, kinds of layers, windows, softmax scales and shared caches as Hugging Face Transformers computes them.
//!
//! `tests/oracle/derived_layers.py` wrote the cases by building each model and looking at its attention.

use std::collections::{BTreeMap, BTreeSet};

use gaudi_kv::checkpoint::{Attention, CacheLayer};
use serde_json::Value;

use super::{cases, open};

/// What is derived of each layer, by the layer's number.
pub(super) fn expected(case: &Value) -> BTreeMap<u64, &Value> {
    let mut layers = BTreeMap::new();
    for group in case["layers"].as_array().unwrap() {
        let numbers = group["layer"].as_array().map_or_else(|| vec![group["layer"].clone()], Clone::clone);
        layers.extend(numbers.iter().map(|number| (number.as_u64().unwrap(), group)));
    }
    layers
}

/// Where a layer differs from what is derived, as `key found/expected`.
fn differences(layer: &CacheLayer, expected: &Value) -> Vec<String> {
    let number = |key: &str| expected.get(key).and_then(Value::as_u64).map(|n| n as usize);
    let mut found = Vec::new();
    let mut hold = |key: &str, own: Option<usize>| {
        if expected.get(key).is_some() && own != number(key) {
            found.push(format!("{key} {own:?}/{:?}", number(key)));
        }
    };
    hold("num_heads", Some(layer.num_heads));
    hold("head_dim", layer.head_dim);
    hold("v_head_dim", layer.v_head_dim);
    hold("sliding_window", layer.sliding_window_tokens);
    hold("cache_owner", layer.owner);
    if layer.attention == Attention::Mha {
        hold("num_kv_heads", Some(layer.num_kv_heads));
    } else {
        hold("kv_lora_rank", layer.kv_lora_rank);
        hold("qk_rope_head_dim", layer.qk_rope_head_dim);
    }
    let attention = if layer.attention == Attention::Mla { "mla" } else { "mha" };
    if expected["attention"] != attention {
        found.push(format!("attention {attention}/{}", expected["attention"]));
    }
    if let Some(scale) = expected.get("softmax_scale").and_then(Value::as_f64)
        && layer.softmax_scale.is_none_or(|own| (own - scale).abs() > 1e-6 * scale.abs())
    {
        found.push(format!("softmax_scale {:?}/{scale}", layer.softmax_scale));
    }
    found
}

/// What is wrong with a case; nothing where it is read as the library reads it.
fn failures(case: &Value) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let model = match open(folder.path(), &case["config"]) {
        Ok(model) => model,
        Err(error) => return vec![format!("refused: {error}")],
    };
    let expected = expected(case);
    let own: Vec<u64> = model
        .layers()
        .cached
        .iter()
        .filter(|layer| !layer.is_draft)
        .map(|layer| layer.index as u64)
        .collect();
    if own != expected.keys().copied().collect::<Vec<_>>() {
        return vec![format!("layers with a cache {own:?}/{:?}", expected.keys().collect::<Vec<_>>())];
    }
    let mut found: Vec<String> = Vec::new();
    for layer in model.layers().cached.iter().filter(|layer| !layer.is_draft) {
        found.extend(differences(layer, expected[&(layer.index as u64)]));
    }
    found.sort();
    found.dedup();
    found
}

/// Cases that are read differently, by model type and variant (none for all), each with the reason.
const EXCEPTIONS: [(&str, &[&str], &str); 14] = [
    ("deepseek_ocr2", &["small"], IGNORED),
    (
        "deepseek_v4",
        &[],
        "keys and values are one latent, which is cached as MLA's is; the library calls it one KV head",
    ),
    ("dory", &["minimal", "full", "diff"], LOOPED),
    ("dots3_note", &["small", "listed"], IGNORED),
    ("dots3_note_text", &["small", "listed"], IGNORED),
    ("hrm_text", &[], LOOPED),
    ("inkling2_loop", &[], LOOPED),
    ("inkling2_loop_text", &[], LOOPED),
    ("longcat_flash", &["small"], "the library fills no cache with these sizes"),
    ("mistral_large4", &[], NO_ROPE),
    ("moonshine", &["small"], IGNORED),
    ("pix2struct", &["small"], IGNORED),
    (
        "smollm3",
        &["small"],
        "with use_sliding_window, layers without a rope slide in the library; here all do",
    ),
    ("unlimited_ocr", &["small", "listed"], IGNORED),
];
const IGNORED: &str = "the library computes with sizes of the class where the config has others";
const NO_ROPE: &str = "every fourth layer has no rope part, which no key says";
const LOOPED: &str =
    "layers run several times, each time with a cache of its own; one scale serves all of them";

/// Whether a case is read differently on purpose.
pub(super) fn is_exception(name: &str, variant: &str) -> bool {
    exception(name, variant).is_some()
}

fn exception(name: &str, variant: &str) -> Option<&'static str> {
    let listed = EXCEPTIONS.iter().find(|(model_type, variants, _)| {
        *model_type == name && (variants.is_empty() || variants.contains(&variant))
    });
    listed.map(|(model_type, ..)| *model_type)
}

/// Compares all cases. An exception that holds must be taken off the list.
#[test]
fn transformers() {
    let cases = cases("layers.jsonl");
    assert!(cases.len() > 1000);
    let mut wrong = Vec::new();
    let mut met: Vec<&str> = Vec::new();
    for case in &cases {
        let (name, variant) = (case["model_type"].as_str().unwrap(), case["variant"].as_str().unwrap());
        let listed = exception(name, variant);
        let failures = failures(case);
        match listed {
            Some(model_type) if !failures.is_empty() => met.push(model_type),
            None if !failures.is_empty() => {
                wrong.push(format!("{name} ({variant}): {}", failures.join("; ")))
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let names = EXCEPTIONS.iter().map(|(model_type, ..)| *model_type);
    let hold: Vec<&str> = names.filter(|name| !met.contains(name)).collect();
    assert!(hold.is_empty(), "{hold:?} hold now");
}

/// The page on architectures says which classes were compared, and which are read differently and why.
#[test]
fn the_docs_list_what_was_compared() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/architectures.md")).unwrap();
    let cases = cases("layers.jsonl");
    let names: BTreeSet<&str> = cases.iter().map(|case| case["model_type"].as_str().unwrap()).collect();
    let counted = format!("{} configurations of {} model types", cases.len(), names.len());
    assert!(page.contains(&counted), "docs/architectures.md lacks: {counted}");
    for name in &names {
        assert!(page.contains(&format!("`{name}`")), "docs/architectures.md lacks {name}");
    }
    for (model_type, variants, reason) in EXCEPTIONS {
        let variants = if variants.is_empty() { "all".to_owned() } else { variants.join(", ") };
        let row = format!("| `{model_type}` | {variants} | {reason} |\n");
        assert!(page.contains(&row), "docs/architectures.md lacks: {row}");
    }
}
