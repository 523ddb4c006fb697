//! A host that makes no call: its work goes on.
//!
//! A program may look at memory that is copied to, and call nothing meanwhile. So a thread does what there is to do once
//! the host has been silent for a while, as long a while as no program needs between two calls that belong together.

use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use habana_sys::synStatus;

use super::scheduler::Scheduler;
use crate::outcome::Outcome;

/// The thread that takes over from a silent host.
pub(crate) struct Watch {
    scheduler: Arc<Scheduler>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Takes over after `silence`; never where that is the longest duration. `synOutOfResources` where the system has no
    /// thread left.
    pub(crate) fn new(scheduler: Arc<Scheduler>, silence: Duration) -> Outcome<Self> {
        let thread = if silence == Duration::MAX {
            None
        } else {
            let watched = Arc::clone(&scheduler);
            let thread = std::thread::Builder::new().name("synapse-emu watch".to_owned());
            let thread = thread.spawn(move || watch(&watched, silence));
            Some(thread.map_err(|_| synStatus::synOutOfResources)?)
        };
        Ok(Self { scheduler, thread })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.scheduler.schedule().has_ended = true;
        self.scheduler.awaited.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread catches panics of its work.
            let _ = thread.join();
        }
    }
}

fn watch(scheduler: &Scheduler, silence: Duration) {
    let mut schedule = scheduler.schedule();
    while !schedule.has_ended {
        if schedule.next().is_none() {
            schedule = scheduler.awaited.wait(schedule).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let calls = schedule.calls;
        let waited = scheduler.awaited.wait_timeout_while(schedule, silence, |schedule| !schedule.has_ended);
        schedule = waited.unwrap_or_else(PoisonError::into_inner).0;
        while schedule.calls == calls
            && !schedule.has_ended
            && !schedule.is_running
            && let Some(event) = schedule.next()
        {
            schedule = scheduler.happen(schedule, event);
        }
    }
}
