//! Streams: copies, fills and launches, in order.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::sync::Arc;

use habana_sys::{synDmaDir, synStreamHandle};

use super::device::AcquiredDevice;
use super::host_memory::HostMemory;
use super::memory::DeviceMemory;
use super::recipe::{LaunchTensor, Recipe};
use crate::device::hpu::error::CallFailure;

/// A stream of a device.
#[derive(Debug)]
pub(crate) struct Stream {
    device: Arc<AcquiredDevice>,
    handle: synStreamHandle,
}

// SAFETY: the handle names an object of the library, which may be used from any thread.
unsafe impl Send for Stream {}

impl Stream {
    pub(crate) fn create(device: &Arc<AcquiredDevice>) -> Result<Self, CallFailure> {
        let api = device.api();
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is valid for a write, and the device is acquired.
        let status = unsafe { (api.functions().synStreamCreateGeneric)(&raw mut handle, device.id(), 0) };
        api.check("synStreamCreateGeneric", status, String::new)?;
        Ok(Self { device: Arc::clone(device), handle })
    }

    pub(super) fn handle(&self) -> synStreamHandle {
        self.handle
    }

    fn copy(&self, from: u64, bytes: usize, to: u64, direction: synDmaDir) -> Result<(), CallFailure> {
        let api = self.device.api();
        // SAFETY: callers pass ranges inside of memory that they own, and that outlives the copy: buffers are given back
        // only after the stream is done with them.
        let status =
            unsafe { (api.functions().synMemCopyAsync)(self.handle, from, bytes as u64, to, direction) };
        api.check("synMemCopyAsync", status, || format!("{bytes} bytes, direction {}", direction.0))
    }

    /// Copies the first `bytes` of host memory to device memory.
    ///
    /// # Panics
    /// One of the two is shorter.
    pub(crate) fn upload(
        &self,
        from: &HostMemory,
        bytes: usize,
        (to, offset): (&DeviceMemory, usize),
    ) -> Result<(), CallFailure> {
        assert!(bytes <= from.len() && offset + bytes <= to.len(), "a copy within its buffers");
        self.copy(from.address(), bytes, to.address() + offset as u64, synDmaDir::HOST_TO_DRAM)
    }

    /// Copies device memory to the first `bytes` of host memory.
    ///
    /// # Panics
    /// One of the two is shorter.
    pub(crate) fn download(
        &self,
        (from, offset): (&DeviceMemory, usize),
        bytes: usize,
        to: &HostMemory,
    ) -> Result<(), CallFailure> {
        assert!(bytes <= to.len() && offset + bytes <= from.len(), "a copy within its buffers");
        self.copy(from.address() + offset as u64, bytes, to.address(), synDmaDir::DRAM_TO_HOST)
    }

    /// Fills the first `words` 32-bit words of device memory.
    ///
    /// # Panics
    /// The memory is shorter.
    pub(crate) fn fill(&self, memory: &DeviceMemory, word: u32, words: usize) -> Result<(), CallFailure> {
        assert!(words * 4 <= memory.len(), "a fill within its buffer");
        let api = self.device.api();
        // SAFETY: the range lies in memory that outlives the fill.
        let status =
            unsafe { (api.functions().synMemsetD32Async)(memory.address(), word, words as u64, self.handle) };
        api.check("synMemsetD32Async", status, || format!("{words} words"))
    }

    /// Runs a recipe.
    pub(crate) fn launch(
        &self,
        recipe: &Recipe,
        tensors: &[LaunchTensor],
        workspace: &DeviceMemory,
    ) -> Result<(), CallFailure> {
        let api = self.device.api();
        let infos: Vec<_> = tensors.iter().map(LaunchTensor::info).collect();
        // SAFETY: the infos and the names that they point to live until the call returns, which copies them; the memory
        // that they name outlives the launch.
        let status = unsafe {
            (api.functions().synLaunch)(
                self.handle,
                infos.as_ptr(),
                infos.len() as u32,
                workspace.address(),
                recipe.handle(),
                0,
            )
        };
        api.check("synLaunch", status, || format!("recipe {}", recipe.name()))
    }

    /// Waits for all work of the stream. It may come back before data has landed.
    pub(crate) fn synchronize(&self) -> Result<(), CallFailure> {
        let api = self.device.api();
        // SAFETY: the stream exists.
        let status = unsafe { (api.functions().synStreamSynchronize)(self.handle) };
        api.check("synStreamSynchronize", status, String::new)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let api = self.device.api();
        // A stream with work left refuses to go.
        api.note(self.synchronize());
        // SAFETY: the stream was created by this value and is not used again.
        let status = unsafe { (api.functions().synStreamDestroy)(self.handle) };
        api.note(api.check("synStreamDestroy", status, String::new));
    }
}
