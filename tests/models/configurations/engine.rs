//! Head counts, head sizes and MLA as vLLM takes them from configurations, at the defaults of each class.
//!
//! `tests/oracle/engine_configs.py` wrote the cases in vLLM's own environment.

use gaudi_kv::checkpoint::{Attention, CacheLayer, ModelFolder};
use serde_json::{Value, json};

use super::{lines, open};

/// Classes that are read differently, each with the reason.
const EXCEPTIONS: [(&str, &str); 19] = [
    ("bailing_moe_v3_vl", OTHER_DEFAULTS),
    ("chatglm", "vLLM takes multi_query_group_num even where multi_query_attention is false"),
    ("cosmos3_edge", OTHER_DEFAULTS),
    ("dots3_note", OTHER_DEFAULTS),
    ("granitemoehybrid", OTHER_DEFAULTS),
    ("hrm_text", "vLLM counts a layer for each time that it runs"),
    ("inkling_mm_model", OTHER_DEFAULTS),
    ("kimi_k2", UNKNOWN),
    ("kimi_k3", OTHER_DEFAULTS),
    ("kimi_linear", OTHER_DEFAULTS),
    ("longcat_flash", "vLLM counts pairs of attentions; here each has its number"),
    (
        "minicpm3",
        "vLLM expands its latent and caches keys and values, Transformers caches the latent, as it is read here",
    ),
    ("minimax_m3_mtp", UNKNOWN),
    ("moondream3", UNKNOWN),
    ("muse_glimmer_assistant", OTHER_DEFAULTS),
    (
        "nemotron",
        "vLLM takes no KV heads from a class that leaves them out; Transformers has as many as query heads",
    ),
    ("qwen3_asr", OTHER_DEFAULTS),
    ("step3p5", OTHER_DEFAULTS),
    ("unlimited_ocr", OTHER_DEFAULTS),
];
const OTHER_DEFAULTS: &str =
    "vLLM's own class, or its older Transformers, has other defaults than Transformers 5.24.0";
const UNKNOWN: &str = "its text decoder is no class that has defaults";

/// A layer that attends to all tokens, as vLLM's numbers are of one such layer; else the first.
fn representative(model: &ModelFolder) -> Option<&CacheLayer> {
    let cached = &model.layers().cached;
    cached.iter().find(|layer| !layer.is_sliding).or(cached.first())
}

/// Where the layer differs from what vLLM says of the model.
fn differences(model: &ModelFolder, right: &Value) -> Vec<String> {
    let number = |key: &str| right.get(key).and_then(Value::as_u64).map_or(0, |n| n as usize);
    let Some(layer) = representative(model) else { return vec!["no layer has a cache".to_owned()] };
    let is_mla = layer.attention == Attention::Mla;
    let head_size = if is_mla {
        layer.kv_lora_rank.map(|rank| rank + layer.qk_rope_head_dim.unwrap_or(0))
    } else {
        layer.head_dim
    };
    let mut found = Vec::new();
    let mut hold = |key: &str, own: usize| {
        if own != number(key) {
            found.push(format!("{key} {own}/{}", number(key)));
        }
    };
    hold("num_heads", layer.num_heads);
    hold("head_size", head_size.unwrap_or(0));
    hold("num_hidden_layers", model.layers().model_layers);
    if !is_mla {
        hold("num_kv_heads", layer.num_kv_heads);
    }
    if right["mla"] != is_mla {
        found.push(format!("mla {is_mla}/{}", right["mla"]));
    }
    found
}

#[test]
fn vllm() {
    let (mut compared, mut wrong, mut met) = (0, Vec::new(), Vec::new());
    for right in lines("engine.jsonl") {
        let counted = |key: &str| right.get(key).and_then(Value::as_u64).unwrap_or(0);
        let Some(name) = right.get("model_type").and_then(Value::as_str) else { continue };
        if counted("num_heads") == 0 || counted("num_hidden_layers") == 0 {
            continue;
        }
        compared += 1;
        let folder = tempfile::tempdir().unwrap();
        let config = json!({"model_type": name, "architectures": right["architectures"]});
        let failures = match open(folder.path(), &config) {
            Ok(model) => differences(&model, &right),
            Err(error) => vec![format!("refused: {error}")],
        };
        let is_listed = EXCEPTIONS.iter().any(|(listed, _)| *listed == name);
        match (failures.is_empty(), is_listed) {
            (true, false) => {}
            (false, true) => met.push(name.to_owned()),
            (true, true) => wrong.push(format!("{name} holds now")),
            (false, false) => wrong.push(format!("{name}: {}", failures.join("; "))),
        }
    }
    assert!(compared > 100, "{compared}");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(met.len(), EXCEPTIONS.len());
}

/// The page on architectures has the exceptions with their reasons.
#[test]
fn the_docs_list_what_differs() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/architectures.md")).unwrap();
    for (name, reason) in EXCEPTIONS {
        let row = format!("| `{name}` | {reason} |\n");
        assert!(page.contains(&row), "docs/architectures.md lacks: {row}");
    }
}
