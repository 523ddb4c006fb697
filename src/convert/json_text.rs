//! Editing JSON as text, so that everything but the edit stays as it was written.
//!
//! The text must have been parsed before: what is here only finds places in valid JSON, bare `NaN` and `Infinity`
//! included, and stops looking where the text is something else.

use std::ops::Range;

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    key_at: Range<usize>,
    /// Where its value stands.
    pub(super) value: Range<usize>,
}

/// The members of the object that begins at `at`, in their order; `None` where there is no object.
pub(super) fn members(text: &[u8], at: usize) -> Option<Vec<Member>> {
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
pub(super) fn items(text: &[u8], at: usize) -> Option<Vec<Range<usize>>> {
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
pub(super) fn find<'k>(text: &[u8], path: impl IntoIterator<Item = &'k str>) -> Option<Range<usize>> {
    let start = skip_space(text, 0);
    let top = start..value_end(text, start)?;
    path.into_iter().try_fold(top, |place, key| {
        let member = members(text, place.start)?.into_iter().find(|member| member.key == key)?;
        Some(member.value)
    })
}

/// The text with `key` of the object at `object` set to `value`, which is JSON. A new key comes last, written as the
/// first one is.
pub(super) fn set(text: &[u8], object: usize, key: &str, value: &str) -> Option<Vec<u8>> {
    let members = members(text, object)?;
    if let Some(member) = members.iter().find(|member| member.key == key) {
        return Some(replace(text, &[(member.value.clone(), value.to_owned())]));
    }
    let key = serde_json::Value::from(key);
    let edit = match (members.first(), members.last()) {
        (Some(first), Some(last)) => {
            let before = String::from_utf8_lossy(&text[object + 1..first.key_at.start]);
            let between = String::from_utf8_lossy(&text[first.key_at.end..first.value.start]);
            (last.value.end..last.value.end, format!(",{before}{key}{between}{value}"))
        }
        _ => (object + 1..object + 1, format!("{key}: {value}")),
    };
    Some(replace(text, &[edit]))
}

/// The text with each range replaced; the ranges are in order and do not overlap.
pub(super) fn replace(text: &[u8], edits: &[(Range<usize>, String)]) -> Vec<u8> {
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
    use super::*;

    fn set_text(text: &str, path: &[&str], key: &str, value: &str) -> String {
        let place = find(text.as_bytes(), path.iter().copied()).unwrap();
        String::from_utf8(set(text.as_bytes(), place.start, key, value).unwrap()).unwrap()
    }

    #[test]
    fn a_new_key_is_written_as_the_others_are() {
        let text =
            "{\n  \"a\": 1,\n  \"q\": {\n    \"x\": [1, {\"y\": \"}\\\"\"}],\n    \"z\": NaN\n  }\n}\n";
        assert_eq!(
            set_text(text, &["q"], "f", "\"v\""),
            "{\n  \"a\": 1,\n  \"q\": {\n    \"x\": [1, {\"y\": \"}\\\"\"}],\n    \"z\": NaN,\n    \"f\": \"v\"\n  }\n}\n"
        );
        assert_eq!(set_text("{\"a\":{\"b\":-1e5}}", &["a"], "f", "2"), "{\"a\":{\"b\":-1e5,\"f\":2}}");
        assert_eq!(set_text("{}", &[], "f", "2"), "{\"f\": 2}");
    }

    #[test]
    fn an_old_key_keeps_its_place() {
        assert_eq!(set_text("{\"f\" : [1,2] ,\"b\":3}", &[], "f", "2"), "{\"f\" : 2 ,\"b\":3}");
        assert_eq!(set_text("{\"\\u0066\": null}", &[], "f", "2"), "{\"\\u0066\": 2}");
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
                let _ = find(&damaged, ["d"]).map(|range| set(&damaged, range.start, "x", "1"));
                let _ = items(&damaged, length);
            }
        }
    }
}
