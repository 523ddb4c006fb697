use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use habana_sys::synStatus;

use super::{Card, Stream};
use crate::Outcome;
use crate::state::lock;

/// One time that an event was recorded.
#[derive(Default)]
pub(crate) struct Recording {
    /// The stream's first error up to here, and when it got here.
    passed: Mutex<Option<(Instant, Option<synStatus>)>>,
    changed: Condvar,
}

impl Recording {
    /// The stream has come to it. Only the first time counts.
    pub(crate) fn pass(&self, error: Option<synStatus>) {
        lock(&self.passed).get_or_insert_with(|| (Instant::now(), error));
        self.changed.notify_all();
    }

    pub(super) fn wait(&self) -> Outcome {
        let mut passed = lock(&self.passed);
        loop {
            match *passed {
                Some((_, error)) => return error.map_or(Ok(()), Err),
                None => passed = self.changed.wait(passed).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn time(&self) -> Option<Instant> {
        lock(&self.passed).map(|(at, _)| at)
    }
}

/// What of it changes.
#[derive(Default)]
struct State {
    recording: Option<Arc<Recording>>,
    /// The id of the recording's stream.
    stream: u64,
    /// The id of the external tensor that it is mapped to.
    tensor: Option<u64>,
}

/// An event, as its handle names it.
pub(crate) struct Event {
    card: Arc<Card>,
    collects_time: bool,
    state: Mutex<State>,
}

impl Event {
    pub(crate) fn new(card: Arc<Card>, collects_time: bool) -> Self {
        Self { card, collects_time, state: Mutex::default() }
    }

    pub(crate) fn card(&self) -> &Arc<Card> {
        &self.card
    }

    /// A new recording on a stream, which replaces the last one.
    pub(crate) fn record(&self, stream: &Stream) -> Arc<Recording> {
        let recording = Arc::new(Recording::default());
        let mut state = lock(&self.state);
        state.recording = Some(Arc::clone(&recording));
        state.stream = stream.id();
        recording
    }

    /// The last recording; `synInvalidArgument` where that is on the stream which is to wait for it.
    pub(crate) fn recording_for(&self, stream: &Stream) -> Outcome<Option<Arc<Recording>>> {
        let state = lock(&self.state);
        if state.recording.is_some() && state.stream == stream.id() {
            return Err(synStatus::synInvalidArgument);
        }
        Ok(state.recording.clone())
    }

    fn recording(&self) -> Option<Arc<Recording>> {
        lock(&self.state).recording.clone()
    }

    /// Whether its recording, if there is one, was passed.
    pub(crate) fn query(&self) -> Outcome {
        match self.recording() {
            Some(recording) if recording.time().is_none() => Err(synStatus::synBusy),
            _ => Ok(()),
        }
    }

    /// Waits until its recording, if there is one, is passed. An error of the work before it comes back.
    pub(crate) fn synchronize(&self) -> Outcome {
        self.recording().map_or(Ok(()), |recording| recording.wait())
    }

    /// From this event to another: `synBusy` before both are passed, `synFailedToCollectTime` where one was not
    /// recorded or does not collect times, or where they are in the wrong order.
    pub(crate) fn elapsed_until(&self, end: &Self) -> Outcome<Duration> {
        let collects = self.collects_time && end.collects_time;
        let (Some(first), Some(last), true) = (self.recording(), end.recording(), collects) else {
            return Err(synStatus::synFailedToCollectTime);
        };
        let (Some(first), Some(last)) = (first.time(), last.time()) else { return Err(synStatus::synBusy) };
        last.checked_duration_since(first).ok_or(synStatus::synFailedToCollectTime)
    }

    pub(crate) fn map_to(&self, tensor: u64) {
        lock(&self.state).tensor = Some(tensor);
    }

    pub(crate) fn mapped_tensor(&self) -> Option<u64> {
        lock(&self.state).tensor
    }
}
