//! Host memory that a card can reach.

#![allow(unsafe_code, reason = "host memory is known by its address")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use habana_sys::synStatus;

use super::buffer::Buffer;
use crate::lock::lock;
use crate::log;
use crate::outcome::Outcome;

/// A piece of host memory.
struct Block {
    address: usize,
    bytes: usize,
    /// `None` where the caller's own memory is mapped.
    _owned: Option<Buffer>,
    /// Work that still uses it.
    uses: Mutex<usize>,
}

/// Some mapped host bytes, in use until dropped.
pub(crate) struct HostRegion {
    block: Arc<Block>,
    address: usize,
    bytes: usize,
}

impl HostRegion {
    /// Copies the bytes to `target`, which has as many.
    pub(crate) fn read(&self, target: &mut [u8]) {
        let bytes = self.bytes.min(target.len());
        let source = std::ptr::with_exposed_provenance::<u8>(self.address);
        // SAFETY: the range lies in memory that was allocated here or that the caller maps until `synHostUnmap`,
        // which waits for this region to be dropped. Device memory, the target, is never part of it.
        unsafe { source.copy_to_nonoverlapping(target.as_mut_ptr(), bytes) };
    }

    /// Copies `source` here, as many bytes as there are.
    pub(crate) fn write(&self, source: &[u8]) {
        let bytes = self.bytes.min(source.len());
        let target = std::ptr::with_exposed_provenance_mut::<u8>(self.address);
        // SAFETY: as in `read`; that the caller does not use it meanwhile is the contract of an asynchronous copy.
        unsafe { target.copy_from_nonoverlapping(source.as_ptr(), bytes) };
    }
}

impl Drop for HostRegion {
    fn drop(&mut self) {
        *lock(&self.block.uses) -= 1;
    }
}

/// The mapped host memory of a card.
#[derive(Default)]
pub(crate) struct HostMemory {
    blocks: BTreeMap<usize, Arc<Block>>,
}

impl HostMemory {
    /// The address of `bytes` new bytes, else `synOutOfHostMemory`.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Outcome<*mut u8> {
        let buffer = Buffer::new(bytes).ok_or(synStatus::synOutOfHostMemory)?;
        let pointer = buffer.as_ptr();
        self.insert(pointer.expose_provenance(), bytes, Some(buffer))?;
        Ok(pointer)
    }

    pub(crate) fn map(&mut self, address: usize, bytes: usize) -> Outcome {
        self.insert(address, bytes, None)
    }

    fn insert(&mut self, address: usize, bytes: usize, owned: Option<Buffer>) -> Outcome {
        if bytes == 0 || address.checked_add(bytes).is_none() || self.blocks.contains_key(&address) {
            return Err(synStatus::synInvalidArgument);
        }
        let block = Block { address, bytes, _owned: owned, uses: Mutex::new(0) };
        self.blocks.insert(address, Arc::new(block));
        Ok(())
    }

    /// Forgets memory of this library (`owned`) or of the caller. What comes back tells whether work uses it.
    pub(crate) fn remove(&mut self, address: usize, owned: bool) -> Outcome<Removed> {
        match self.blocks.get(&address) {
            Some(block) if block._owned.is_some() == owned => {}
            _ if owned => return Err(synStatus::synInvalidArgument),
            _ => return Err(synStatus::synMappingNotFound),
        }
        self.blocks.remove(&address).map(Removed).ok_or(synStatus::synMappingNotFound)
    }

    /// What lies at a host address, else `synMappingNotFound`.
    pub(crate) fn resolve(&self, address: u64, bytes: u64) -> Outcome<HostRegion> {
        let find = || {
            let start = usize::try_from(address).ok()?;
            let bytes = usize::try_from(bytes).ok()?;
            let end = start.checked_add(bytes)?;
            let (_, block) = self.blocks.range(..=start).next_back()?;
            (start < block.address + block.bytes && end <= block.address + block.bytes).then(|| {
                *lock(&block.uses) += 1;
                HostRegion { block: Arc::clone(block), address: start, bytes }
            })
        };
        find().ok_or_else(|| {
            let reason = format!("{bytes} host bytes at {address:#x} are not mapped");
            log::refusal(synStatus::synMappingNotFound, reason)
        })
    }
}

/// Host memory that is no longer mapped.
pub(crate) struct Removed(Arc<Block>);

impl Removed {
    /// Whether work still uses it.
    pub(crate) fn is_used(&self) -> bool {
        *lock(&self.0.uses) > 0
    }
}
