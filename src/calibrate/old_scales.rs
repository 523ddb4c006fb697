//! The KV scales that a model has before it is calibrated.

use std::collections::BTreeSet;

use super::CalibrateError;
use crate::checkpoint::{KvScheme, ModelFolder, NameClass, classify};

/// What must not stand beside new scales: two sources of one scale contradict each other, and a scale of a query or of
/// probabilities was made for the old range.
#[derive(Debug)]
pub(super) struct OldScales {
    /// KV scales and zero points.
    pub(super) tensors: BTreeSet<String>,
    /// Scale files.
    pub(super) sidecars: Vec<String>,
}

impl OldScales {
    /// Finds them; they are an error unless they are to be replaced.
    pub(super) fn find(folder: &ModelFolder, replace: bool) -> Result<Self, CalibrateError> {
        let names = folder.shards().iter().flat_map(|shard| shard.tensors()).map(|tensor| &tensor.name);
        let is_old = |name: &&String| matches!(classify(name), NameClass::Scale(_) | NameClass::ZeroPoint(_));
        let old = Self { tensors: names.filter(is_old).cloned().collect(), sidecars: folder.sidecar_names() };
        if replace {
            return Ok(old);
        }
        let source = folder.quant_config().source.as_deref().unwrap_or("the config");
        let reason = match (old.tensors.first(), old.sidecars.first(), &folder.quant_config().kv_scheme) {
            (Some(first), ..) => {
                format!(
                    "the model has {} KV scales and zero points already, such as {first}",
                    old.tensors.len()
                )
            }
            (None, Some(first), _) => format!("the model has KV scales already, in {first}"),
            (None, None, KvScheme::Unsupported(name)) => format!("{source} declares a KV cache of {name}"),
            (None, None, KvScheme::None | KvScheme::Fp8(_)) => return Ok(old),
        };
        Err(CalibrateError::OldScales { reason })
    }
}
