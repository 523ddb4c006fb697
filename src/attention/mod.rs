//! Prefill and decode over the caches: which product is FP8, which is bfloat16, and with which scales.
//!
//! | | query | keys | values |
//! | --- | --- | --- | --- |
//! | MHA prefill, new tokens | bf16 | bf16, as computed | bf16, as computed |
//! | MHA prefill, cached context | bf16 | read from the cache | read from the cache |
//! | MHA decode | FP8 | codes of the cache | codes of the cache |
//! | MLA prefill, expanded | bf16 | bf16 | bf16 |
//! | MLA decode, absorbed | FP8 | codes of the latent | codes of the latent |
//!
//! A cache that is not FP8 uses bfloat16 everywhere. Softmax runs in float32 over scores that are multiplied by the
//! softmax scale after the product; probabilities are not normalized before the second product, whose result is divided
//! by their sum.

mod batch;
mod decode_batch;
mod error;
mod mha;
mod mla;
mod options;
mod scales;

pub use batch::Batch;
pub use decode_batch::DecodeBatch;
pub use error::AttentionError;
pub use mha::MhaAttention;
pub use mla::{MlaAttention, MlaWorkspace};
pub use options::AttentionOptions;
pub use scales::AttentionScales;

pub use crate::device::{MhaShape, MlaShape};
