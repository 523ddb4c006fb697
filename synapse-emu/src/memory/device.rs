//! Device memory by address.

use std::collections::BTreeMap;
use std::sync::Arc;

use habana_sys::synStatus;

use super::buffer::Buffer;
use super::region::{Allocation, Region};
use crate::log;
use crate::outcome::Outcome;

/// Where a card's memory starts in its own address space.
pub(crate) const DRAM_BASE: u64 = 0x1001_0000_0000_0000;

/// The device memory of a card: first fit.
pub(crate) struct DeviceMemory {
    total_bytes: u64,
    alignment: u64,
    used_bytes: u64,
    allocations: BTreeMap<u64, Arc<Allocation>>,
}

impl DeviceMemory {
    pub(crate) fn new(total_bytes: u64, alignment: u64) -> Self {
        Self { total_bytes, alignment, used_bytes: 0, allocations: BTreeMap::new() }
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.total_bytes - self.used_bytes
    }

    /// The address of `bytes` new bytes: `requested` unless that is 0.
    pub(crate) fn allocate(&mut self, bytes: u64, requested: u64) -> Outcome<u64> {
        if bytes == 0 || !requested.is_multiple_of(self.alignment) {
            return Err(synStatus::synInvalidArgument);
        }
        let bytes = bytes.checked_next_multiple_of(self.alignment).ok_or(synStatus::synOutOfDeviceMemory)?;
        let address = self.place(bytes, requested).ok_or_else(|| {
            log::refusal(
                synStatus::synOutOfDeviceMemory,
                format_args!("{bytes} bytes asked for, {} of {} free", self.free_bytes(), self.total_bytes),
            )
        })?;
        let buffer = usize::try_from(bytes)
            .ok()
            .and_then(Buffer::new)
            .ok_or_else(|| log::refusal(synStatus::synOutOfDeviceMemory, "the host has no memory left"))?;
        self.allocations.insert(address, Arc::new(Allocation::new(address, bytes, buffer)));
        self.used_bytes += bytes;
        Ok(address)
    }

    fn place(&self, bytes: u64, requested: u64) -> Option<u64> {
        let end = DRAM_BASE + self.total_bytes;
        let fits = |from: u64, to: u64| {
            let start = if requested == 0 { from } else { requested };
            let stop = start.checked_add(bytes)?;
            (start >= from && stop <= to).then_some(start)
        };
        let mut free_from = DRAM_BASE;
        for allocation in self.allocations.values() {
            if let Some(start) = fits(free_from, allocation.range().start) {
                return Some(start);
            }
            free_from = allocation.range().end;
        }
        fits(free_from, end)
    }

    /// Gives an allocation back. Work that uses it keeps it until it is done.
    pub(crate) fn free(&mut self, address: u64) -> Outcome {
        let allocation = self.allocations.remove(&address).ok_or(synStatus::synInvalidArgument)?;
        self.used_bytes -= allocation.bytes();
        Ok(())
    }

    /// What lies at an address: within one allocation, else `synInvalidArgument`.
    pub(crate) fn resolve(&self, address: u64, bytes: u64) -> Outcome<Region> {
        let found = self.allocations.range(..=address).next_back().and_then(|(_, allocation)| {
            let end = address.checked_add(bytes)?;
            (address < allocation.range().end && end <= allocation.range().end)
                .then(|| Region::new(Arc::clone(allocation), address - allocation.range().start, bytes))?
        });
        found.ok_or_else(|| {
            let reason = format_args!("{bytes} bytes at {address:#x} are not in one allocation").to_string();
            log::refusal(synStatus::synInvalidArgument, reason)
        })
    }
}
