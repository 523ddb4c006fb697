//! What a configuration class of Hugging Face Transformers or of vLLM fills in where a `config.json` is silent.

use serde_json::{Map, Value};

/// One JSON object a line for each class; `tests/oracle/model_types.py` writes it from the library itself.
const MODEL_TYPES: &str = include_str!("../model_types.jsonl");

/// Classes that only vLLM has, in the same form; `tests/oracle/engine_configs.py` writes them.
const ENGINE_MODEL_TYPES: &str = include_str!("../engine_model_types.jsonl");

/// The defaults of a configuration class.
#[derive(Debug, Clone)]
pub(crate) struct ModelType {
    facts: Map<String, Value>,
}

impl ModelType {
    /// The class of a `model_type`.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let wanted = format!("\"model_type\":{}", Value::from(name));
        Self::first(&wanted, |facts| facts.get("model_type").and_then(Value::as_str) == Some(name))
    }

    /// The class of an architecture: `LlamaConfig` is that of `LlamaForCausalLM`.
    pub(crate) fn of_architecture(architecture: &str) -> Option<Self> {
        let (family, _) = architecture.split_once("For")?;
        let class = format!("{family}Config");
        let wanted = format!("\"class\":{}", Value::from(class.as_str()));
        Self::first(&wanted, |facts| facts.get("class").and_then(Value::as_str) == Some(&class))
    }

    fn first(wanted: &str, is_it: impl Fn(&Map<String, Value>) -> bool) -> Option<Self> {
        let lines = MODEL_TYPES.lines().chain(ENGINE_MODEL_TYPES.lines());
        let lines = lines.filter(|line| line.contains(wanted));
        lines.filter_map(|line| serde_json::from_str(line).ok()).find(is_it).map(|facts| Self { facts })
    }

    /// Its `model_type`.
    pub(crate) fn name(&self) -> &str {
        self.facts.get("model_type").and_then(Value::as_str).unwrap_or_default()
    }

    /// The name under which the class itself stores a key.
    pub(crate) fn alias(&self, key: &str) -> Option<&str> {
        self.facts.get("aliases")?.get(key)?.as_str()
    }

    /// The value of a key that a `config.json` leaves out; never null.
    pub(crate) fn default(&self, key: &str) -> Option<&Value> {
        let defaults = self.facts.get("defaults")?;
        defaults.get(key).or_else(|| defaults.get(self.alias(key)?)).filter(|value| !value.is_null())
    }

    /// The key of a composite model's text decoder, and the class that it has where it names none.
    pub(crate) fn text_decoder(&self) -> Option<(&str, &str)> {
        let text = self.facts.get("text")?;
        Some((text.get("key")?.as_str()?, text.get("model_type")?.as_str()?))
    }

    /// The text decoder of a composite model that writes none: its class, with what the composite fills in differently.
    pub(crate) fn text_class(&self) -> Option<Self> {
        let text = self.facts.get("text")?;
        let mut class = Self::find(text.get("model_type")?.as_str()?)?;
        if let Some(own) = text.get("defaults").and_then(Value::as_object) {
            let defaults = class.facts.entry("defaults").or_insert_with(|| Map::new().into());
            if let Some(defaults) = defaults.as_object_mut() {
                defaults.extend(own.clone());
            }
        }
        Some(class)
    }

    /// Whether a composite model's own keys describe its text decoder where the part is absent.
    pub(crate) fn is_flat(&self) -> bool {
        self.facts.get("text").and_then(|text| text.get("flat")) == Some(&Value::Bool(true))
    }

    /// The types of all layers as the class derives them where no list is written. The head of
    /// `tests/oracle/model_types.py` says what the parts of a rule mean.
    pub(crate) fn layer_types(&self, layers: usize) -> Option<Vec<&str>> {
        let rule = self.facts.get("layer_types")?;
        let part = |key: &str| -> Vec<&str> {
            rule.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let text = |key: &str| rule.get(key).and_then(Value::as_str);
        let list = part("list");
        if !list.is_empty() {
            return (0..layers).map(|layer| list.get(layer).or(list.last()).copied()).collect();
        }
        let mut head = part("prefix");
        if let Some(first) = rule.get("first") {
            let count = usize::try_from(first.get("n")?.as_u64()?).ok()?;
            head = vec![first.get("type")?.as_str()?; count];
        }
        let cycle = part("cycle");
        let is_from_end = rule.get("from_end") == Some(&Value::Bool(true));
        let of_layer = |layer: usize| {
            let place = if is_from_end { layers - 1 - layer } else { layer.saturating_sub(head.len()) };
            head.get(layer).or_else(|| cycle.get(place % cycle.len().max(1))).copied()
        };
        let mut types: Vec<&str> = (0..layers).map(of_layer).collect::<Option<_>>()?;
        let needed = text("needs").filter(|needed| !types.contains(needed));
        if let (Some(own), Some(last)) = (text("last").or(needed), types.last_mut()) {
            *last = own;
        }
        Some(types)
    }

    /// The number of layers of a class that counts them by a list alone.
    pub(crate) fn listed_layers(&self) -> Option<usize> {
        Some(self.facts.get("layer_types")?.get("list")?.as_array()?.len())
    }

    /// What the class changes on layers of a type; `nth` counts those before it.
    pub(crate) fn of_layer_type(&self, layer_type: &str, nth: usize) -> Option<&Map<String, Value>> {
        match self.facts.get("by_layer_type")?.get(layer_type)? {
            Value::Array(list) if !list.is_empty() => list[nth % list.len()].as_object(),
            own => own.as_object(),
        }
    }

    /// The factor and the power of `head_dim` that make the softmax scale, where it is neither `head_dim^-0.5` nor a key's.
    pub(crate) fn softmax_scale(&self) -> Option<(f64, f64)> {
        let scale = self.facts.get("softmax_scale")?;
        Some((scale.get("factor")?.as_f64()?, scale.get("head_dim_power")?.as_f64()?))
    }

    /// Whether a yarn rope scales the softmax too.
    pub(crate) fn has_yarn_softmax(&self) -> bool {
        self.facts.get("yarn_softmax") == Some(&Value::Bool(true))
    }

    /// Whether the class is that of an encoder, unless a config says otherwise: its layers keep no cache.
    pub(crate) fn is_encoder(&self) -> bool {
        let is = |key: &str| self.default(key).and_then(Value::as_bool);
        is("is_decoder") == Some(false) && is("is_encoder_decoder") != Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that the classes' own documentation gives.
    #[test]
    fn classes_have_their_defaults() {
        let gemma3 = ModelType::find("gemma3_text").unwrap();
        assert_eq!(gemma3.default("num_attention_heads"), Some(&Value::from(8)));
        assert_eq!(gemma3.default("num_key_value_heads"), Some(&Value::from(4)));
        assert_eq!(gemma3.default("head_dim"), Some(&Value::from(256)));
        let kinds = gemma3.layer_types(7).unwrap();
        assert_eq!(kinds.iter().filter(|kind| **kind == "full_attention").count(), 1);
        assert_eq!(kinds[5], "full_attention");
        let gpt2 = ModelType::find("gpt2").unwrap();
        assert_eq!(gpt2.alias("num_attention_heads"), Some("n_head"));
        assert_eq!(gpt2.default("num_attention_heads"), Some(&Value::from(12)));
        let composite = ModelType::find("gemma3").unwrap();
        assert_eq!(composite.text_decoder(), Some(("text_config", "gemma3_text")));
        assert!(ModelType::find("no such model").is_none());
        assert_eq!(ModelType::of_architecture("LlamaForCausalLM").unwrap().facts["model_type"], "llama");
    }

    #[test]
    fn every_line_is_a_class() {
        for (number, line) in MODEL_TYPES.lines().skip(1).chain(ENGINE_MODEL_TYPES.lines()).enumerate() {
            let facts: Map<String, Value> = serde_json::from_str(line).unwrap();
            assert!(facts.get("model_type").is_some_and(Value::is_string), "line {}", number + 1);
        }
    }
}
