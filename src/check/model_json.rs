//! The JSON object that `gaudi-kv inspect --json` and `gaudi-kv check --json` print, and C and Python hand out.

use serde::Serialize;

use super::result::Check;
use crate::scales::Inspection;

/// The JSON object of a model: the keys of its inspection, `backend`, and with a check `check`.
#[derive(Debug, Serialize)]
pub struct ModelJson<'a> {
    #[serde(flatten)]
    inspection: &'a Inspection,
    backend: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<&'a Check>,
}

impl<'a> ModelJson<'a> {
    /// The object of an inspection for a device of the kind `backend`: `emulated` or `hpu`.
    #[must_use]
    pub const fn new(inspection: &'a Inspection, backend: &'static str) -> Self {
        Self { inspection, backend, check: None }
    }

    /// The object with what a check of the same model found.
    #[must_use]
    pub const fn with_check(self, check: &'a Check) -> Self {
        Self { check: Some(check), ..self }
    }
}
