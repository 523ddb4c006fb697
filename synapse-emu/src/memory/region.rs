//! Views of device memory.

#![allow(unsafe_code, reason = "slices of memory that is reached by address")]

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use super::buffer::Buffer;
use crate::lock::lock;

/// A piece of device memory that was asked for.
pub(crate) struct Allocation {
    address: u64,
    bytes: u64,
    buffer: Buffer,
    /// Held by whoever reads or writes the buffer.
    access: Mutex<()>,
}

impl Allocation {
    pub(super) fn new(address: u64, bytes: u64, buffer: Buffer) -> Self {
        Self { address, bytes, buffer, access: Mutex::new(()) }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes
    }
}

/// Some bytes of an allocation, which it keeps alive.
#[derive(Clone)]
pub(crate) struct Region {
    allocation: Arc<Allocation>,
    range: Range<usize>,
}

impl Region {
    /// `None` where the allocation is smaller.
    pub(super) fn new(allocation: Arc<Allocation>, offset: u64, bytes: u64) -> Option<Self> {
        let end = offset.checked_add(bytes).filter(|&end| end <= allocation.bytes)?;
        let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
        Some(Self { allocation, range })
    }

    /// A part of this one; `None` beyond its end.
    pub(crate) fn part(&self, offset: u64, bytes: u64) -> Option<Self> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.bytes() as u64)?;
        let start = self.range.start + usize::try_from(offset).ok()?;
        let end = self.range.start + usize::try_from(end).ok()?;
        Some(Self { allocation: Arc::clone(&self.allocation), range: start..end })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.range.len()
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.allocation, &other.allocation) && self.range == other.range
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.allocation, &other.allocation)
            && self.range.start < other.range.end
            && other.range.start < self.range.end
    }

    fn pointer(&self) -> *mut u8 {
        // SAFETY: `new` and `part` keep the range within the allocation's buffer.
        unsafe { self.allocation.buffer.as_ptr().add(self.range.start) }
    }
}

/// Bytes to read, and bytes to write.
pub(crate) type Views<'a> = (Vec<&'a [u8]>, Vec<&'a mut [u8]>);

/// Sole access to the allocations of some regions.
pub(crate) struct Locked<'a> {
    allocations: Vec<&'a Arc<Allocation>>,
    _guards: Vec<MutexGuard<'a, ()>>,
}

impl<'a> Locked<'a> {
    /// Waits for whoever uses them now.
    pub(crate) fn new(regions: impl IntoIterator<Item = &'a Region>) -> Self {
        let mut allocations: Vec<_> = regions.into_iter().map(|region| &region.allocation).collect();
        // One order for everybody, so that nobody waits in a circle. Two cards may have the same addresses.
        allocations.sort_unstable_by_key(|allocation| Arc::as_ptr(allocation));
        allocations.dedup_by_key(|allocation| Arc::as_ptr(allocation));
        let guards = allocations.iter().map(|allocation| lock(&allocation.access)).collect();
        Self { allocations, _guards: guards }
    }

    fn holds(&self, region: &Region) -> bool {
        self.allocations.iter().any(|allocation| Arc::ptr_eq(allocation, &region.allocation))
    }

    /// The bytes of regions to read and to write. `None` where one to write overlaps another, or one is not locked.
    pub(crate) fn views<'b>(&'b mut self, reads: &[&'b Region], writes: &[&'b Region]) -> Option<Views<'b>> {
        let all_held = reads.iter().chain(writes).all(|region| self.holds(region));
        let overlapping = writes
            .iter()
            .enumerate()
            .any(|(index, write)| writes[index + 1..].iter().chain(reads).any(|other| write.overlaps(other)));
        if !all_held || overlapping {
            return None;
        }
        let reads = reads
            .iter()
            // SAFETY: the range is inside the buffer, which `region` keeps for `'b`. `self` is borrowed for `'b` and
            // holds the allocation's lock, so that nobody else reaches it, and no view to write overlaps this one.
            .map(|region| unsafe { std::slice::from_raw_parts(region.pointer(), region.bytes()) })
            .collect();
        let writes = writes
            .iter()
            // SAFETY: as above; no other view overlaps this one.
            .map(|region| unsafe { std::slice::from_raw_parts_mut(region.pointer(), region.bytes()) })
            .collect();
        Some((reads, writes))
    }
}
