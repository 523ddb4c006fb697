//! Which layers attend to a sliding window, where no list of names says it.

use std::collections::HashSet;

use serde_json::Value;

use super::text::TextConfig;
use crate::checkpoint::{CheckpointError, FindingCode, Findings};

/// Keys of the window's length.
pub(super) const WINDOWS: [&str; 6] = [
    "sliding_window",
    "sliding_window_size",
    "attention_window_size",
    "window_size",
    "sliding_window_length",
    LOCAL_ATTENTION,
];

/// ModernBERT's key counts both sides of a token.
pub(super) const LOCAL_ATTENTION: &str = "local_attention";

/// How sliding layers are spread over a model.
#[derive(Debug)]
pub(super) struct SlidingRule {
    slides: Vec<bool>,
    has_window: bool,
    is_written: bool,
}

impl SlidingRule {
    pub(super) fn read(
        config: &TextConfig<'_>,
        layers: usize,
        findings: &mut Findings,
    ) -> Result<Self, CheckpointError> {
        let is_off = config.bool("use_sliding_window")? == Some(false);
        let window = config.first_of(&WINDOWS).filter(|_| !is_off);
        let has_window = window.is_some_and(|(_, value)| !is_none(value));
        let all = |slides: bool| vec![slides; layers];
        let by_rule = |slides: Vec<bool>| Self { slides, has_window, is_written: true };
        if let Some((_, Value::Array(list))) = window.filter(|_| has_window) {
            return Ok(by_rule(cycle(list, layers, |entry| !is_none(entry))));
        }
        if let Some(local) = config.counts("local_layer_ids")? {
            let local: HashSet<usize> = local.into_iter().collect();
            return Ok(by_rule((0..layers).map(|i| local.contains(&i)).collect()));
        }
        if !has_window {
            return Ok(Self { slides: all(false), has_window, is_written: false });
        }
        let pattern = ["sliding_window_pattern", "_sliding_window_pattern"]
            .iter()
            .find_map(|key| Some((*key, config.written(key)?)));
        if let Some((key, pattern)) = pattern {
            return Ok(match slides_by(pattern, layers) {
                Some(slides) => by_rule(slides),
                None => {
                    let message =
                        format!("{key} is {pattern}, a form that is not known; no layer is taken to slide");
                    findings.warn(FindingCode::WindowUnknown, None, message);
                    by_rule(all(false))
                }
            });
        }
        if let Some(first) = config.count(&["max_window_layers"])?
            && (config.bool("use_sliding_window")? == Some(true)
                || config.written("max_window_layers").is_some())
        {
            // Qwen2-MoE slides on every other layer of the first ones, its relatives on those behind them.
            let is_moe = config.is_one_of(&["qwen2_moe"]);
            let slides = |i: usize| if is_moe { i < first && i.is_multiple_of(2) } else { i >= first };
            return Ok(by_rule((0..layers).map(slides).collect()));
        }
        Ok(Self { slides: all(true), has_window, is_written: false })
    }

    pub(super) fn is_sliding(&self, layer: usize) -> bool {
        self.slides.get(layer).copied().unwrap_or(false)
    }

    /// Whether any layer can slide at all.
    pub(super) const fn has_window(&self) -> bool {
        self.has_window
    }

    /// Whether the config itself says which layers slide.
    pub(super) const fn is_written(&self) -> bool {
        self.is_written
    }
}

/// Null, `false`, 0 and -1 are ways to say that there is no window.
fn is_none(value: &Value) -> bool {
    value.is_null() || *value == Value::Bool(false) || value.as_f64().is_some_and(|window| window <= 0.0)
}

/// A pattern: all but every n-th layer, a word of L (local) and G (global), or a list with 1 for a sliding layer.
fn slides_by(pattern: &Value, layers: usize) -> Option<Vec<bool>> {
    match pattern {
        Value::Number(number) => {
            let n = usize::try_from(number.as_u64()?).ok()?;
            Some((0..layers).map(|i| n > 0 && !(i + 1).is_multiple_of(n)).collect())
        }
        Value::String(word) if !word.is_empty() && word.chars().all(|c| matches!(c, 'L' | 'G')) => {
            let letters: Vec<char> = word.chars().collect();
            Some((0..layers).map(|i| letters[i % letters.len()] == 'L').collect())
        }
        Value::Array(list)
            if !list.is_empty() && list.iter().all(|entry| entry.is_number() || entry.is_boolean()) =>
        {
            Some(cycle(list, layers, |entry| !is_none(entry)))
        }
        _ => None,
    }
}

/// A list over all layers, repeated where it is shorter.
fn cycle(list: &[Value], layers: usize, slides: impl Fn(&Value) -> bool) -> Vec<bool> {
    (0..layers).map(|i| list.get(i % list.len().max(1)).is_some_and(&slides)).collect()
}

/// The tokens of a window: the layer's own, or an entry of a list. `None` where there is none; the value where its form
/// is not known.
pub(super) fn window_tokens(value: &Value, layer: usize) -> Result<Option<usize>, Value> {
    let value = match value {
        Value::Array(list) if !list.is_empty() => &list[layer % list.len()],
        value => value,
    };
    if is_none(value) {
        return Ok(None);
    }
    let tokens = value.as_u64().or_else(|| value.as_f64().filter(|x| x.fract() == 0.0).map(|x| x as u64));
    tokens.and_then(|tokens| usize::try_from(tokens).ok()).map(Some).ok_or_else(|| value.clone())
}
