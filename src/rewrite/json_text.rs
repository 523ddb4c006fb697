//! Editing JSON as text, so that everything but the edit stays as it was written.
//!
//! The text must have been parsed before: what is here only finds places in valid JSON, bare `NaN` and `Infinity`
//! included, and stops looking where the text is something else.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) key: String,
    key_at: Range<usize>,
    /// Where its value stands.
    pub(crate) value: Range<usize>,
}

/// The members of the object that begins at `at`, in their order; `None` where there is no object.
pub(crate) fn members(text: &[u8], at: usize) -> Option<Vec<Member>> {
    let mut at = after(text, at, b'{')?;
    let mut found = Vec::new();
    while text.get(at) == Some(&b'"') {
        let key_at = at..value_end(text, at)?;
        let value_at = after(text, skip_space(text, key_at.end), b':')?;
        let value = value_at..value_end(text, value_at)?;
        at = skip_space(text, value.end);
        found.push(Member { key: serde_json::from_slice(&text[key_at.clone()]).ok()?, key_at, value });
        at = after(text, at, b',').unwrap_or(at);
    }
    (text.get(at) == Some(&b'}')).then_some(found)
}

/// Where the items of the list that begins at `at` stand; `None` where there is no list.
pub(crate) fn items(text: &[u8], at: usize) -> Option<Vec<Range<usize>>> {
    let mut at = after(text, at, b'[')?;
    let mut found = Vec::new();
    while text.get(at).is_some_and(|byte| *byte != b']') {
        let item = at..value_end(text, at)?;
        at = skip_space(text, item.end);
        found.push(item);
        at = after(text, at, b',').unwrap_or(at);
    }
    (text.get(at) == Some(&b']')).then_some(found)
}

/// Where the value under a path of keys stands, from the top level.
pub(crate) fn find<'k>(text: &[u8], path: impl IntoIterator<Item = &'k str>) -> Option<Range<usize>> {
    let start = skip_space(text, 0);
    let top = start..value_end(text, start)?;
    path.into_iter().try_fold(top, |place, key| {
        let member = members(text, place.start)?.into_iter().find(|member| member.key == key)?;
        Some(member.value)
    })
}

/// The text with `key` of the object at `object` set to `value`.
pub(crate) fn set(text: &[u8], object: usize, key: &str, value: &Value) -> Option<Vec<u8>> {
    update(text, object, |_| false, &[(key, value)])
}

/// The text with members of the object at `object` taken out where `is_dropped` says so, and others set, whatever it says
/// of them. An old key keeps its place; a new one comes last, written as the first one is.
pub(crate) fn update(
    text: &[u8],
    object: usize,
    is_dropped: impl Fn(&str) -> bool,
    set: &[(&str, &Value)],
) -> Option<Vec<u8>> {
    let members = members(text, object)?;
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        let new: Vec<String> =
            set.iter().map(|(key, value)| format!("{}: {value}", Value::from(*key))).collect();
        return Some(replace(text, &[(object + 1..object + 1, new.join(", "))]));
    };
    let before_first = String::from_utf8_lossy(&text[object + 1..first.key_at.start]).into_owned();
    let between = String::from_utf8_lossy(&text[first.key_at.end..first.value.start]);
    let new_values: HashMap<&str, &Value> = set.iter().copied().collect();
    let mut new = text[..=object].to_vec();
    let begin = |new: &mut Vec<u8>, is_first: &mut bool| {
        if !std::mem::replace(is_first, false) {
            new.push(b',');
        }
    };
    let (mut is_first, mut at) = (true, object + 1);
    for member in &members {
        let from = std::mem::replace(&mut at, member.value.end);
        let new_value = new_values.get(member.key.as_str());
        if new_value.is_none() && is_dropped(&member.key) {
            continue;
        }
        // The comma before it, and the space on both sides of the comma, come with a member.
        let space = &text[from..member.key_at.start];
        let comma = space.iter().position(|byte| *byte == b',');
        if !is_first {
            new.extend_from_slice(&space[..comma.unwrap_or(0)]);
        }
        begin(&mut new, &mut is_first);
        new.extend_from_slice(&space[comma.map_or(0, |at| at + 1)..]);
        match new_value {
            Some(value) => {
                new.extend_from_slice(&text[member.key_at.start..member.value.start]);
                new.extend_from_slice(written(value, &before_first).as_bytes());
            }
            None => new.extend_from_slice(&text[member.key_at.start..member.value.end]),
        }
    }
    let old: HashSet<&str> = members.iter().map(|member| member.key.as_str()).collect();
    for (key, value) in set.iter().filter(|(key, _)| !old.contains(key)) {
        begin(&mut new, &mut is_first);
        let (key, value) = (Value::from(*key), written(value, &before_first));
        new.extend_from_slice(format!("{before_first}{key}{between}{value}").as_bytes());
    }
    new.extend_from_slice(&text[last.value.end..]);
    Some(new)
}

/// A value in the manner of a member before which `space` stands: on one line, or with lines indented as the key is.
fn written(value: &Value, space: &str) -> String {
    match (space.rsplit_once('\n'), serde_json::to_string_pretty(value)) {
        (Some((_, indent)), Ok(pretty)) => pretty.replace('\n', &format!("\n{indent}")),
        _ => value.to_string(),
    }
}

