//! The simulation: which work happens next, on a clock that nobody waits for.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use habana_sys::synStatus;

use super::queue::{Queue, Turn};
use super::timing::Timing;
use super::work::Work;
use crate::fault::Lateness;
use crate::lock::lock;
use crate::log;
use crate::outcome::Outcome;

/// The work of all streams, of which one piece is done at a time.
pub(crate) struct Scheduler {
    schedule: Mutex<Schedule>,
    /// Work was done.
    changed: Condvar,
    /// There is work, or the end has come: for whoever watches.
    pub(super) awaited: Condvar,
}

/// What the simulation knows.
pub(super) struct Schedule {
    /// Virtual nanoseconds since the start.
    now: u64,
    timing: Timing,
    next_stream: u64,
    queues: BTreeMap<u64, Queue>,
    /// Whether a thread is doing work.
    pub(super) is_running: bool,
    /// How many calls the host has made.
    pub(super) calls: u64,
    pub(super) has_ended: bool,
}

/// Something that happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    at: u64,
    stream: u64,
    turn: Turn,
}

impl Schedule {
    /// What happens next by itself.
    pub(super) fn next(&self) -> Option<Event> {
        self.next_of_all().filter(|event| event.at < u64::MAX)
    }

    /// What happens next, or would never happen by itself.
    fn next_of_all(&self) -> Option<Event> {
        let next =
            |(&stream, queue): (&u64, &Queue)| queue.next().map(|(at, turn)| Event { at, stream, turn });
        self.queues.iter().filter_map(next).min_by_key(|event| event.at)
    }

    /// Whether a stream has work that was not reported as done.
    pub(super) fn is_busy(&self, stream: u64) -> bool {
        self.queues.get(&stream).is_some_and(Queue::is_busy)
    }

    fn is_empty(&self, stream: u64) -> bool {
        self.queues.get(&stream).is_none_or(Queue::is_empty)
    }
}

impl Scheduler {
    pub(crate) fn new(seed: u64, lateness: Lateness) -> Self {
        let schedule = Schedule {
            now: 0,
            timing: Timing::new(seed, lateness),
            next_stream: 1,
            queues: BTreeMap::new(),
            is_running: false,
            calls: 0,
            has_ended: false,
        };
        Self { schedule: Mutex::new(schedule), changed: Condvar::new(), awaited: Condvar::new() }
    }

