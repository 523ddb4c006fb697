//! How many draft (multi-token prediction) layers follow the model's own, and of which kind they are.

use std::collections::HashSet;

use serde_json::Value;

use super::kind::LayerKind;
use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// Keys that count drafts.
const COUNTS: [&str; 4] =
    ["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules"];

/// Families whose drafts engines count by themselves, where the config does not: the first of the weights decides.
const ENGINE_COUNTS: [(&str, usize); 3] = [("qwen3_next", 1), ("mimo_v2", 3), ("mimo", 1)];

/// The drafts of a model.
#[derive(Debug, Clone, Default)]
pub(super) struct Drafts {
    pub(super) count: usize,
    /// The kinds of drafts that slide; others attend fully.
    sliding: Vec<bool>,
}

impl Drafts {
    /// Reads how many drafts there are. `has_weights` says whether the weight files hold any of a draft that follows so many
    /// layers: what a class or an engine counts by itself is there only then.
    pub(super) fn read(
        config: &TextConfig<'_>,
        layers: usize,
        has_weights: &dyn Fn(usize) -> bool,
    ) -> Result<Self, CheckpointError> {
        let nested =
            config.get("mtp_config").or_else(|| config.around("mtp_config")).and_then(Value::as_object);
        let nested_count = nested.and_then(|mtp| mtp.get(COUNTS[0])).and_then(Value::as_u64);
        let around = COUNTS.iter().find_map(|key| config.around(key)?.as_u64());
        let is_written = COUNTS.iter().any(|key| config.written(key).is_some());
        let of_class = config.count(&COUNTS)?;
        let declared = match of_class {
            Some(count) if is_written => Some(count),
            _ => nested_count.or(around).and_then(|count| usize::try_from(count).ok()),
        };
        let of_engine = || {
            let known =
                ENGINE_COUNTS.iter().find(|(family, _)| config.is_family(&[family])).map(|(_, count)| *count);
            of_class.or(known).filter(|_| has_weights(layers)).unwrap_or(0)
        };
        let count = declared.unwrap_or_else(of_engine);
        if count > layers.max(64) {
            return Err(config.fail(COUNTS[0], format!("{count} draft layers")));
        }
        let local = nested.and_then(|mtp| mtp.get("local_layer_ids")).and_then(Value::as_array);
        let local: HashSet<u64> = local.into_iter().flatten().filter_map(Value::as_u64).collect();
        let is_local = |draft: usize| local.contains(&(draft as u64));
        let all_slide = config.is_family(&["mimo_v2"]) && config.get("hybrid_layer_pattern").is_some();
        Ok(Self { count, sliding: (0..count).map(|draft| all_slide || is_local(draft)).collect() })
    }

    /// The kind of a draft.
    pub(super) fn kind(&self, draft: usize) -> LayerKind {
        LayerKind::derived(true, self.sliding.get(draft).copied().unwrap_or(false))
    }
}
