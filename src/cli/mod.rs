//! The command line: arguments, output for people and for programs, exit codes.

mod args;
mod calibrate;
mod calibrate_table;
mod check;
mod check_table;
mod convert;
mod convert_args;
mod device;
mod devices;
mod display;
mod inspect;
mod logging;
#[cfg(feature = "hpu")]
mod probe;
mod progress;
mod report;
mod table;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing is wrong: 0.
    Fine,
    /// The model has errors, or warnings under `--strict`: 1.
    ModelHasErrors,
}

/// Why a command could not do its work: 2.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error(transparent)]
    Inspect(#[from] gaudi_kv::scales::InspectError),
    #[error(transparent)]
    Checkpoint(#[from] gaudi_kv::checkpoint::CheckpointError),
    #[error(transparent)]
    Check(#[from] gaudi_kv::check::CheckError),
    #[error(transparent)]
    Calibrate(#[from] gaudi_kv::calibrate::CalibrateError),
    #[error(transparent)]
    Convert(#[from] gaudi_kv::convert::ConvertError),
    #[error(transparent)]
    Device(#[from] gaudi_kv::device::DeviceError),
    #[error("cannot write {what}: {source}")]
    Write { what: String, source: io::Error },
}

/// Parses the arguments and runs the command. Bad usage and unreadable input exit with 2.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    logging::start(arguments.verbose, arguments.quiet);
    let result = match &arguments.command {
        Command::Inspect(inspect) => inspect::run(inspect, arguments.quiet > 0),
        Command::Check(check) => check::run(check, arguments.quiet > 0),
        Command::Calibrate(calibrate) => calibrate::run(calibrate, arguments.quiet > 0),
        Command::Convert(convert) => convert::run(convert, arguments.quiet > 0),
        Command::Devices(devices) => devices::run(devices),
    };
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::ModelHasErrors) => ExitCode::from(1),
        Err(error) => {
            print_error(&error);
            ExitCode::from(2)
        }
    }
}

/// Says on stderr why there is no result.
fn print_error(error: &dyn std::error::Error) {
    anstream::eprintln!("{}error:{} {error}", style::ERROR.render(), style::ERROR.render_reset());
}

/// Writes a result to stdout. A reader that has left, as `head` does, is no error.
fn write_result(text: &str) -> Result<(), CommandError> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| CommandError::Write { what: "to stdout".to_owned(), source }),
    }
}

/// The colours of the output; they are dropped where it does not go to a terminal.
mod style {
    use anstyle::{AnsiColor, Style};

    pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
    pub(super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
    pub(super) const NOTE: Style = AnsiColor::Cyan.on_default();
    pub(super) const HEADING: Style = Style::new().bold();
}
