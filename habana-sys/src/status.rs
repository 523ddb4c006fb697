//! Statuses as error messages show them.

use std::fmt;

use crate::{status_name, synStatus};

impl fmt::Display for synStatus {
    /// The name and the number, as in `synFail (26)`; a value without a name as `status 1000`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match status_name(*self) {
            Some(name) => write!(formatter, "{name} ({})", self.0),
            None => write!(formatter, "status {}", self.0),
        }
    }
}
