//! Buffers that operands and results pass through.

use std::sync::Arc;

use crate::device::hpu::error::HpuError;
use crate::device::hpu::synapse::{AcquiredDevice, DeviceMemory, HostMemory};

/// A pair of buffers of one size: pinned memory of the host, and memory of the device.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) host: HostMemory,
    pub(super) memory: DeviceMemory,
}

impl Buffers {
    /// Buffers of `bytes`.
    pub(super) fn allocate(
        device: &Arc<AcquiredDevice>,
        what: &'static str,
        bytes: usize,
    ) -> Result<Self, HpuError> {
        let failed = |failure| HpuError::of_allocation(what, bytes, failure);
        Ok(Self {
            host: HostMemory::allocate(device, bytes).map_err(failed)?,
            memory: DeviceMemory::allocate(device, bytes).map_err(failed)?,
        })
    }

    /// Replaces buffers that are shorter than `bytes`; what they held is lost.
    pub(super) fn grow(
        &mut self,
        device: &Arc<AcquiredDevice>,
        what: &'static str,
        bytes: usize,
    ) -> Result<(), HpuError> {
        if bytes > self.memory.len() {
            *self = Self::allocate(device, what, bytes.next_power_of_two())?;
        }
        Ok(())
    }
}