/// The text with each range replaced; the ranges are in order and do not overlap.
pub(crate) fn replace(text: &[u8], edits: &[(Range<usize>, String)]) -> Vec<u8> {
    let mut new = Vec::with_capacity(text.len() + 64);
    let mut at = 0;
    for (range, value) in edits {
        new.extend_from_slice(&text[at..range.start]);
        new.extend_from_slice(value.as_bytes());
        at = range.end;
    }
    new.extend_from_slice(&text[at..]);
    new
}

/// Behind the byte at `at`, which must be `byte`, and the space that follows.
fn after(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (text.get(at) == Some(&byte)).then(|| skip_space(text, at + 1))
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Where the value that begins at `at` ends.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = at;
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' => at += 1,
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => at = token_end(text, at),
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// A number, `true`, `NaN`: whatever ends where something else begins.
fn token_end(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:{}[]\"".contains(byte);
    at + rest.iter().position(ends).unwrap_or(rest.len()).max(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set_text(text: &str, path: &[&str], key: &str, value: impl Into<Value>) -> String {
        let place = find(text.as_bytes(), path.iter().copied()).unwrap();
        String::from_utf8(set(text.as_bytes(), place.start, key, &value.into()).unwrap()).unwrap()
    }

    #[test]
    fn a_new_key_is_written_as_the_others_are() {
        let text =
            "{\n  \"a\": 1,\n  \"q\": {\n    \"x\": [1, {\"y\": \"}\\\"\"}],\n    \"z\": NaN\n  }\n}\n";
        assert_eq!(
            set_text(text, &["q"], "f", "v"),
            "{\n  \"a\": 1,\n  \"q\": {\n    \"x\": [1, {\"y\": \"}\\\"\"}],\n    \"z\": NaN,\n    \"f\": \"v\"\n  }\n}\n"
        );
        assert_eq!(set_text("{\"a\":{\"b\":-1e5}}", &["a"], "f", 2), "{\"a\":{\"b\":-1e5,\"f\":2}}");
        assert_eq!(set_text("{}", &[], "f", 2), "{\"f\": 2}");
    }

    #[test]
    fn an_old_key_keeps_its_place() {
        assert_eq!(set_text("{\"f\" : [1,2] ,\"b\":3}", &[], "f", 2), "{\"f\" : 2 ,\"b\":3}");
        assert_eq!(set_text("{\"\\u0066\": null}", &[], "f", 2), "{\"\\u0066\": 2}");
    }

    #[test]
    fn a_value_of_several_lines_is_indented_as_its_key_is() {
        let text = "{\n  \"q\": {\n    \"x\": 1e-06\n  }\n}";
        let expected = "{\n  \"q\": {\n    \"x\": 1e-06,\n    \"new\": {\n      \"k\": true\n    }\n  }\n}";
        assert_eq!(set_text(text, &["q"], "new", json!({"k": true})), expected);
        assert_eq!(set_text("{\"y\":2}", &[], "a", json!({"b": [1, 2]})), "{\"y\":2,\"a\":{\"b\":[1,2]}}");
    }

    #[test]
    fn members_are_taken_out_and_added() {
        let updated = |text: &str, dropped: &[&str]| {
            let new = update(
                text.as_bytes(),
                0,
                |key| dropped.contains(&key),
                &[("n", &json!("N")), ("c", &json!(3))],
            );
            String::from_utf8(new.unwrap()).unwrap()
        };
        let text = "{\n \"a\": 1,\n \"b\": 2,\n \"c\": NaN\n}";
        assert_eq!(updated(text, &[]), "{\n \"a\": 1,\n \"b\": 2,\n \"c\": 3,\n \"n\": \"N\"\n}");
        assert_eq!(updated(text, &["a"]), "{\n \"b\": 2,\n \"c\": 3,\n \"n\": \"N\"\n}");
        assert_eq!(updated(text, &["a", "b"]), "{\n \"c\": 3,\n \"n\": \"N\"\n}");
        assert_eq!(updated(text, &["c"]), updated(text, &[]));
        assert_eq!(updated(text, &["b"]), "{\n \"a\": 1,\n \"c\": 3,\n \"n\": \"N\"\n}");
        assert_eq!(updated("{\"a\":1 , \"b\":2}", &["a", "b"]), "{\"n\":\"N\",\"c\":3}");
        assert_eq!(updated("{}", &[]), "{\"n\": \"N\", \"c\": 3}");
    }

    #[test]
    fn items_are_found() {
        let text = b"[1 , [2,3], \"a]\",-Infinity]";
        let found: Vec<&[u8]> = items(text, 0).unwrap().into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [&b"1"[..], b"[2,3]", b"\"a]\"", b"-Infinity"]);
        assert_eq!(items(b"[ ]", 0), Some(vec![]));
    }

    /// Every prefix of a text and every byte changed to every other structural one: no panic, no endless loop.
    #[test]
    fn what_is_not_json_is_not_found() {
        let text = b"{\"a\": [1, {\"b\": \"c\\\"\"}], \"d\": {}}";
        for length in 0..text.len() {
            assert_eq!(find(&text[..length], ["d"]), None);
            for byte in b"{}[],:\"\\ 1" {
                let mut damaged = text.to_vec();
                damaged[length] = *byte;
                let _ = find(&damaged, ["d"]).map(|range| set(&damaged, range.start, "x", &json!({"y": 1})));
                let _ = items(&damaged, length);
            }
        }
    }
}
