//! The scales that a calibration chose, in the shape of their JSON.

use serde::{Serialize, Serializer};

use super::method::{Choices, Settings};
use super::range::Range;
use crate::Generation;
use crate::checkpoint::{Attention, Strategy};
use crate::scales::generation_name;

/// The scales of a model, and what each choice would have done.
#[derive(Debug, Clone, Serialize)]
pub struct Calibration {
    /// The device.
    #[serde(serialize_with = "generation_name")]
    pub device: Generation,
    /// The range and its flavor.
    #[serde(flatten)]
    pub range: Range,
    /// `tensor` or `attn_head`.
    #[serde(serialize_with = "strategy_name")]
    pub strategy: Strategy,
    /// How scales were chosen.
    #[serde(flatten)]
    pub settings: Settings,
    /// The layers that own a cache.
    pub layers: Vec<LayerCalibration>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

fn strategy_name<S: Serializer>(strategy: &Strategy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(strategy.name())
}

/// The scales of one layer.
#[derive(Debug, Clone, Serialize)]
pub struct LayerCalibration {
    /// The layer's number.
    pub layer: usize,
    /// The kind of its cache.
    pub attention: Attention,
    /// Its attention module, under which the scales are written.
    pub module: String,
    /// Tokens measured; `None` for INC measurements.
    pub tokens: Option<u64>,
    /// Key and value, of all heads or of each in turn; one for a latent.
    pub scales: Vec<ScaleCalibration>,
}

/// One scale.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleCalibration {
    /// `k` or `v`.
    pub role: &'static str,
    /// The KV head; `None` for all of them.
    pub head: Option<usize>,
    /// Values measured; `None` for INC measurements.
    pub elements: Option<u64>,
    /// Their largest magnitude.
    pub amax: f32,
    /// The scale that is written.
    pub scale: f32,
    /// What each method comes to.
    pub choices: Choices,
}
