//! KV scales in JSON files beside the weights.

use std::ops::Range;

use super::json_text::{find, items, members};

/// The numbers to replace in a table of KV scales, in the shapes that
/// [`ModelFolder`](crate::checkpoint::ModelFolder) reads.
pub(super) fn edits(text: &[u8], rescale: impl Fn(f64) -> f32) -> Vec<(Range<usize>, String)> {
    numbers(text)
        .into_iter()
        .filter_map(|range| {
            let number: f64 = std::str::from_utf8(&text[range.clone()]).ok()?.parse().ok()?;
            // Shortest digits that give the same float32 back.
            number.is_finite().then(|| (range, format!("{:?}", rescale(number))))
        })
        .collect()
}

/// Where the scales stand.
fn numbers(text: &[u8]) -> Vec<Range<usize>> {
    let values = |place: Range<usize>| -> Vec<Range<usize>> {
        members(text, place.start).unwrap_or_default().into_iter().map(|member| member.value).collect()
    };
    if find(text, ["scales"]).is_some() {
        let mut lists: Vec<_> =
            ["k_scales", "v_scales"].iter().filter_map(|key| find(text, ["scales", *key])).collect();
        lists.sort_by_key(|list| list.start);
        return lists.into_iter().flat_map(|list| items(text, list.start).unwrap_or_default()).collect();
    }
    let wrapped = find(text, ["kv_cache"]).filter(|place| text.get(place.start) == Some(&b'{'));
    let table = match wrapped {
        Some(_) => find(text, ["kv_cache", "scaling_factor"]),
        None => find(text, ["scaling_factor"]),
    };
    let ranks = table.map(values).unwrap_or_default();
    let layers = ranks.into_iter().flat_map(values);
    layers.flat_map(|value| items(text, value.start).unwrap_or_else(|| vec![value])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::json_text::replace;
    use super::*;

    fn doubled(text: &str) -> String {
        let edits = edits(text.as_bytes(), |x| (x * 2.0) as f32);
        String::from_utf8(replace(text.as_bytes(), &edits)).unwrap()
    }

    #[test]
    fn every_shape_is_found_and_nothing_else() {
        assert_eq!(
            doubled(
                r#"{"kv_cache": {"dtype": "fp8", "scaling_factor": {"0": {"0": 0.1, "1": [1, 2e-3]}}}, "n": 5}"#
            ),
            r#"{"kv_cache": {"dtype": "fp8", "scaling_factor": {"0": {"0": 0.2, "1": [2.0, 0.004]}}}, "n": 5}"#
        );
        assert_eq!(
            doubled(r#"{"scaling_factor":{"0":{"3":0.04}}}"#),
            r#"{"scaling_factor":{"0":{"3":0.08}}}"#
        );
        assert_eq!(
            doubled(r#"{"scales": {"v_scales": [null, 0.5], "k_scales": [1.5], "other": [1]}}"#),
            r#"{"scales": {"v_scales": [null, 1.0], "k_scales": [3.0], "other": [1]}}"#
        );
    }
}