    pub(super) fn schedule(&self) -> MutexGuard<'_, Schedule> {
        lock(&self.schedule)
    }

    /// The schedule for a call of the host.
    fn called(&self) -> MutexGuard<'_, Schedule> {
        let mut schedule = self.schedule();
        schedule.calls += 1;
        schedule
    }

    /// The id of a new stream. No two have the same.
    pub(super) fn open(&self) -> u64 {
        let mut schedule = self.called();
        let stream = schedule.next_stream;
        schedule.next_stream += 1;
        schedule.queues.insert(stream, Queue::default());
        stream
    }

    /// Adds work to a stream, in this order; `synFail` where the stream was destroyed meanwhile.
    pub(super) fn submit(&self, stream: u64, work: impl IntoIterator<Item = Work>) -> Outcome {
        let mut schedule = self.called();
        let Schedule { now, timing, queues, .. } = &mut *schedule;
        let queue = queues.get_mut(&stream).filter(|queue| !queue.is_closing).ok_or(synStatus::synFail)?;
        work.into_iter().for_each(|work| queue.push(work, *now, timing));
        schedule.now = schedule.now.saturating_add(schedule.timing.pause());
        while !schedule.is_running
            && let Some(event) = schedule.next().filter(|event| event.at <= schedule.now)
        {
            schedule = self.happen(schedule, event);
        }
        self.awaited.notify_one();
        Ok(())
    }

    /// Answers a question, some events later: as many as the host has patience for, fewer where that makes `is_done`
    /// true.
    pub(super) fn ask<T>(
        &self,
        is_done: impl Fn(&Schedule) -> bool,
        answer: impl FnOnce(&mut Schedule) -> T,
    ) -> T {
        let mut schedule = self.called();
        for _ in 0..schedule.timing.patience() {
            // What another thread is doing takes as long as it takes.
            let Some(event) = schedule.next().filter(|_| !schedule.is_running) else { break };
            schedule = self.happen(schedule, event);
            if is_done(&schedule) {
                break;
            }
        }
        answer(&mut schedule)
    }

    /// Lets things happen until `is_done`, or until nothing more happens by itself.
    pub(super) fn wait_until(&self, is_done: impl Fn(&Schedule) -> bool) -> MutexGuard<'_, Schedule> {
        self.advance_until(is_done, Schedule::next)
    }

    /// Lets things happen until `is_done`, also those that would never happen by themselves.
    pub(crate) fn finish_until(&self, is_done: impl Fn() -> bool) {
        drop(self.advance_until(|_| is_done(), Schedule::next_of_all));
    }

    fn advance_until(
        &self,
        is_done: impl Fn(&Schedule) -> bool,
        next: impl Fn(&Schedule) -> Option<Event>,
    ) -> MutexGuard<'_, Schedule> {
        let mut schedule = self.called();
        while !is_done(&schedule) {
            if schedule.is_running {
                schedule = self.changed.wait(schedule).unwrap_or_else(PoisonError::into_inner);
            } else if let Some(event) = next(&schedule) {
                schedule = self.happen(schedule, event);
            } else {
                break;
            }
        }
        schedule
    }

    /// Waits until a stream's work is reported as done. Its first error comes back, once.
    pub(super) fn synchronize(&self, stream: u64) -> Outcome {
        let mut schedule = self.wait_until(|schedule| !schedule.is_busy(stream));
        let error = schedule.queues.get_mut(&stream).and_then(|queue| queue.error.take());
        error.map_or(Ok(()), Err)
    }

    /// Ends streams: takes no more work, and does all that they have.
    pub(super) fn close(&self, streams: &[u64]) {
        let mut schedule = self.called();
        for stream in streams {
            if let Some(queue) = schedule.queues.get_mut(stream) {
                queue.is_closing = true;
            }
        }
        drop(schedule);
        let is_done = |schedule: &Schedule| streams.iter().all(|&stream| schedule.is_empty(stream));
        let mut schedule = self.advance_until(is_done, Schedule::next_of_all);
        streams.iter().for_each(|stream| drop(schedule.queues.remove(stream)));
    }

    /// Ends a stream as [`close`](Self::close) does if its work is reported as done, else answers `synBusy`.
    pub(super) fn close_if_idle(&self, stream: u64) -> Outcome {
        let close = |schedule: &mut Schedule| {
            if schedule.is_busy(stream) {
                return Err(synStatus::synBusy);
            }
            if let Some(queue) = schedule.queues.get_mut(&stream) {
                queue.is_closing = true;
            }
            Ok(())
        };
        self.ask(|schedule| !schedule.is_busy(stream), close)?;
        self.close(&[stream]);
        Ok(())
    }

    /// Lets an event happen. The work itself is done without the lock.
    pub(super) fn happen<'a>(
        &'a self,
        mut schedule: MutexGuard<'a, Schedule>,
        Event { at, stream, turn }: Event,
    ) -> MutexGuard<'a, Schedule> {
        if at < u64::MAX {
            schedule.now = schedule.now.max(at);
        }
        let now = schedule.now;
        let Some(queue) = schedule.queues.get_mut(&stream) else { return schedule };
        let Some(work) = queue.take(at, turn) else { return schedule };
        let error = queue.error;
        schedule.is_running = true;
        drop(schedule);
        log::event(&format_args!("{now} ns: stream {stream}: {}", work.name()));
        let outcome = catch_unwind(AssertUnwindSafe(|| work.run(now, error)));
        let outcome =
            outcome.unwrap_or_else(|_| Err(log::refusal(synStatus::synFail, "work on a stream panicked")));
        // Memory that it kept is given back before anybody hears that it is done.
        drop(work);
        let mut schedule = self.schedule();
        schedule.is_running = false;
        if let Some(queue) = schedule.queues.get_mut(&stream) {
            queue.end(outcome.err());
        }
        self.changed.notify_all();
        schedule
    }
}
