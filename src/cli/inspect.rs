//! `gaudi-kv inspect`.

use gaudi_kv::check::ModelJson;
use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::device::installed_generation;
use gaudi_kv::scales::{Inspection, Options, fp8_weight_bytes, inspect};
use tracing::info;

use super::args::{InspectArguments, InspectOptions};
use super::device::Chosen;
use super::outcome::{CommandError, Outcome};
use super::output::{to_json, write_result};
use super::progress::byte_bar;
use super::{report, table};

/// Inspects a model and prints what was found.
pub(super) fn run(arguments: &InspectArguments, is_quiet: bool) -> Result<Outcome, CommandError> {
    let (options, chosen) = options(&arguments.options, is_quiet)?;
    let folder = ModelFolder::open(&arguments.model)?;
    let inspection = inspect_with_bar(&folder, &options, is_quiet)?;
    if arguments.json {
        write_result(&to_json(&ModelJson::new(&inspection, chosen.device.backend_name()))?)?;
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
    Ok((arguments.resolve(chosen.generation), chosen))
}
