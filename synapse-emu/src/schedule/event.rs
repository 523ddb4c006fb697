//! Events.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use habana_sys::synStatus;

use super::scheduler::Scheduler;
use super::stream::Stream;
use crate::card::Card;
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::recording::Recording;

/// What changes of an event.
#[derive(Default)]
struct Changing {
    recording: Option<Arc<Recording>>,
    /// The id of the recording's stream.
    stream: u64,
    /// The id of the external tensor that it is mapped to.
    tensor: Option<u64>,
}

/// An event, as its handle names it.
pub(crate) struct Event {
    card: Arc<Card>,
    scheduler: Arc<Scheduler>,
    collects_time: bool,
    changing: Mutex<Changing>,
}

impl Event {
    pub(crate) fn new(card: Arc<Card>, scheduler: Arc<Scheduler>, collects_time: bool) -> Self {
        Self { card, scheduler, collects_time, changing: Mutex::default() }
    }

    pub(crate) fn card(&self) -> &Arc<Card> {
        &self.card
    }

    /// A new recording on a stream, which replaces the last one.
    pub(crate) fn record(&self, stream: &Stream) -> Arc<Recording> {
        let recording = Arc::new(Recording::default());
        let mut changing = lock(&self.changing);
        changing.recording = Some(Arc::clone(&recording));
        changing.stream = stream.id();
        recording
    }

    /// The last recording; `synInvalidArgument` where that is on the stream which is to wait for it.
    pub(crate) fn recording_for(&self, stream: &Stream) -> Outcome<Option<Arc<Recording>>> {
        let changing = lock(&self.changing);
        if changing.recording.is_some() && changing.stream == stream.id() {
            return Err(synStatus::synInvalidArgument);
        }
        Ok(changing.recording.clone())
    }

    fn recording(&self) -> Option<Arc<Recording>> {
        lock(&self.changing).recording.clone()
    }

    /// `synBusy` until its recording, if there is one, was passed.
    pub(crate) fn query(&self) -> Outcome {
        let recording = self.recording();
        let is_passed = || recording.as_ref().is_none_or(|recording| recording.passed().is_some());
        let is_done = self.scheduler.ask(|_| is_passed(), |_| is_passed());
        if is_done { Ok(()) } else { Err(synStatus::synBusy) }
    }

    /// Waits until its recording, if there is one, is passed. An error of the work before it comes back.
    pub(crate) fn synchronize(&self) -> Outcome {
        let Some(recording) = self.recording() else { return Ok(()) };
        drop(self.scheduler.wait_until(|_| recording.passed().is_some()));
        recording.passed().and_then(|passed| passed.error).map_or(Ok(()), Err)
    }

    /// The virtual time from this event to another: `synBusy` before both are passed, `synFailedToCollectTime` where one was
    /// not recorded or does not collect times, or where they are in the wrong order.
    pub(crate) fn elapsed_until(&self, end: &Self) -> Outcome<Duration> {
        let collects = self.collects_time && end.collects_time;
        let (Some(first), Some(last), true) = (self.recording(), end.recording(), collects) else {
            return Err(synStatus::synFailedToCollectTime);
        };
        let are_passed = || Some((first.passed()?.at, last.passed()?.at));
        let (first, last) =
            self.scheduler.ask(|_| are_passed().is_some(), |_| are_passed()).ok_or(synStatus::synBusy)?;
        last.checked_sub(first).map(Duration::from_nanos).ok_or(synStatus::synFailedToCollectTime)
    }

    pub(crate) fn map_to(&self, tensor: u64) {
        lock(&self.changing).tensor = Some(tensor);
    }

    pub(crate) fn mapped_tensor(&self) -> Option<u64> {
        lock(&self.changing).tensor
    }
}
