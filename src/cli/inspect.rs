//! `gaudi-kv inspect`.

use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::device::installed_generation;
use gaudi_kv::scales::{
    Inspection, Options, SCALE_ADJUSTMENT_ENV, fp8_weight_bytes, inspect, parse_scale_adjustment,
};
use serde::Serialize;
use tracing::info;

use super::args::{InspectArguments, InspectOptions};
use super::device::Chosen;
use super::progress::byte_bar;
use super::{CommandError, Outcome, report, table, write_result};

/// The library's object, and what the device would be computed by.
#[derive(Serialize)]
struct Inspected<'a> {
    #[serde(flatten)]
    inspection: &'a Inspection,
    backend: &'static str,
}

/// Inspects a model and prints what was found.
pub(super) fn run(arguments: &InspectArguments, is_quiet: bool) -> Result<Outcome, CommandError> {
    let (options, chosen) = options(&arguments.options, is_quiet)?;
    let folder = ModelFolder::open(&arguments.model)?;
    let inspection = inspect_with_bar(&folder, &options, is_quiet)?;
    if arguments.json {
        write_result(&to_json(&Inspected {
            inspection: &inspection,
            backend: chosen.device.backend_name(),
        })?)?;
    } else {
        write_result(&table::render(&inspection))?;
    }
    if let Some(path) = &arguments.report {
        let run = report::Run::of_this_process(options.device, options.strict);
        std::fs::write(path, report::render(&inspection, &run))
            .map_err(|source| CommandError::Write { what: path.display().to_string(), source })?;
    }
    Ok(if inspection.is_fine(options.strict) { Outcome::Fine } else { Outcome::ModelHasErrors })
}

/// Inspects, with a bar where weights are read.
pub(super) fn inspect_with_bar(
    folder: &ModelFolder,
    options: &Options,
    is_quiet: bool,
) -> Result<Inspection, CommandError> {
    let total_bytes = if options.verify_weights { fp8_weight_bytes(folder) } else { 0 };
    let bar = byte_bar("reading FP8 weights", total_bytes, is_quiet || !options.verify_weights);
    let inspection = inspect(folder, options, &|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    info!(reason = %inspection.scale_adjustment.reason, "scale adjustment");
    Ok(inspection)
}

/// The options, with the machine's device and the environment taken in. A device that nobody chose is said.
pub(super) fn options(arguments: &InspectOptions, is_quiet: bool) -> Result<(Options, Chosen), CommandError> {
    let chosen = Chosen::new(arguments.device, installed_generation(), is_quiet)?;
    let wish =
        std::env::var_os(SCALE_ADJUSTMENT_ENV).map(|value| parse_scale_adjustment(&value.to_string_lossy()));
    Ok((arguments.resolve(chosen.generation, wish), chosen))
}

/// One object, indented.
pub(super) fn to_json(value: &impl Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| CommandError::Write { what: "JSON".to_owned(), source: e.into() })?;
    Ok(text + "\n")
}
