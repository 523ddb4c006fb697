//! `gaudi-kv calibrate`.

use gaudi_kv::calibrate::{
    self, CalibrateError, Calibration, Method, Source, bytes_to_read, calibrate, write,
};
use gaudi_kv::checkpoint::ModelFolder;
use serde::Serialize;

use super::calibrate_args::CalibrateArguments;
use super::calibrate_table;
use super::outcome::{CommandError, Outcome};
use super::output::{print_error, to_json, write_result};
use super::progress::byte_bar;

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
    let options = arguments.write_options();
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
