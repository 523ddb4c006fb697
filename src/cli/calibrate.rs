//! `gaudi-kv calibrate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gaudi_kv::calibrate::{
    self, CalibrateError, Calibration, Carry, Method, Request, Settings, Source, WriteOptions, bytes_to_read,
    calibrate, write,
};
use gaudi_kv::checkpoint::{ModelFolder, Strategy};
use serde::Serialize;

use super::args::Target;
use super::inspect::to_json;
use super::progress::byte_bar;
use super::{CommandError, Outcome, calibrate_table, print_error, write_result};

#[derive(Debug, Args)]
pub(super) struct CalibrateArguments {
    /// The model folder: config.json and *.safetensors
    model: PathBuf,
    #[command(flatten)]
    source: SourceArguments,
    /// The device to make scales for
    #[arg(long, value_enum)]
    device: Target,
    /// The folder to write: a copy of the model with the scales
    #[arg(long, value_name = "DST")]
    out: PathBuf,
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
    json: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct SourceArguments {
    /// Captured activations, safetensors: layers.N.{k,v} or layers.N.{kv_c,k_pe}; of a folder, all files together
    #[arg(long, value_name = "FILE|FOLDER")]
    activations: Option<PathBuf>,
    /// INC measurements instead, *_hooks_maxabs*.json; of a folder, those of all ranks
    #[arg(long, value_name = "FILE|FOLDER")]
    inc_measurements: Option<PathBuf>,
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

/// What was measured, and where it was written.
#[derive(Serialize)]
struct Written<'a> {
    model: String,
    out: String,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// Measures, writes the calibrated model, and prints what every choice does.
pub(super) fn run(arguments: &CalibrateArguments, is_quiet: bool) -> Result<Outcome, CommandError> {
    match calibrated(arguments, is_quiet) {
        Err(CommandError::Calibrate(error @ CalibrateError::Model(_))) => {
            print_error(&error);
            Ok(Outcome::ModelHasErrors)
        }
        result => result,
    }
}

fn calibrated(arguments: &CalibrateArguments, is_quiet: bool) -> Result<Outcome, CommandError> {
    let folder = ModelFolder::open(&arguments.model)?;
    // The group of arguments takes exactly one of the two.
    let (source, default_method) = match (&arguments.source.activations, &arguments.source.inc_measurements) {
        (_, Some(path)) => (Source::IncMeasurements(path), Method::Amax),
        (Some(path), None) => (Source::Activations(path), Method::Mse),
        (None, None) => {
            let (path, wanted) =
                (arguments.model.clone(), "measurements; give --activations or --inc-measurements");
            return Err(CalibrateError::NoFiles { path, wanted }.into());
        }
    };
    let options = WriteOptions {
        destination: &arguments.out,
        carry: match arguments.weights {
            Weights::Copy => Carry::Copy,
            Weights::Hardlink => Carry::Hardlink,
            Weights::Symlink => Carry::Symlink,
        },
        is_replacing: arguments.replace,
        is_forced: arguments.force,
        is_synced: arguments.sync,
    };
    let copied_bytes = calibrate::check(&folder, &options)?;
    let bar = byte_bar("reading activations", bytes_to_read(&folder, source)?, is_quiet);
    let mut calibration =
        calibrate(&folder, source, &arguments.request(default_method), &|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    let bar = byte_bar("writing", copied_bytes, is_quiet);
    calibration.notes.extend(write(&folder, &calibration, &options, &|bytes| bar.inc(bytes))?);
    bar.finish_and_clear();
    if arguments.json {
        let (model, out) = (arguments.model.display().to_string(), arguments.out.display().to_string());
        write_result(&to_json(&Written { model, out, calibration: &calibration })?)?;
    } else {
        write_result(&calibrate_table::render(&calibration, &arguments.out))?;
    }
    Ok(Outcome::Fine)
}

impl CalibrateArguments {
    fn request(&self, default_method: Method) -> Request {
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
}
