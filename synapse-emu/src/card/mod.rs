//! Cards: their memory, streams and events.

mod buffer;
mod event;
mod host;
mod memory;
mod region;
mod stream;
mod work;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gaudi_numerics::Generation;
use habana_sys::synStatus;

pub(crate) use event::{Event, Recording};
pub(crate) use host::HostMemory;
pub(crate) use memory::{DRAM_BASE, Memory};
pub(crate) use region::{Locked, Region};
pub(crate) use stream::Stream;
pub(crate) use work::{Pattern, Work};

use crate::Outcome;
use crate::config::{Config, alignment_bytes};
use crate::fault::Faults;

/// Streams are spread over this many affinities.
pub(crate) const AFFINITIES: u64 = 4;

/// An acquired card.
pub(crate) struct Card {
    module: usize,
    generation: Generation,
    pub(crate) memory: Mutex<Memory>,
    pub(crate) host: Mutex<HostMemory>,
    lost: AtomicBool,
    next_affinity: AtomicU64,
}

impl Card {
    pub(crate) fn new(module: usize, config: &Config) -> Self {
        Self {
            module,
            generation: config.generation,
            memory: Mutex::new(Memory::new(config.memory_bytes, alignment_bytes(config.generation))),
            host: Mutex::default(),
            lost: AtomicBool::new(false),
            next_affinity: AtomicU64::new(0),
        }
    }

    pub(crate) fn module(&self) -> usize {
        self.module
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    /// `synDeviceReset` once the card is lost.
    pub(crate) fn check(&self) -> Outcome {
        if self.lost.load(Ordering::Relaxed) { Err(synStatus::synDeviceReset) } else { Ok(()) }
    }

    /// Before work is submitted: this may be the time when the card gets lost.
    pub(crate) fn before_submission(&self, faults: &Faults) -> Outcome {
        if !faults.allows_submission() {
            self.lost.store(true, Ordering::Relaxed);
        }
        self.check()
    }

    /// The affinity mask that the next stream should have.
    pub(crate) fn next_affinity(&self) -> u64 {
        1 << (self.next_affinity.fetch_add(1, Ordering::Relaxed) % AFFINITIES)
    }
}
