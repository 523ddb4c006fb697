//! How long work takes on the virtual clock, drawn from the seed.

use std::time::Duration;

use super::work::Work;
use crate::fault::Lateness;
use crate::random::Random;

/// What a copy, a fill or a launch takes at least.
const LEAST_NANOS: u64 = 1_000;
/// What a launch takes at least.
const LAUNCH_NANOS: u64 = 4_000;
/// What copies and fills move in a nanosecond.
const BYTES_A_NANO: u64 = 1_000;
/// Work takes its least time times a power of two of up to this: streams get far ahead of each other.
const MOST_DOUBLINGS: u64 = 6;
/// What the host needs between submissions is below a power of two of up to these nanoseconds: the first for every
/// seed, the second for the slowest.
const FEWEST_PAUSE_DOUBLINGS: u64 = 4;
const MOST_PAUSE_DOUBLINGS: u64 = 16;

/// The draws of a simulation.
pub(super) struct Timing {
    random: Random,
    lateness: Lateness,
    /// How slow this host is.
    pause_doublings: u64,
}

impl Timing {
    pub(super) fn new(seed: u64, lateness: Lateness) -> Self {
        let mut random = Random::new(seed);
        let more = random.below(MOST_PAUSE_DOUBLINGS - FEWEST_PAUSE_DOUBLINGS + 1);
        Self { random, lateness, pause_doublings: FEWEST_PAUSE_DOUBLINGS + more }
    }

    /// What a piece of work takes.
    pub(super) fn duration(&mut self, work: &Work) -> u64 {
        let least = match work {
            Work::Record(_) | Work::Wait(_) => return 0,
            Work::Launch(_) => LAUNCH_NANOS,
            _ => LEAST_NANOS + work.bytes() / BYTES_A_NANO,
        };
        let doubled = least.saturating_mul(1 << self.random.below(MOST_DOUBLINGS));
        doubled.saturating_add(self.random.below(doubled))
    }

    /// How long after it was reported as done a piece of work lands: `None` for at once, the largest number for never.
    pub(super) fn lag(&mut self, work: &Work) -> Option<u64> {
        let lateness = work.lateness(&self.lateness);
        if lateness == Duration::ZERO {
            return None;
        }
        let nanos = u64::try_from(lateness.as_nanos()).unwrap_or(u64::MAX);
        Some(nanos.saturating_add(self.random.below(nanos / 4)))
    }

    /// What the host needs until its next call.
    pub(super) fn pause(&mut self) -> u64 {
        let doublings = self.random.below(self.pause_doublings + 1);
        self.random.below(1 << doublings)
    }

    /// How many events a question waits for at most.
    pub(super) fn patience(&mut self) -> u64 {
        1 << self.random.below(MOST_DOUBLINGS + 1)
    }
}
