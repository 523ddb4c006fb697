use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use habana_sys::synStatus;

use super::{Card, Work};
use crate::Outcome;
use crate::fault::Lateness;
use crate::log;
use crate::state::lock;

/// The id of the next stream.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// What a stream has to do.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    /// Reported as done, and still to be done: only with a fault that asks for it.
    late: VecDeque<(Instant, Work)>,
    is_running: bool,
    is_closing: bool,
    error: Option<synStatus>,
}

impl Queue {
    fn is_busy(&self) -> bool {
        self.is_running || !self.waiting.is_empty()
    }
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    lateness: Lateness,
}

/// A queue of work and the thread that does it, in order.
pub(crate) struct Stream {
    id: u64,
    card: Arc<Card>,
    affinity: AtomicU64,
    shared: Arc<Shared>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

impl Stream {
    /// `synOutOfResources` where the host has no thread left.
    pub(crate) fn new(card: Arc<Card>, lateness: Lateness) -> Outcome<Self> {
        let shared = Arc::new(Shared { queue: Mutex::default(), changed: Condvar::new(), lateness });
        let worker = std::thread::Builder::new()
            .name("synapse-emu stream".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.work()
            })
            .map_err(|_| synStatus::synOutOfResources)?;
        let affinity = AtomicU64::new(card.next_affinity());
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, card, affinity, shared, worker: Mutex::new(Some(worker)) })
    }

    /// No two streams of the process have the same.
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
        let mut queue = lock(&self.shared.queue);
        if queue.is_closing {
            return Err(synStatus::synFail);
        }
        queue.waiting.extend(work);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// `synBusy` while there is work to do.
    pub(crate) fn query(&self) -> Outcome {
        if lock(&self.shared.queue).is_busy() { Err(synStatus::synBusy) } else { Ok(()) }
    }

    /// Waits until all work is done. The first error of that work comes back, once.
    pub(crate) fn synchronize(&self) -> Outcome {
        let mut queue = lock(&self.shared.queue);
        while queue.is_busy() {
            queue = self.shared.wait(queue);
        }
        queue.error.take().map_or(Ok(()), Err)
    }

    /// Closes it if it is idle, else `synBusy`.
    pub(crate) fn close_if_idle(&self) -> Outcome {
        {
            let mut queue = lock(&self.shared.queue);
            if queue.is_busy() {
                return Err(synStatus::synBusy);
            }
            queue.is_closing = true;
        }
        self.close();
        Ok(())
    }

    /// Does what is left and ends the thread.
    pub(crate) fn close(&self) {
        lock(&self.shared.queue).is_closing = true;
        self.shared.changed.notify_all();
        let worker = lock(&self.worker).take();
        if let Some(worker) = worker {
            // The thread catches panics of its work.
            let _ = worker.join();
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: takes work until the stream is closed and nothing is left.
    fn work(&self) {
        let mut queue = lock(&self.queue);
        loop {
            let now = Instant::now();
            let is_last = queue.is_closing && queue.waiting.is_empty();
            if queue.late.front().is_some_and(|&(due, _)| due <= now || is_last) {
                if let Some((_, work)) = queue.late.pop_front() {
                    queue = self.run(queue, work);
                }
            } else if let Some(work) = queue.waiting.pop_front() {
                let lateness = work.lateness(&self.lateness);
                if lateness.is_zero() {
                    queue.is_running = true;
                    queue = self.run(queue, work);
                    queue.is_running = false;
                } else {
                    queue.late.push_back((now + lateness, work));
                }
                self.changed.notify_all();
            } else if let Some(&(due, _)) = queue.late.front() {
                let waited = self.changed.wait_timeout(queue, due - now);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else if queue.is_closing {
                return;
            } else {
                queue = self.wait(queue);
            }
        }
    }

    /// Does one piece of work without the lock.
    fn run<'a>(&'a self, queue: MutexGuard<'a, Queue>, work: Work) -> MutexGuard<'a, Queue> {
        let error = queue.error;
        drop(queue);
        let outcome = catch_unwind(AssertUnwindSafe(|| work.run(error)));
        let outcome =
            outcome.unwrap_or_else(|_| Err(log::refusal(synStatus::synFail, "work on a stream panicked")));
        // Memory that it kept is given back before anybody hears that it is done.
        drop(work);
        let mut queue = lock(&self.queue);
        if let Err(status) = outcome {
            queue.error.get_or_insert(status);
        }
        queue
    }
}
