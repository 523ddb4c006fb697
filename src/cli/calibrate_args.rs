//! The arguments of `gaudi-kv calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gaudi_kv::calibrate::{Carry, Method, Request, Settings, WriteOptions};
use gaudi_kv::checkpoint::Strategy;

use super::target::Target;

#[derive(Debug, Args)]
pub(super) struct CalibrateArguments {
    /// The model folder: config.json and *.safetensors
    pub(super) model: PathBuf,
    #[command(flatten)]
    pub(super) source: SourceArguments,
    /// The device to make scales for
    #[arg(long, value_enum)]
    pub(super) device: Target,
    /// The folder to write: a copy of the model with the scales
    #[arg(long, value_name = "DST")]
    pub(super) out: PathBuf,
    /// How scales are chosen [default: mse, or amax for INC measurements]
    #[arg(long, value_enum)]
    method: Option<MethodName>,
    /// The share of the values, in percent, that --method percentile keeps from saturating
    #[arg(long, value_name = "PERCENT", default_value_t = 99.99)]
    percentile: f64,
    /// Multiplies the scales, for activations larger than those measured
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    margin: f32,
    /// One scale for all heads of a layer, or one for each
    #[arg(long, value_enum, default_value_t = StrategyName::Tensor)]
    strategy: StrategyName,
    /// How unchanged weight files come into DST
    #[arg(long, value_enum, default_value_t = Weights::Copy)]
    weights: Weights,
    /// Leave the model's old KV scales, of every role, and its scale files behind
    #[arg(long)]
    replace: bool,
    /// Replace DST where it is a model folder or empty, even MODEL itself
    #[arg(long)]
    force: bool,
    /// Flush everything to disk before DST appears
    #[arg(long)]
    sync: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct SourceArguments {
    /// Captured activations, safetensors: layers.N.{k,v} or layers.N.{kv_c,k_pe}; of a folder, all files together
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(super) activations: Option<PathBuf>,
    /// INC measurements instead, *_hooks_maxabs*.json; of a folder, those of all ranks
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(super) inc_measurements: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodName {
    /// The largest magnitude becomes the largest FP8 value
    Amax,
    /// The magnitude that a share of the values does not exceed becomes the largest FP8 value
    Percentile,
    /// The least squared error of what is read back from the cache
    Mse,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StrategyName {
    Tensor,
    #[value(alias = "attn_head")]
    AttnHead,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Weights {
    Copy,
    Hardlink,
    Symlink,
}

impl CalibrateArguments {
    /// What to measure, and how scales are chosen.
    pub(super) fn request(&self, default_method: Method) -> Request {
        let method = self.method.map_or(default_method, |method| match method {
            MethodName::Amax => Method::Amax,
            MethodName::Percentile => Method::Percentile,
            MethodName::Mse => Method::Mse,
        });
        Request {
            device: self.device.into(),
            strategy: match self.strategy {
                StrategyName::Tensor => Strategy::Tensor,
                StrategyName::AttnHead => Strategy::AttnHead,
            },
            settings: Settings { method, percentile: self.percentile, margin: self.margin },
        }
    }

    /// Where and how the calibrated model is written.
    pub(super) fn write_options(&self) -> WriteOptions<'_> {
        WriteOptions {
            destination: &self.out,
            carry: match self.weights {
                Weights::Copy => Carry::Copy,
                Weights::Hardlink => Carry::Hardlink,
                Weights::Symlink => Carry::Symlink,
            },
            replace: self.replace,
            force: self.force,
            sync: self.sync,
        }
    }
}
