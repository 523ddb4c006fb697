//! What a conversion did.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::Factor;
use crate::Generation;
use crate::checkpoint::{Finding, Flavor};
use crate::fp8::{CodeScan, RerangeCounts};
use crate::scales::generation_name;

/// How a conversion ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result is there.
    Converted,
    /// The source serves as it is; nothing was written.
    NothingToDo,
    /// This share of the work is done, and others are not.
    PartDone,
}

/// What became of the FP8 weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WeightCounts {
    /// FP8 tensors that were re-ranged.
    pub tensors: u64,
    /// Their codes.
    pub codes: u64,
    /// Codes whose value is exactly the old one times the factor.
    pub exact: u64,
    /// Codes that stand for the nearest value, which is another one and not zero.
    pub rounded: u64,
    /// Codes that became zero and were not.
    pub flushed: u64,
    /// Codes whose product lies beyond the new range.
    pub saturated: u64,
    /// Codes of the source that a Gaudi2 cannot read: above `0x77`, sign ignored.
    pub above_0x77: u64,
    /// Codes of the source that are NaN.
    pub nan: u64,
}

impl WeightCounts {
    pub(super) fn of(scan: CodeScan, counts: RerangeCounts) -> Self {
        let RerangeCounts { exact, rounded, flushed, saturated, nan } = counts;
        Self {
            tensors: 0,
            codes: exact + rounded + flushed + saturated + nan,
            exact,
            rounded,
            flushed,
            saturated,
            above_0x77: scan.above_gaudi2_max,
            nan,
        }
    }
}

impl AddAssign for WeightCounts {
    fn add_assign(&mut self, other: Self) {
        self.tensors += other.tensors;
        self.codes += other.codes;
        self.exact += other.exact;
        self.rounded += other.rounded;
        self.flushed += other.flushed;
        self.saturated += other.saturated;
        self.above_0x77 += other.above_0x77;
        self.nan += other.nan;
    }
}

/// What became of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FileCounts {
    /// Weight files with tensors that changed.
    pub converted: u64,
    /// JSON files with values that changed.
    pub edited: u64,
    /// Files carried over byte for byte.
    pub copied: u64,
    /// Links carried over.
    pub links: u64,
    /// Converted and copied files that an earlier run had finished.
    pub picked_up: u64,
}

/// A conversion, done or not needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conversion {
    /// How it ended.
    pub outcome: Outcome,
    /// Why there was nothing to do, or who has still to do what.
    pub reason: Option<String>,
    /// The device that the result is for.
    #[serde(serialize_with = "generation_name")]
    pub to: Generation,
    /// The factor of the weights by name.
    pub factor: Factor,
    /// What weights were multiplied by; `None` where none were.
    pub weight_factor: Option<f64>,
    /// What KV scales were multiplied by.
    pub kv_scale_factor: f64,
    /// The label that was written.
    pub fp8_dtype_flavor: Option<Flavor>,
    /// Where it was written, as `file: key`.
    pub labelled: Vec<String>,
    /// The FP8 weights.
    pub weights: WeightCounts,
    /// Weight scales that were compensated.
    pub weight_scales: u64,
    /// Static activation scales that were compensated.
    pub activation_scales: u64,
    /// KV scales that were multiplied, those of sidecar files included.
    pub kv_scales: u64,
    /// The files.
    pub files: FileCounts,
    /// Bytes that this run wrote.
    pub bytes_written: u64,
    /// Worth knowing; nothing to do.
    pub notes: Vec<String>,
    /// What is questionable about the model.
    pub warnings: Vec<Finding>,
}
