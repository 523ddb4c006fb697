//! How many layers the text decoder has.

use serde_json::{Map, Value};

use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// No model comes near this many layers; a larger number is a damaged config.
const MAX_LAYERS: usize = 100_000;

/// Keys that count the layers. An encoder-decoder counts those of its decoder under names of their own, which come first.
const COUNTS: [&str; 6] =
    ["decoder_layers", "num_decoder_layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers"];

/// Lists with an entry for each layer.
const LISTS: [&str; 5] =
    ["layer_types", "layers_block_type", "hybrid_layer_pattern", "block_configs", "attn_type_list"];

/// A word with a letter for each layer.
const PATTERN: &str = "hybrid_override_pattern";

/// Whether an object says how many layers there are.
pub(super) fn counts_layers(object: &Map<String, Value>) -> bool {
    let keys = COUNTS.iter().chain(&LISTS).chain([&PATTERN]);
    keys.into_iter().any(|key| object.get(*key).is_some_and(|value| !value.is_null()))
}

/// The number of layers: written, the length of a list that is written, or the default of the class. `None` for a class
/// that is known and has no layers of text.
pub(super) fn count_layers(config: &TextConfig<'_>) -> Result<Option<usize>, CheckpointError> {
    let written = COUNTS.iter().find(|key| config.written(key).is_some());
    let layers = match written {
        Some(key) => config.count(&[key])?,
        None => match listed(config) {
            Some(listed) => Some(listed),
            None => {
                config.count(&COUNTS)?.or_else(|| pattern(config)).or_else(|| config.class()?.listed_layers())
            }
        },
    };
    let Some(layers) = layers else {
        if config.class().is_some_and(|class| COUNTS.iter().all(|key| class.default(key).is_none())) {
            return Ok(None);
        }
        let others = COUNTS.iter().chain(&LISTS).filter(|key| **key != "num_hidden_layers");
        let others: Vec<&str> = others.copied().collect();
        return Err(config.fail("num_hidden_layers", format!("is missing, and so are {}", others.join(", "))));
    };
    if layers == 0 || layers > MAX_LAYERS {
        let key = written.copied().unwrap_or("num_hidden_layers");
        return Err(config.fail(key, format!("{layers} layers; allowed are 1 to {MAX_LAYERS}")));
    }
    Ok(Some(layers))
}

fn listed(config: &TextConfig<'_>) -> Option<usize> {
    let of_list = LISTS.iter().find_map(|key| Some(config.written(key)?.as_array()?.len()));
    of_list.or_else(|| pattern(config).filter(|_| config.written(PATTERN).is_some()))
}

fn pattern(config: &TextConfig<'_>) -> Option<usize> {
    Some(config.get(PATTERN)?.as_str()?.chars().count())
}
