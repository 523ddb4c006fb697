//! Streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use habana_sys::synStatus;

use super::scheduler::Scheduler;
use super::work::Work;
use crate::card::Card;
use crate::outcome::Outcome;

/// A stream, as its handle names it.
pub(crate) struct Stream {
    id: u64,
    card: Arc<Card>,
    affinity: AtomicU64,
    scheduler: Arc<Scheduler>,
}

impl Stream {
    pub(crate) fn new(card: Arc<Card>, scheduler: Arc<Scheduler>) -> Self {
        let affinity = AtomicU64::new(card.next_affinity());
        Self { id: scheduler.open(), card, affinity, scheduler }
    }

    /// The number that no other stream has.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn card(&self) -> &Arc<Card> {
        &self.card
    }

    pub(crate) fn affinity(&self) -> u64 {
        self.affinity.load(Ordering::Relaxed)
    }

    pub(crate) fn set_affinity(&self, mask: u64) {
        self.affinity.store(mask, Ordering::Relaxed);
    }

    /// Adds work in this order; `synFail` where the stream was destroyed meanwhile.
    pub(crate) fn submit(&self, work: impl IntoIterator<Item = Work>) -> Outcome {
        self.scheduler.submit(self.id, work)
    }

    /// `synBusy` while there is work that was not reported as done.
    pub(crate) fn query(&self) -> Outcome {
        let is_busy =
            self.scheduler.ask(|schedule| !schedule.is_busy(self.id), |schedule| schedule.is_busy(self.id));
        if is_busy { Err(synStatus::synBusy) } else { Ok(()) }
    }

    /// Waits until all work is reported as done. The first error of that work comes back, once.
    pub(crate) fn synchronize(&self) -> Outcome {
        self.scheduler.synchronize(self.id)
    }

    /// Ends it if it is idle, else `synBusy`. Work that is late lands first.
    pub(crate) fn close_if_idle(&self) -> Outcome {
        self.scheduler.close_if_idle(self.id)
    }

    /// Does all work of some streams, each event at its time, and ends them.
    pub(crate) fn close_all(scheduler: &Scheduler, streams: &[Arc<Self>]) {
        let ids: Vec<_> = streams.iter().map(|stream| stream.id).collect();
        scheduler.close(&ids);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.scheduler.close(&[self.id]);
    }
}
