//! Settings by name: of the environment, or given in the process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Mutex;
use std::time::Duration;

use habana_sys::synStatus;

use crate::lock::lock;
use crate::outcome::Outcome;

/// What the names of all settings of this library begin with.
pub(crate) const PREFIX: &str = "SYNAPSE_EMU_";

/// Given in the process since the last initialization.
static GIVEN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// A variable with a value that it cannot have.
#[derive(Debug, thiserror::Error)]
#[error("{variable} is `{value}`; allowed: {allowed}")]
pub(crate) struct BadVariable {
    pub(crate) variable: &'static str,
    pub(crate) value: String,
    pub(crate) allowed: String,
}

/// The settings that an initialization reads.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    given: BTreeMap<String, String>,
}

impl Variables {
    /// Keeps a setting for the next initialization, for which it replaces the environment's. `synInvalidArgument` for a
    /// name that no setting of this library has.
    pub(crate) fn give(name: &str, value: &str) -> Outcome {
        const NAMES: [&str; 10] = [
            "DEVICE",
            "MODE",
            "CARDS",
            "MEMORY_BYTES",
            "HF8_KERNELS",
            "LOG",
            "TRACE",
            "FAULT",
            "SEED",
            "SILENCE",
        ];
        let known = name.strip_prefix(PREFIX).is_some_and(|name| NAMES.contains(&name));
        if !known {
            return Err(synStatus::synInvalidArgument);
        }
        lock(&GIVEN).insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Takes what was given in the process.
    pub(crate) fn take_given() -> Self {
        Self { given: std::mem::take(&mut lock(&GIVEN)) }
    }

    /// The text of a setting.
    pub(crate) fn get(&self, name: &str) -> Option<OsString> {
        self.given.get(name).map(OsString::from).or_else(|| std::env::var_os(name))
    }

    /// The value of a setting, `default` where it is not set.
    pub(crate) fn parsed<T>(
        &self,
        name: &'static str,
        default: T,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, BadVariable> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.to_str().and_then(parse).ok_or_else(|| BadVariable {
            variable: name,
            value: value.to_string_lossy().into_owned(),
            allowed: allowed.to_owned(),
        })
    }
}

/// Parses `0` and `1`.
pub(crate) fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Parses a time like `20ms`, or `never`, which is the longest duration.
pub(crate) fn time(text: &str) -> Option<Duration> {
    if text == "never" {
        return Some(Duration::MAX);
    }
    let (number, unit) = text.split_at(text.find(|character: char| !character.is_ascii_digit())?);
    let number = number.parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(time("5us"), Some(Duration::from_micros(5)));
        assert_eq!(time("20ms"), Some(Duration::from_millis(20)));
        assert_eq!(time("2s"), Some(Duration::from_secs(2)));
        assert_eq!(time("never"), Some(Duration::MAX));
        for text in ["", "20", "ms", "1h", "-1s", "never "] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn settings_of_other_names_are_refused() {
        assert_eq!(Variables::give("SYNAPSE_EMU_DEVISE", "gaudi3"), Err(synStatus::synInvalidArgument));
        assert_eq!(Variables::give("DEVICE", "gaudi3"), Err(synStatus::synInvalidArgument));
    }
}
