//! Reading JSON strictly: a size cap, no repeated key, bounded nesting; and the constants that Python adds.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::CheckpointError;

/// No JSON file of a checkpoint comes near this: DeepSeek-R1's shard index has 9 MB.
const MAX_JSON_BYTES: u64 = 256 << 20;

/// A JSON file of the model folder.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file's path.
    pub path: std::path::PathBuf,
    /// Its content. `NaN`, `Infinity` and `-Infinity`, which Python writes, are strings of that name.
    pub value: Value,
}

impl Document {
    /// The file's name without its folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Reads a whole regular file. A pipe or a device is refused, because reading one need not end.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let file = open_regular(path)?;
    let bytes = file.metadata().map_err(|e| CheckpointError::io(path, e))?.len();
    if bytes > MAX_JSON_BYTES {
        return Err(CheckpointError::json(
            path,
            format!("{bytes} bytes; JSON is read up to {MAX_JSON_BYTES}"),
        ));
    }
    let mut content = Vec::with_capacity(bytes as usize);
    file.take(MAX_JSON_BYTES).read_to_end(&mut content).map_err(|e| CheckpointError::io(path, e))?;
    Ok(content)
}

/// Opens a path that must be a regular file once links are followed.
pub(crate) fn open_regular(path: &Path) -> Result<File, CheckpointError> {
    let metadata = std::fs::metadata(path).map_err(|e| CheckpointError::io(path, e))?;
    if !metadata.is_file() {
        return Err(CheckpointError::NotAModel {
            path: path.to_owned(),
            reason: "is not a regular file".to_owned(),
        });
    }
    File::open(path).map_err(|e| CheckpointError::io(path, e))
}

/// Reads a JSON file whose top level must be an object.
///
/// # Errors
/// The file cannot be read, is larger than 256 MiB, is not JSON, repeats a key, nests deeper than 128 levels, or its
/// top level is not an object.
pub(crate) fn read_object(path: &Path) -> Result<Document, CheckpointError> {
    let content = read_file(path)?;
    let value = parse(&content).map_err(|reason| CheckpointError::json(path, reason))?;
    if !value.is_object() {
        return Err(CheckpointError::json(path, format!("the top level is {}, not an object", kind(&value))));
    }
    Ok(Document { path: path.to_owned(), value })
}

/// Parses one JSON value. A repeated key anywhere is an error: the reader that comes next might take the other one.
pub(crate) fn parse(content: &[u8]) -> Result<Value, String> {
    let quoted = quote_python_constants(content);
    let content = quoted.as_deref().unwrap_or(content);
    let mut deserializer = serde_json::Deserializer::from_slice(content);
    let value = UniqueKeys.deserialize(&mut deserializer).map_err(|e| format!("invalid JSON: {e}"))?;
    deserializer.end().map_err(|e| format!("invalid JSON: {e}"))?;
    Ok(value)
}

/// What kind of JSON value it is, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Python's `json` writes `NaN`, `Infinity` and `-Infinity` bare (Mamba configs hold `"time_step_limit": [0.0,
/// Infinity]`). They become strings here. `None` where there are none, nearly always.
fn quote_python_constants(content: &[u8]) -> Option<Vec<u8>> {
    const CONSTANTS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    if !content.windows(3).any(|w| w == b"NaN" || w == b"Inf") {
        return None;
    }
    let mut quoted = Vec::with_capacity(content.len() + 16);
    let mut at = 0;
    while at < content.len() {
        let rest = &content[at..];
        if rest[0] == b'"' {
            let end = string_end(rest);
            quoted.extend_from_slice(&rest[..end]);
            at += end;
        } else if let Some(constant) = CONSTANTS.iter().find(|c| rest.starts_with(c)) {
            quoted.push(b'"');
            quoted.extend_from_slice(constant);
            quoted.push(b'"');
            at += constant.len();
        } else {
            quoted.push(rest[0]);
            at += 1;
        }
    }
    Some(quoted)
}

/// The length of the string literal that `text` begins with, both quotes included.
fn string_end(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Builds a [`Value`] and refuses objects that hold a key twice.
struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::from(v))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::from(v))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(Value::from(v))
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::from(v))
    }

    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(Self)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("key `{key}` appears twice")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_constants_become_strings_and_strings_stay() {
        let value = parse(br#"{"a": [0.0, Infinity, -Infinity, NaN], "b": "NaN \" Infinity"}"#).unwrap();
        assert_eq!(value["a"], serde_json::json!([0.0, "Infinity", "-Infinity", "NaN"]));
        assert_eq!(value["b"], "NaN \" Infinity");
    }

    #[test]
    fn a_repeated_key_is_refused_at_any_depth() {
        assert!(parse(br#"{"a": 1, "a": 1}"#).unwrap_err().contains("`a` appears twice"));
        assert!(parse(br#"{"x": [{"k": 1, "k": 2}]}"#).unwrap_err().contains("`k` appears twice"));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes()).unwrap_err().contains("recursion limit"));
    }

    #[test]
    fn an_open_string_does_not_run_past_the_end() {
        assert!(parse(b"{\"NaN\\").is_err());
        assert!(parse(b"NaN\"\\").is_err());
    }
}
