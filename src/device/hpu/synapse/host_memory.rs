//! Pinned memory of the host, which the device copies to and from.

#![allow(unsafe_code, reason = "calls into a C library, and memory that a device writes")]

use std::ffi::c_void;
use std::sync::Arc;

use super::device::AcquiredDevice;
use crate::device::hpu::error::CallFailure;

/// A range of pinned memory. A device may be writing to it, so it is never lent as a slice: bytes are copied in and out.
#[derive(Debug)]
pub(crate) struct HostMemory {
    device: Arc<AcquiredDevice>,
    pointer: *mut c_void,
    len: usize,
}

// SAFETY: the range belongs to this value alone, and the library may be called from any thread.
unsafe impl Send for HostMemory {}

impl HostMemory {
    /// Allocates `bytes` of pinned memory. What it holds is undefined until it is filled.
    pub(crate) fn allocate(device: &Arc<AcquiredDevice>, bytes: usize) -> Result<Self, CallFailure> {
        let api = device.api();
        let mut pointer = std::ptr::null_mut();
        // SAFETY: `pointer` is valid for a write, and the device is acquired.
        let status =
            unsafe { (api.functions().synHostMalloc)(device.id(), bytes as u64, 0, &raw mut pointer) };
        api.check("synHostMalloc", status, || format!("{bytes} bytes"))?;
        Ok(Self { device: Arc::clone(device), pointer, len: bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn address(&self) -> u64 {
        self.pointer as u64
    }

    /// Fills the first `len` bytes with a word, over and over.
    ///
    /// # Panics
    /// The memory is shorter.
    pub(crate) fn fill(&mut self, word: u16, len: usize) {
        self.write(0, &word.to_le_bytes().repeat(len.div_ceil(2))[..len]);
    }

    /// Copies bytes in, at `offset`.
    ///
    /// # Panics
    /// The bytes do not fit.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.len, "a write within its buffer");
        // SAFETY: the range is inside of the allocation, which no slice overlaps.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.pointer.cast::<u8>().add(offset), bytes.len());
        }
    }

    /// Copies the first bytes out, as they are now.
    ///
    /// # Panics
    /// The memory is shorter.
    pub(crate) fn read(&self, bytes: &mut [u8]) {
        assert!(bytes.len() <= self.len, "a read within its buffer");
        // SAFETY: the range is inside of the allocation, which no slice overlaps. A device that still writes to it gives
        // bytes that are old or new, which is what callers look for; the fence keeps the reads behind what told them to.
        unsafe {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            std::ptr::copy_nonoverlapping(self.pointer.cast::<u8>(), bytes.as_mut_ptr(), bytes.len());
        }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let api = self.device.api();
        // SAFETY: the range was allocated by this value and is not used again.
        let status = unsafe { (api.functions().synHostFree)(self.device.id(), self.pointer, 0) };
        api.note(api.check("synHostFree", status, || format!("{} bytes", self.len)));
    }
}
