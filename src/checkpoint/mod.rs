//! What a model folder says: configs, safetensors headers, and tensor names as raw KV scales.
//!
//! Nothing here knows a device. What a scale becomes on one is decided in [`scales`](crate::scales).

mod config;
mod error;
mod findings;
mod folder;
mod header;
mod json;
mod kv_scheme;
mod mapped_file;
mod names;
mod places;
mod quant_config;
mod quark_scheme;
mod scale_name;
mod scale_tensor;
mod shards;
mod sidecar;
mod transforms;

pub use config::{Attention, AttentionConfig, CacheLayer, LayerPlan, list_layers};
pub use error::CheckpointError;
pub use findings::{Finding, FindingCode, Findings};
pub use folder::ModelFolder;
pub use header::TensorEntry;
pub(crate) use json::{read_file, read_object};
pub use kv_scheme::{KvScheme, Strategy};
pub(crate) use names::attention_tensor;
pub use names::classify;
pub(crate) use quant_config::{ConfigPlace, FLAVOR_KEY, whole_fp8_max};
pub use quant_config::{Flavor, QuantConfig};
pub(crate) use scale_name::list_names;
pub use scale_name::{LayerIndex, NameClass, NameFormat, Refusal, Role, ScaleName};
pub(crate) use scale_tensor::{is_all_zero, narrow, read_floats, read_scale, relative_precision};
pub use shards::Shard;
pub(crate) use shards::{find_index, list_files};
pub(crate) use sidecar::read_inc_measurements;
pub use sidecar::{SidecarNumber, SidecarScale, TensorParallel};
