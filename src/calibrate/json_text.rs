//! Changing one key of a JSON file and leaving every other byte as it was.
//!
//! A config is written by another program and read by several: order, number spellings and Python's constants stay.

use std::ops::Range;

use serde_json::Value;

/// Sets a key of the object at `path` (keys from the top level) in a text that is known to be valid JSON. `None` where
/// there is no such object.
pub(super) fn set(text: &str, path: &[&str], key: &str, value: &Value) -> Option<String> {
    let mut object = value_range(text, skip_space(text, 0))?;
    for name in path {
        object = members(text, &object)?.into_iter().find(|member| member.name == *name)?.value;
    }
    let members = members(text, &object)?;
    if let Some(Member { value: old, .. }) = members.iter().find(|member| member.name == key) {
        let indent = members.first().and_then(|first| indent_of(text, first.key)).unwrap_or_default();
        return Some(format!("{}{}{}", &text[..old.start], written(value, indent), &text[old.end..]));
    }
    let key = Value::from(key);
    let (at, member) = match members.as_slice() {
        [] => (object.start + 1, format!("{key}: {}", written(value, ""))),
        [first, ..] => {
            let member = match indent_of(text, first.key) {
                Some(indent) => format!(",\n{indent}{key}: {}", written(value, indent)),
                None => format!(", {key}: {value}"),
            };
            (members.last()?.value.end, member)
        }
    };
    Some(format!("{}{member}{}", &text[..at], &text[at..]))
}

/// A value whose lines after the first are indented as its key is.
fn written(value: &Value, indent: &str) -> String {
    match serde_json::to_string_pretty(value) {
        Ok(pretty) => pretty.replace('\n', &format!("\n{indent}")),
        Err(_) => value.to_string(),
    }
}

/// The white space before a key, where it stands on a line of its own.
fn indent_of(text: &str, key: usize) -> Option<&str> {
    let before = &text[..key];
    let line = before.rfind('\n')? + 1;
    before[line..].bytes().all(|b| matches!(b, b' ' | b'\t')).then(|| &before[line..])
}

/// A member of an object: its name, where its key begins, where its value stands.
struct Member {
    name: String,
    key: usize,
    value: Range<usize>,
}

fn members(text: &str, object: &Range<usize>) -> Option<Vec<Member>> {
    let bytes = text.as_bytes();
    if bytes.get(object.start) != Some(&b'{') {
        return None;
    }
    let mut found = Vec::new();
    let mut at = skip_space(text, object.start + 1);
    while bytes.get(at) == Some(&b'"') {
        let key = value_range(text, at)?;
        let colon = skip_space(text, key.end);
        let value = value_range(text, skip_space(text, colon + 1))?;
        at = skip_space(text, value.end);
        found.push(Member { name: serde_json::from_str(&text[key.clone()]).ok()?, key: key.start, value });
        if bytes.get(at) == Some(&b',') {
            at = skip_space(text, at + 1);
        }
    }
    Some(found)
}

/// Where the value that begins at `start` ends.
fn value_range(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = start;
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth > 0 => {
                at += 1;
                continue;
            }
            // A number, a word or one of Python's constants.
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b':') || b.is_ascii_whitespace();
                let length = bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at);
                at += length;
                if length == 0 {
                    return None;
                }
            }
        }
        if depth == 0 {
            return Some(start..at);
        }
    }
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn skip_space(text: &str, from: usize) -> usize {
    let rest = &text.as_bytes()[from.min(text.len())..];
    from + rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_key_changes() {
        let text = "{\n  \"b\": [0.0, Infinity],\n  \"q\": {\n    \"x\": 1e-06,\n    \"s\": \"a}\\\"{\"\n  },\n  \"a\": NaN\n}\n";
        let expected = text.replace("\"a}\\\"{\"", "\"a}\\\"{\",\n    \"new\": {\n      \"k\": true\n    }");
        assert_eq!(set(text, &["q"], "new", &json!({"k": true})).unwrap(), expected);
        assert_eq!(set(text, &["q"], "x", &json!(2)).unwrap(), text.replace("1e-06", "2"));
        assert_eq!(set(text, &[], "a", &json!("z")).unwrap(), text.replace("NaN", "\"z\""));
        assert_eq!(set(text, &["missing"], "a", &json!(1)), None);
        assert_eq!(set(text, &["b"], "a", &json!(1)), None);
    }

    #[test]
    fn compact_and_empty_objects() {
        assert_eq!(set("{}", &[], "a", &json!(1)).unwrap(), "{\"a\": 1}");
        assert_eq!(
            set("{\"x\":{},\"y\":2}", &["x"], "a", &json!([1])).unwrap(),
            "{\"x\":{\"a\": [\n  1\n]},\"y\":2}"
        );
        assert_eq!(set("{\"y\":2}", &[], "a", &json!({"b": 1})).unwrap(), "{\"y\":2, \"a\": {\"b\":1}}");
        // A key is compared as what it means.
        assert_eq!(set("{\"\\u0061\": 1}", &[], "a", &json!(2)).unwrap(), "{\"\\u0061\": 2}");
    }

    #[test]
    fn text_that_is_no_json_gives_nothing() {
        for text in ["", "{", "{\"a\"", "{\"a\": ", "]", "{\"a\": \"", "{\"a\": \"\\"] {
            assert_eq!(set(text, &["a"], "b", &json!(1)), None, "{text}");
        }
    }
}
