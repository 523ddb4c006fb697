//! What one stream has to do.

use std::collections::VecDeque;

use habana_sys::synStatus;

use super::timing::Timing;
use super::work::Work;

/// Work that waits for its turn.
struct Waiting {
    work: Work,
    /// Before this time it was not there.
    submitted: u64,
    duration: u64,
    /// How long after its turn it lands, where that is late.
    lag: Option<u64>,
}

/// Work that was reported as done, and is still to be done: only with a fault that asks for it.
struct Late {
    work: Work,
    /// The largest number for never.
    lands: u64,
}

/// The work of a stream.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
    late: VecDeque<Late>,
    /// When its last work was done.
    free_at: u64,
    /// Whether work that is not late is being done.
    is_running: bool,
    is_landing: bool,
    pub(super) is_closing: bool,
    pub(super) error: Option<synStatus>,
}

/// Which work of a stream is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Waiting,
    Landing,
}

impl Queue {
    pub(super) fn push(&mut self, work: Work, submitted: u64, timing: &mut Timing) {
        let (duration, lag) = (timing.duration(&work), timing.lag(&work));
        self.waiting.push_back(Waiting { work, submitted, duration, lag });
    }

    /// Whether work was not reported as done.
    pub(super) fn is_busy(&self) -> bool {
        self.is_running || !self.waiting.is_empty()
    }

    /// Whether everything was done.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_busy() && self.late.is_empty() && !self.is_landing
    }

    /// When something happens next, and what. `None` where nothing is left or another stream comes first.
    pub(super) fn next(&self) -> Option<(u64, Turn)> {
        let landing = self.late.front().map(|late| (late.lands, Turn::Landing));
        let waiting = self.waiting.front().and_then(|next| {
            let ready = match &next.work {
                Work::Wait(recording) => recording.passed()?.at,
                _ => next.submitted,
            };
            Some((self.free_at.max(ready).saturating_add(next.duration), Turn::Waiting))
        });
        landing.into_iter().chain(waiting).min_by_key(|&(at, _)| at)
    }

    /// Takes what is next, to be done; `None` where it was reported as done and lands later.
    pub(super) fn take(&mut self, at: u64, turn: Turn) -> Option<Work> {
        if turn == Turn::Landing {
            let work = self.late.pop_front()?.work;
            self.is_landing = true;
            return Some(work);
        }
        let Waiting { work, lag, .. } = self.waiting.pop_front()?;
        self.free_at = at;
        let Some(lag) = lag else {
            self.is_running = true;
            return Some(work);
        };
        // Late work of a stream lands in its order.
        let earliest = self.late.back().map_or(0, |late| late.lands);
        self.late.push_back(Late { work, lands: at.saturating_add(lag).max(earliest) });
        None
    }

    /// Notes the end of work that was taken.
    pub(super) fn end(&mut self, error: Option<synStatus>) {
        (self.is_running, self.is_landing) = (false, false);
        self.error = self.error.or(error);
    }
}
