//! What `config.json` says about a model's shape.

use serde_json::{Map, Value};

use super::CheckpointError;
use super::json::{Document, kind};

/// No model comes near this many layers; a larger number is a damaged config.
const MAX_LAYERS: usize = 100_000;

/// Keys under which composite models keep their text decoder, and nested again.
const TEXT_KEYS: [&str; 5] = ["text_config", "llm_config", "language_config", "thinker_config", "llm"];

/// The config of the text decoder, found at the top level or nested in a composite model's config.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextConfig<'a> {
    document: &'a Document,
    /// The dotted path of the object, empty at the top level.
    path: &'a str,
    object: &'a Map<String, Value>,
}

/// The objects in which a config may describe the text decoder, outermost first, each with its dotted path.
pub(crate) fn nested_objects(document: &Document) -> Vec<(String, &Map<String, Value>)> {
    let mut found = Vec::new();
    let mut next = document.value.as_object().map(|object| (String::new(), object));
    while let Some((path, object)) = next {
        next = TEXT_KEYS.iter().find_map(|key| {
            let inner = object.get(*key)?.as_object()?;
            Some((if path.is_empty() { (*key).to_owned() } else { format!("{path}.{key}") }, inner))
        });
        found.push((path, object));
    }
    found
}

impl<'a> TextConfig<'a> {
    /// Takes the innermost of `objects` that counts layers.
    pub(crate) fn find(
        document: &'a Document,
        objects: &'a [(String, &'a Map<String, Value>)],
    ) -> Result<Self, CheckpointError> {
        let counts_layers =
            |object: &Map<String, Value>| LAYER_COUNT.iter().any(|key| object.contains_key(*key));
        let found = objects.iter().rev().find(|(_, object)| counts_layers(object));
        let Some((path, object)) = found else {
            return Err(CheckpointError::key(
                &document.path,
                LAYER_COUNT[0],
                format!("is missing, and so are {}", LAYER_COUNT[1..].join(", ")),
            ));
        };
        Ok(Self { document, path, object })
    }

    /// A value, `None` where it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A name that decides nothing by its type: another type is taken for absent.
    pub(crate) fn str(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// A string.
    pub(crate) fn string(&self, key: &str) -> Result<Option<&'a str>, CheckpointError> {
        self.typed(key, "a string", Value::as_str)
    }

    /// A boolean; 0 and 1 are booleans too.
    pub(crate) fn bool(&self, key: &str) -> Result<Option<bool>, CheckpointError> {
        self.typed(key, "a boolean", |value| match value.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => value.as_bool(),
        })
    }

    /// An object.
    pub(crate) fn object(&self, key: &str) -> Result<Option<&'a Map<String, Value>>, CheckpointError> {
        self.typed(key, "an object", Value::as_object)
    }

    /// A list of objects.
    pub(crate) fn objects(&self, key: &str) -> Result<Option<Vec<&'a Map<String, Value>>>, CheckpointError> {
        self.list(key, "a list of objects", Value::as_object)
    }

    fn typed<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, CheckpointError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(self.fail(key, format!("{} where {wanted} is needed", kind(value)))),
        }
    }

    /// A count, under the first of several keys that is there.
    pub(crate) fn count(&self, keys: &[&str]) -> Result<Option<usize>, CheckpointError> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, self.get(key)?))) else {
            return Ok(None);
        };
        let count = value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= u32::MAX as usize);
        match count {
            Some(count) => Ok(Some(count)),
            None => Err(self.fail(key, format!("{value} is not a count"))),
        }
    }

    /// A list of strings.
    pub(crate) fn strings(&self, key: &str) -> Result<Option<Vec<&'a str>>, CheckpointError> {
        self.list(key, "a list of strings", Value::as_str)
    }

    /// A list of layer numbers or counts.
    pub(crate) fn counts(&self, key: &str) -> Result<Option<Vec<usize>>, CheckpointError> {
        self.list(key, "a list of whole numbers", |v| v.as_u64().and_then(|n| usize::try_from(n).ok()))
    }

    fn list<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>, CheckpointError> {
        self.typed(key, wanted, |value| value.as_array()?.iter().map(&read).collect())
    }

    /// An error that names this config's file and the key's full path.
    pub(crate) fn fail(&self, key: &str, reason: impl Into<String>) -> CheckpointError {
        let key = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        CheckpointError::key(&self.document.path, key, reason)
    }
}

const LAYER_COUNT: [&str; 4] = ["num_hidden_layers", "n_layer", "n_layers", "num_layers"];

/// The sizes of the attention that scales depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Layers of the model, those without a KV cache included, draft layers not.
    pub layers: usize,
    /// Query heads of a layer.
    pub num_heads: usize,
    /// Key and value heads of each layer; one entry serves all.
    pub num_kv_heads: Vec<usize>,
    /// Elements of a head.
    pub head_dim: Option<usize>,
    /// Elements of an MLA latent without its rope part; `None` where the model has no MLA.
    pub kv_lora_rank: Option<usize>,
    /// Elements of the rope part of an MLA latent.
    pub qk_rope_head_dim: Option<usize>,
}

impl Shape {
    pub(crate) fn read(config: &TextConfig<'_>) -> Result<Self, CheckpointError> {
        let layers = config.count(&LAYER_COUNT)?.unwrap_or(0);
        if layers == 0 || layers > MAX_LAYERS {
            return Err(
                config.fail(LAYER_COUNT[0], format!("{layers} layers; allowed are 1 to {MAX_LAYERS}"))
            );
        }
        let num_heads =
            config.count(&["num_attention_heads", "n_head", "n_heads", "num_heads"])?.unwrap_or(1);
        let kv_heads = match config.get("num_key_value_heads").or_else(|| config.get("num_kv_heads")) {
            Some(Value::Array(_)) => {
                let per_layer = config.counts("num_key_value_heads")?.or(config.counts("num_kv_heads")?);
                per_layer.unwrap_or_default()
            }
            _ => vec![kv_head_count(config)?.unwrap_or(num_heads)],
        };
        if kv_heads.len() != 1 && kv_heads.len() != layers {
            return Err(
                config.fail("num_key_value_heads", format!("{} entries for {layers} layers", kv_heads.len()))
            );
        }
        let hidden = config.count(&["hidden_size", "n_embd", "d_model", "dim"])?;
        let kv_lora_rank = config.count(&["kv_lora_rank"])?.filter(|rank| *rank > 0);
        Ok(Self {
            layers,
            num_heads: num_heads.max(1),
            num_kv_heads: kv_heads.into_iter().map(|heads| heads.max(1)).collect(),
            head_dim: config.count(&["head_dim", "head_size"])?.or(hidden.map(|h| h / num_heads.max(1))),
            kv_lora_rank: if config.bool("use_mla")? == Some(false) { None } else { kv_lora_rank },
            qk_rope_head_dim: config.count(&["qk_rope_head_dim"])?,
        })
    }
}

fn kv_head_count(config: &TextConfig<'_>) -> Result<Option<usize>, CheckpointError> {
    if let Some(count) = config.count(&["num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads"])? {
        return Ok(Some(count));
    }
    if let Some(count) =
        config.object("attn_config")?.and_then(|c| c.get("kv_n_heads")).and_then(Value::as_u64)
    {
        return Ok(usize::try_from(count).ok());
    }
    if config.bool("multi_query")? == Some(true) {
        return Ok(Some(config.count(&["multi_query_group_num"])?.unwrap_or(1)));
    }
    Ok(None)
}
