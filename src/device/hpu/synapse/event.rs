//! An event: a mark in a stream.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::sync::Arc;

use habana_sys::{synEventHandle, synStatus};

use super::device::AcquiredDevice;
use super::stream::Stream;
use crate::device::hpu::error::CallFailure;

/// An event of a device.
#[derive(Debug)]
pub(crate) struct Event {
    device: Arc<AcquiredDevice>,
    handle: synEventHandle,
}

// SAFETY: the handle names an object of the library, which may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    pub(crate) fn create(device: &Arc<AcquiredDevice>) -> Result<Self, CallFailure> {
        let api = device.api();
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is valid for a write, and the device is acquired.
        let status = unsafe { (api.functions().synEventCreate)(&raw mut handle, device.id(), 0) };
        api.check("synEventCreate", status, String::new)?;
        Ok(Self { device: Arc::clone(device), handle })
    }

    /// Marks the end of what the stream has been given so far.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), CallFailure> {
        let api = self.device.api();
        // SAFETY: both exist.
        let status = unsafe { (api.functions().synEventRecord)(self.handle, stream.handle()) };
        api.check("synEventRecord", status, String::new)
    }

    /// Whether the stream has come to the mark.
    pub(crate) fn is_reached(&self) -> Result<bool, CallFailure> {
        let api = self.device.api();
        // SAFETY: the event exists.
        let status = unsafe { (api.functions().synEventQuery)(self.handle) };
        if status == synStatus::synBusy {
            return Ok(false);
        }
        api.check("synEventQuery", status, String::new)?;
        Ok(true)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let api = self.device.api();
        // SAFETY: the event was created by this value and is not used again.
        let status = unsafe { (api.functions().synEventDestroy)(self.handle) };
        api.note(api.check("synEventDestroy", status, String::new));
    }
}
