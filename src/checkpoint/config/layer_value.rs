//! A value that may differ from layer to layer, wherever a configuration keeps it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::kind::{Kind, LayerKind};
use super::text::TextConfig;
use crate::checkpoint::CheckpointError;

/// A layer with its configuration: what it says of this layer alone comes before what it says of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerConfig<'c> {
    pub(super) config: &'c TextConfig<'c>,
    pub(super) index: usize,
    pub(super) kind: &'c LayerKind,
    /// How many layers of the same type come before it.
    pub(super) nth_of_type: usize,
    /// What `per_layer_config` says of this layer.
    pub(super) own: Option<&'c Map<String, Value>>,
}

/// `per_layer_config`: an object for each layer that differs, under its number, which may begin with zeros.
pub(super) fn own_configs<'c>(config: &'c TextConfig<'_>) -> HashMap<usize, &'c Map<String, Value>> {
    let all = config.get("per_layer_config").and_then(Value::as_object).into_iter().flatten();
    all.filter_map(|(number, own)| Some((number.parse().ok()?, own.as_object()?))).collect()
}

/// KV heads of the sliding layers of MiMo-V2, where a config leaves `swa_num_key_value_heads` out.
static MIMO_SLIDING_KV_HEADS: LazyLock<Value> = LazyLock::new(|| Value::from(8));

/// A value found, with the key that names it in an error.
type Found<'c> = Option<(String, &'c Value)>;

impl<'c> LayerConfig<'c> {
    /// A count under the first of several keys; zero counts as none.
    pub(super) fn count(&self, keys: &[&str]) -> Result<Option<usize>, CheckpointError> {
        let Some((key, value)) = self.value(keys) else { return Ok(None) };
        if value.is_null() || *value == Value::Bool(false) {
            return Ok(None);
        }
        Ok(Some(self.config.as_count(&key, value)?).filter(|count| *count > 0))
    }

    /// A value under the first of several keys, null included where a layer's own entry is null.
    pub(super) fn value(&self, keys: &[&str]) -> Found<'c> {
        let own = self.own_entry(keys).or_else(|| self.block(keys)).or_else(|| self.per_layer_list(keys));
        let of_kind = || match self.kind.kind {
            Kind::Sliding => self.sliding(keys),
            Kind::Full => self.global(keys),
            _ => None,
        };
        own.or_else(of_kind).or_else(|| self.of_type(keys)).or_else(|| {
            let (key, value) = self.config.first_of(keys)?;
            Some((key.to_owned(), self.entry(value)?))
        })
    }

    /// The layer's entry of a list, or the value that serves all. A list with one entry serves all; one that is too short
    /// says nothing.
    fn entry(&self, value: &'c Value) -> Option<&'c Value> {
        match value {
            Value::Array(list) if list.len() == 1 => list.first(),
            Value::Array(list) => list.get(self.index),
            value => Some(value),
        }
    }

    /// What the config says of this layer alone.
    fn own_entry(&self, keys: &[&str]) -> Found<'c> {
        first_in(self.own?, keys, &format!("per_layer_config.{}", self.index))
    }

    /// What the class changes on layers of this type, where the config says nothing of single layers.
    fn of_type(&self, keys: &[&str]) -> Found<'c> {
        if self.config.written("per_layer_config").is_some() {
            return None;
        }
        let own = self.config.class()?.of_layer_type(&self.kind.name, self.nth_of_type)?;
        first_in(own, keys, &self.kind.name)
    }

    /// `block_configs`: the attention of a pruned model's block.
    fn block(&self, keys: &[&str]) -> Found<'c> {
        let own = self.config.get("block_configs")?.get(self.index)?.get("attention")?.as_object()?;
        first_in(own, keys, &format!("block_configs.{}.attention", self.index))
    }

    /// `num_attention_heads_per_layer` and its like.
    fn per_layer_list(&self, keys: &[&str]) -> Found<'c> {
        keys.iter().find_map(|key| {
            let key = format!("{key}_per_layer");
            let value = self.config.written(&key)?.as_array()?.get(self.index)?;
            Some((key, value))
        })
    }

    /// What layers with a window have of their own.
    fn sliding(&self, keys: &[&str]) -> Found<'c> {
        let prefixed = keys.iter().find_map(|key| {
            let names =
                [format!("swa_{key}"), key.replacen("num_", "num_sliding_", 1), format!("sliding_{key}")];
            names.into_iter().filter(|name| name != key).find_map(|name| {
                let value = self.entry(self.config.get(&name)?)?;
                Some((name, value))
            })
        });
        let found = prefixed.or_else(|| {
            let other = self.config.get("attention_other_setting")?.as_object()?;
            let kind = other.get("attention_type").and_then(Value::as_str).map(LayerKind::named);
            let is_meant = kind.is_none_or(|kind| kind.kind == Kind::Sliding);
            if is_meant { first_in(other, keys, "attention_other_setting") } else { None }
        });
        let is_mimo = keys.contains(&"num_key_value_heads") && self.config.is_one_of(&["mimo_v2_flash"]);
        found.or_else(|| is_mimo.then(|| ("swa_num_key_value_heads".to_owned(), &*MIMO_SLIDING_KV_HEADS)))
    }

    /// What layers with full attention have of their own (Gemma 4, whose KV heads differ only where keys serve as values).
    fn global(&self, keys: &[&str]) -> Found<'c> {
        let keys_are_values = self.config.get("attention_k_eq_v").and_then(Value::as_bool);
        keys.iter().find_map(|key| {
            let name = match *key {
                "head_dim" => "global_head_dim",
                "num_key_value_heads" if keys_are_values != Some(false) => "num_global_key_value_heads",
                _ => return None,
            };
            Some((name.to_owned(), self.entry(self.config.get(name)?)?))
        })
    }
}

fn first_in<'c>(object: &'c Map<String, Value>, keys: &[&str], path: &str) -> Found<'c> {
    keys.iter().find_map(|key| Some((format!("{path}.{key}"), object.get(*key)?)))
}
