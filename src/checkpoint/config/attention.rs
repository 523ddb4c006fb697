//! The two kinds of attention, as far as their caches go.

use serde::Serialize;

/// How a layer attends, as far as its cache goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attention {
    /// Keys and values, one or several query heads to a KV head (MHA, GQA, MQA).
    Mha,
    /// One latent for keys and values.
    Mla,
}
