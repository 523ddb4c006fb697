//! The arguments of every command.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use gaudi_kv::Generation;
use gaudi_kv::checkpoint::TensorParallel;
use gaudi_kv::device::DeviceChoice;
use gaudi_kv::device::emulated::Mode;
use gaudi_kv::scales::{
    CacheDtypeRequest, MlaScale, OptionError, Options, QMissing, SkipLayer, requested_scale_adjustment,
};

use super::calibrate_args::CalibrateArguments;
use super::convert_args::ConvertArguments;

/// FP8 KV caches for Intel Gaudi.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
    /// Log more: -v what is decided, -vv how, -vvv everything. RUST_LOG overrides it
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Say less on stderr: -q errors only, -qq nothing
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "verbose")]
    pub(super) quiet: u8,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show a model's KV scales, what they become on a device, why, and what is wrong
    #[command(
        after_help = "Exit codes: 0 fine, 1 the model has errors (or warnings under --strict), 2 bad usage or \
                            unreadable input.\nVLLM_SCALE_ADJUSTMENT, where set, overrides the decision on adjustment."
    )]
    Inspect(InspectArguments),
    /// Run a model's KV caches on a Gaudi, or its arithmetic on the CPU, and compare attention with float64
    #[command(
        after_help = "Exit codes: 0 whatever the verdict, 1 the model has errors (or warnings under --strict), 2 bad \
                            usage or unreadable input.\nVLLM_SCALE_ADJUSTMENT, where set, overrides the decision on \
                            adjustment."
    )]
    Check(CheckArguments),
    /// Measure KV scales from captured activations and write them into a copy of the model
    #[command(
        after_help = "Exit codes: 0 fine, 1 the model has errors, 2 bad usage, unreadable or unusable input."
    )]
    Calibrate(CalibrateArguments),
    /// Rewrite a checkpoint for a device's FP8 range, so that it loads without adjustment
    #[command(
        after_help = "Exit codes: 0 converted or nothing to do, 1 the model has errors, 2 bad usage, unreadable input or \
                            a full disk.\nA run that was killed is taken up by the same command."
    )]
    Convert(ConvertArguments),
    /// List the Gaudis of this machine, and what the SynapseAI library says of them
    #[command(
        after_help = "Exit codes: 0 whatever there is and answers, 2 a library that was named cannot be used, or it \
                            fails, or there is no Gaudi to probe."
    )]
    Devices(DevicesArguments),
}

