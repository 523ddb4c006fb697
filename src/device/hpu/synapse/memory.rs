//! Memory of a device.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::sync::Arc;

use super::device::AcquiredDevice;
use crate::device::hpu::error::CallFailure;

/// A range of device memory. What it holds is undefined until it is filled.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    device: Arc<AcquiredDevice>,
    address: u64,
    len: usize,
}

impl DeviceMemory {
    pub(crate) fn allocate(device: &Arc<AcquiredDevice>, bytes: usize) -> Result<Self, CallFailure> {
        let api = device.api();
        let mut address = 0;
        // SAFETY: `address` is valid for a write, and the device is acquired.
        let status =
            unsafe { (api.functions().synDeviceMalloc)(device.id(), bytes as u64, 0, 0, &raw mut address) };
        api.check("synDeviceMalloc", status, || format!("{bytes} bytes"))?;
        Ok(Self { device: Arc::clone(device), address, len: bytes })
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let api = self.device.api();
        // SAFETY: the range was allocated by this value and is not used again.
        let status = unsafe { (api.functions().synDeviceFree)(self.device.id(), self.address, 0) };
        api.note(api.check("synDeviceFree", status, || format!("{} bytes", self.len)));
    }
}
