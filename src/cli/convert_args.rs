//! The arguments of `gaudi-kv convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gaudi_kv::convert::{ConvertOptions, Factor, WorkShare};

use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct ConvertArguments {
    /// The model folder to convert; it is only read
    #[arg(value_name = "SRC")]
    pub(super) source: PathBuf,
    /// The folder to create; it appears when it is complete
    #[arg(value_name = "DST")]
    pub(super) destination: PathBuf,
    /// The device that is to load it without adjustment: gaudi2 (240) or, back again, gaudi3 (448)
    #[arg(long, value_enum)]
    to: Target,
    /// What FP8 weights are multiplied by: 0.5 (2 on the way back), or 240/448 (448/240)
    #[arg(long, value_enum, default_value_t = WeightFactor::PowerOfTwo)]
    factor: WeightFactor,
    /// Replace DST where it is a model folder or empty, even SRC itself
    #[arg(long)]
    force: bool,
    /// Flush everything to disk before DST appears
    #[arg(long)]
    sync: bool,
    /// Do share I of N; as many processes, on any machines that see both folders, do it all
    #[arg(long, value_name = "I/N")]
    shards: Option<WorkShare>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WeightFactor {
    /// Exact but for the smallest codes
    PowerOfTwo,
    /// The whole range, and nearly every code rounded again
    Exact,
}

impl ConvertArguments {
    pub(super) fn options(&self) -> ConvertOptions {
        ConvertOptions {
            to: self.to.into(),
            factor: match self.factor {
                WeightFactor::PowerOfTwo => Factor::PowerOfTwo,
                WeightFactor::Exact => Factor::Exact,
            },
            force: self.force,
            sync: self.sync,
            part: self.shards,
        }
    }
}
