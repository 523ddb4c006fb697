//! The text decoder's part of a configuration: what is written, and what its class fills in.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::layer_count::counts_layers;
use super::model_type::ModelType;
use crate::checkpoint::CheckpointError;
use crate::checkpoint::json::{Document, kind};

/// Keys under which composite models keep their text decoder, and nested again.
const TEXT_KEYS: [&str; 10] = [
    "text_config",
    "llm_config",
    "language_config",
    "thinker_config",
    "llm",
    "transformer_layer_config",
    "decoder",
    "decoder_config",
    "transf_decoder",
    "config_dict",
];

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The config of the text decoder, found at the top level or nested in a composite model's config.
#[derive(Debug, Clone)]
pub(crate) struct TextConfig<'a> {
    document: &'a Document,
    /// The dotted path of the object, empty at the top level.
    path: String,
    object: &'a Map<String, Value>,
    /// The objects around it, innermost first.
    around: Vec<&'a Map<String, Value>>,
    class: Option<ModelType>,
}

/// The objects in which a config may describe the text decoder, outermost first, each with its dotted path.
pub(crate) fn nested_objects(document: &Document) -> Vec<(String, &Map<String, Value>)> {
    let mut found = Vec::new();
    let mut next = document.value.as_object().map(|object| (String::new(), object));
    while let Some((path, object)) = next {
        let named = class_of(object).and_then(|class| class.text_decoder().map(|(key, _)| key.to_owned()));
        let keys = named.as_deref().into_iter().chain(TEXT_KEYS);
        next = keys.filter_map(|key| Some((join(&path, key), object.get(key)?.as_object()?))).next();
        found.push((path, object));
    }
    found
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn class_of(object: &Map<String, Value>) -> Option<ModelType> {
    match object.get("model_type").and_then(Value::as_str) {
        Some(name) => ModelType::find(name),
        None => ModelType::of_architecture(object.get("architectures")?.get(0)?.as_str()?),
    }
}

impl<'a> TextConfig<'a> {
    /// Takes the innermost object that counts layers or whose class does; where a composite model writes no text
    /// decoder at all, its class has one.
    pub(crate) fn find(document: &'a Document) -> Result<Self, CheckpointError> {
        let objects = nested_objects(document);
        let describes = |at: usize| {
            let object = objects[at].1;
            counts_layers(object) || (at > 0 && class_at(&objects, at).is_some())
        };
        let at = (0..objects.len()).rev().find(|at| describes(*at)).unwrap_or(0);
        let (path, object) = objects.get(at).cloned().unwrap_or((String::new(), &*EMPTY));
        let around = objects[..at.min(objects.len())].iter().rev().map(|(_, object)| *object).collect();
        let mut found = Self { document, path, object, around, class: class_at(&objects, at) };
        // One level after another, as far as the parts are left out.
        while let Some(class) = found.class.clone()
            && let Some((key, _)) = class.text_decoder()
            && !found.object.contains_key(key)
        {
            found.class = class.text_class();
            if !class.is_flat() && !counts_layers(found.object) {
                found.path = join(&found.path, key);
                found.around.insert(0, found.object);
                found.object = &EMPTY;
            }
        }
        Ok(found)
    }

    /// Its class.
    pub(crate) fn class(&self) -> Option<&ModelType> {
        self.class.as_ref()
    }

    /// `model_type`: written, or that of its class, or that of an object around it.
    pub(crate) fn model_type(&self) -> Option<&str> {
        let mut objects = self.around.iter();
        let own = || self.object.get("model_type").and_then(Value::as_str);
        let of_class = || self.class.as_ref().map(ModelType::name);
        own().or_else(of_class).or_else(|| objects.find_map(|object| object.get("model_type")?.as_str()))
    }

    /// Whether the model type is one of a family: a name, or a name that goes on behind it.
    pub(crate) fn is_family(&self, families: &[&str]) -> bool {
        self.model_type().is_some_and(|name| families.iter().any(|family| name.starts_with(family)))
    }

    /// Whether it is one of these model types.
    pub(crate) fn is_one_of(&self, names: &[&str]) -> bool {
        self.model_type().is_some_and(|name| names.contains(&name))
    }

    /// What the file itself says, null included, under the key or the name that its class has for it.
    fn entry(&self, key: &str) -> Option<&Value> {
        let alias = || self.class.as_ref().and_then(|class| class.alias(key));
        self.object.get(key).or_else(|| self.object.get(alias()?))
    }

    /// A value that the file itself gives, `None` where it is absent or null.
    pub(crate) fn written(&self, key: &str) -> Option<&Value> {
        self.entry(key).filter(|value| !value.is_null())
    }

    /// A value, or the default of its class; `None` where it is null, or absent without a default.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.first_of(&[key]).map(|(_, value)| value)
    }

    /// The first of several keys that is written, else the first that has a default. A key that is null takes away the
    /// default.
    pub(crate) fn first_of<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &Value)> {
        let written = keys.iter().find_map(|key| Some((*key, self.written(key)?)));
        if written.is_some() || keys.iter().any(|key| self.entry(key).is_some()) {
            return written;
        }
        let class = self.class.as_ref()?;
        keys.iter().find_map(|key| Some((*key, class.default(key)?)))
    }

    /// A value of the objects around this one.
    pub(crate) fn around(&self, key: &str) -> Option<&Value> {
        self.around.iter().find_map(|object| object.get(key).filter(|value| !value.is_null()))
    }

    /// A name that decides nothing by its type: another type is taken for absent.
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// A string.
    pub(crate) fn string(&self, key: &str) -> Result<Option<&str>, CheckpointError> {
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
    pub(crate) fn object(&self, key: &str) -> Result<Option<&Map<String, Value>>, CheckpointError> {
        self.typed(key, "an object", Value::as_object)
    }

    /// A list of objects.
    pub(crate) fn objects(&self, key: &str) -> Result<Option<Vec<&Map<String, Value>>>, CheckpointError> {
        self.list(key, "a list of objects", Value::as_object)
    }

    fn typed<'s, T>(
        &'s self,
        key: &str,
        wanted: &str,
        read: impl Fn(&'s Value) -> Option<T>,
    ) -> Result<Option<T>, CheckpointError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(self.fail(key, format!("{} where {wanted} is needed", kind(value)))),
        }
    }

    /// A count, under the first of several keys that is there.
    pub(crate) fn count(&self, keys: &[&str]) -> Result<Option<usize>, CheckpointError> {
        self.first_of(keys).map(|(key, value)| self.as_count(key, value)).transpose()
    }

    /// A value as a count.
    pub(crate) fn as_count(&self, key: &str, value: &Value) -> Result<usize, CheckpointError> {
        let count = value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= u32::MAX as usize);
        count.ok_or_else(|| self.fail(key, format!("{value} is not a count")))
    }

    /// A value as a positive number. Zero, `false` and null are ways to say none.
    pub(crate) fn as_positive(&self, key: &str, value: &Value) -> Result<Option<f64>, CheckpointError> {
        if matches!(value, Value::Bool(false) | Value::Null) {
            return Ok(None);
        }
        match value.as_f64().filter(|x| x.is_finite() && *x >= 0.0) {
            Some(x) => Ok((x > 0.0).then_some(x)),
            None => Err(self.fail(key, format!("{value} is not a positive number"))),
        }
    }

    /// A list of strings.
    pub(crate) fn strings(&self, key: &str) -> Result<Option<Vec<&str>>, CheckpointError> {
        self.list(key, "a list of strings", Value::as_str)
    }

    /// A list of layer numbers or counts.
    pub(crate) fn counts(&self, key: &str) -> Result<Option<Vec<usize>>, CheckpointError> {
        self.list(key, "a list of whole numbers", |v| v.as_u64().and_then(|n| usize::try_from(n).ok()))
    }

    fn list<'s, T>(
        &'s self,
        key: &str,
        wanted: &str,
        read: impl Fn(&'s Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>, CheckpointError> {
        self.typed(key, wanted, |value| value.as_array()?.iter().map(&read).collect())
    }

    /// An error that names this config's file and the key's full path.
    pub(crate) fn fail(&self, key: &str, reason: impl Into<String>) -> CheckpointError {
        CheckpointError::key(&self.document.path, join(&self.path, key), reason)
    }
}

/// The class of an object: by its own name, else by what the class around it says of its text decoder.
fn class_at(objects: &[(String, &Map<String, Value>)], at: usize) -> Option<ModelType> {
    let object = objects.get(at)?.1;
    let own = class_of(object);
    if own.is_some() || object.contains_key("model_type") || at == 0 {
        return own;
    }
    class_at(objects, at - 1)?.text_class()
}
