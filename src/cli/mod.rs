//! The command line: arguments, output for people and for programs, exit codes.

mod args;
mod calibrate;
mod calibrate_args;
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
mod outcome;
mod output;
#[cfg(feature = "hpu")]
mod probe;
mod progress;
mod report;
mod style;
mod table;
mod target;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use outcome::Outcome;
use output::print_error;

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