#[derive(Debug, Args)]
pub(super) struct DevicesArguments {
    /// Print JSON instead of text: one object, or an array of answers
    #[arg(long)]
    pub(super) json: bool,
    /// Take a Gaudi and ask it what no document says; each answer is compared with the emulation's
    #[arg(long)]
    pub(super) probe: bool,
    /// The module to probe [default: HLS_MODULE_ID, else any free Gaudi]
    #[arg(long, value_name = "MODULE", requires = "probe")]
    #[cfg_attr(not(feature = "hpu"), allow(dead_code, reason = "refused before it is looked at"))]
    pub(super) module: Option<u32>,
    /// The library to ask [default: GAUDI_KV_SYNAPSE, else where the vendor installs it]
    #[arg(long, value_name = "PATH")]
    pub(super) library: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct InspectArguments {
    /// The model folder: config.json and *.safetensors
    pub(super) model: PathBuf,
    #[command(flatten)]
    pub(super) options: InspectOptions,
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// Also write a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    pub(super) inspect: InspectArguments,
    /// Captured activations, safetensors: layers.N.{q,k,v} or layers.N.{q_nope,q_pe,kv_c,k_pe} [default: synthetic ones]
    #[arg(long, value_name = "FILE")]
    pub(super) activations: Option<PathBuf>,
    /// How an emulated device accumulates products: as a Gaudi does, bit for bit, or in float [default: exact]
    #[arg(long, value_enum)]
    pub(super) mode: Option<Accumulation>,
    /// Also write the attention outputs, safetensors: layers.N.prefill and layers.N.decode
    #[arg(long, value_name = "FILE")]
    pub(super) outputs: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Accumulation {
    Exact,
    Fast,
}

impl From<Accumulation> for Mode {
    fn from(accumulation: Accumulation) -> Self {
        match accumulation {
            Accumulation::Exact => Self::Exact,
            Accumulation::Fast => Self::Fast,
        }
    }
}

/// What an inspection can be asked for.
#[derive(Debug, Args)]
pub(super) struct InspectOptions {
    /// The device: a Gaudi of this machine (hpu, hpu:MODULE), or one emulated on the CPU (gaudi2, gaudi3) [default: the
    /// Gaudi of this machine, else gaudi2]
    #[arg(long, value_name = "gaudi2|gaudi3|hpu|hpu:MODULE")]
    pub(super) device: Option<DeviceChoice>,
    /// The type of the KV cache; auto follows what the checkpoint's config declares
    #[arg(long, value_parser = cache_dtypes(), default_value_t = CacheDtypeRequest::Auto)]
    kv_cache_dtype: CacheDtypeRequest,
    /// Which scale the one latent of an MLA layer takes
    #[arg(long, value_parser = mla_scales(), default_value_t = MlaScale::KOnly)]
    mla_scale: MlaScale,
    /// What a query without a scale is quantized with: its own amax, or 1.0
    #[arg(long, value_parser = missing_queries(), default_value_t = QMissing::Dynamic)]
    q_missing: QMissing,
    /// Layers whose cache stays bf16: numbers, or sliding_window
    #[arg(long, value_name = "N,..|sliding_window", value_delimiter = ',')]
    kv_cache_dtype_skip_layers: Vec<SkipLayer>,
    /// Number of tensor-parallel ranks that per-head scales are sliced for
    #[arg(long, value_name = "SIZE", requires = "rank", value_parser = clap::value_parser!(u32).range(1..))]
    tp: Option<u32>,
    /// The tensor-parallel rank to show
    #[arg(long, requires = "tp")]
    rank: Option<u32>,
    /// Read all FP8 weights and check fp8_dtype_flavor against them
    #[arg(long)]
    verify_weights: bool,
    /// Warnings count as errors
    #[arg(long)]
    pub(super) strict: bool,
}

/// Reads one of `values` as the library does.
fn named<T>(values: impl Into<PossibleValuesParser>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = OptionError> + Clone + Send + Sync + 'static,
{
    values.into().try_map(|name| name.parse())
}

fn cache_dtypes() -> impl TypedValueParser<Value = CacheDtypeRequest> {
    let (bf16, fp8) = (PossibleValue::new("bf16"), PossibleValue::new("fp8"));
    named([PossibleValue::new("auto"), bf16.alias("bfloat16"), fp8.aliases(["fp8_e4m3", "fp8_inc"])])
}

fn mla_scales() -> impl TypedValueParser<Value = MlaScale> {
    let (k_only, max_kv) = (PossibleValue::new("k-only"), PossibleValue::new("max-kv"));
    named([k_only.help("k_scale"), max_kv.help("The larger of k_scale and v_scale")])
}

fn missing_queries() -> impl TypedValueParser<Value = QMissing> {
    named(["dynamic", "one"])
}

impl InspectOptions {
    /// The library's options, for a device, with what the environment asks for.
    pub(super) fn resolve(&self, device: Generation) -> Options {
        Options {
            device,
            kv_cache_dtype: self.kv_cache_dtype,
            mla_scale: self.mla_scale,
            q_missing: self.q_missing,
            tensor_parallel: self
                .tp
                .zip(self.rank)
                .map(|(size, rank)| TensorParallel { size: size as usize, rank: rank as usize }),
            skip_layers: self.kv_cache_dtype_skip_layers.clone(),
            scale_adjustment: requested_scale_adjustment(),
            verify_weights: self.verify_weights,
            strict: self.strict,
        }
    }
}
