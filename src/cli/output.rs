//! Where results and errors go.

use std::io::{self, Write};

use serde::Serialize;

use super::outcome::CommandError;
use super::style;

/// Says on stderr why there is no result.
pub(super) fn print_error(error: &dyn std::error::Error) {
    anstream::eprintln!("{}error:{} {error}", style::ERROR.render(), style::ERROR.render_reset());
}

/// Writes a result to stdout. A reader that has left, as `head` does, is no error.
pub(super) fn write_result(text: &str) -> Result<(), CommandError> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|source| CommandError::Write { what: "to stdout".to_owned(), source }),
    }
}

/// A value as indented JSON, with a line break at its end.
pub(super) fn to_json(value: &impl Serialize) -> Result<String, CommandError> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| CommandError::Write { what: "JSON".to_owned(), source: e.into() })?;
    Ok(text + "\n")
}
