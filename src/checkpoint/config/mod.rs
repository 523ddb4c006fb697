//! What `config.json` says about a model's layers: which keep a KV cache, of which kind, and of what size.
//!
//! What is left out has the default of the configuration's class, from a table that is generated from Hugging Face
//! Transformers; what differs from layer to layer is read for each layer.

mod attention;
mod attention_config;
mod cache_layer;
mod cached_layers;
mod drafts;
mod heads;
mod kind;
mod kinds;
mod layer_count;
mod layer_value;
mod model_type;
mod owners;
mod plan;
mod sizes;
mod sliding_rule;
mod softmax;
mod text;
mod unmodelled;

pub use attention::Attention;
pub use attention_config::AttentionConfig;
pub use cache_layer::CacheLayer;
pub use plan::{LayerPlan, list_layers};
pub(crate) use text::{TextConfig, nested_objects};
