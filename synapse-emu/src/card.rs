//! Cards and what is on them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gaudi_numerics::Generation;
use habana_sys::synStatus;

use crate::config::Config;
use crate::fault::Faults;
use crate::generation::alignment_bytes;
use crate::memory::device::DeviceMemory;
use crate::memory::host::HostMemory;
use crate::outcome::Outcome;

/// The number of affinities that streams are spread over.
pub(crate) const AFFINITIES: u64 = 4;

/// An acquired card.
pub(crate) struct Card {
    module: usize,
    generation: Generation,
    pub(crate) memory: Mutex<DeviceMemory>,
    pub(crate) host: Mutex<HostMemory>,
    lost: AtomicBool,
    next_affinity: AtomicU64,
}

impl Card {
    pub(crate) fn new(module: usize, config: &Config) -> Self {
        let memory = DeviceMemory::new(config.memory_bytes, alignment_bytes(config.generation));
        Self {
            module,
            generation: config.generation,
            memory: Mutex::new(memory),
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
