//! Rewriting a checkpoint for another FP8 range, so that a device loads it as it is.
//!
//! [`convert`] re-ranges FP8 weights, compensates their scales and those of the KV cache, writes the label of the new
//! range, and carries everything else over byte for byte. The result appears under its name when it is complete and
//! not before. `docs/convert.md` states the rules for each format, what the two factors cost, and what survives what.
//!
//! An engine that adjusts weights while it loads them needs no file: [`Rerange`](crate::fp8::Rerange) rewrites a slice.

mod error;
mod factor;
mod kv_scale;
mod names;
mod plan;
mod progress_record;
mod report;
mod run;
mod scale_cast;
mod shard;
mod sidecar;
mod tensor_edit;
mod work_share;

pub use error::ConvertError;
pub use factor::Factor;
pub use report::{Conversion, FileCounts, Outcome, WeightCounts};
pub use run::{Event, convert};
pub use work_share::WorkShare;

use crate::Generation;

/// What to convert to, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConvertOptions {
    /// The device whose FP8 range the result has: 240 for Gaudi2, 448 for Gaudi3.
    pub to: Generation,
    /// What weights are multiplied by.
    pub factor: Factor,
    /// Replace what is there under the destination's name, even the source itself.
    pub force: bool,
    /// Flush every file to disk before the result appears.
    pub sync: bool,
    /// The share of this process where several share the work; `None` for all of it.
    pub part: Option<WorkShare>,
}

impl ConvertOptions {
    /// Everything at its default, for a device.
    #[must_use]
    pub fn new(to: Generation) -> Self {
        Self { to, factor: Factor::default(), force: false, sync: false, part: None }
    }
}
