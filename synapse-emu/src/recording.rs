//! Recordings of events: the points that streams come to.

use std::sync::Mutex;

use habana_sys::synStatus;

use crate::lock::lock;

/// One time that an event was recorded.
#[derive(Default)]
pub(crate) struct Recording {
    passed: Mutex<Option<Passed>>,
}

/// How a stream came to a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    /// Virtual nanoseconds.
    pub(crate) at: u64,
    /// The stream's first error up to there.
    pub(crate) error: Option<synStatus>,
}

impl Recording {
    /// The stream has come to it at a virtual time. Only the first time counts.
    pub(crate) fn pass(&self, at: u64, error: Option<synStatus>) {
        lock(&self.passed).get_or_insert(Passed { at, error });
    }

    /// How the stream came to it; `None` before that.
    pub(crate) fn passed(&self) -> Option<Passed> {
        *lock(&self.passed)
    }
}
