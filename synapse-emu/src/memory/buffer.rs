//! Memory behind addresses.

#![allow(unsafe_code, reason = "memory that several threads reach by address")]

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

/// What fresh memory holds. A real card has what the last user left; nobody can rely on zeros.
const FRESH: u8 = 0xA5;
const PAGE_BYTES: usize = 4096;

/// Bytes on page boundaries that do not move.
pub(crate) struct Buffer {
    data: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a buffer owns its memory and hands out nothing but its address.
unsafe impl Send for Buffer {}
// SAFETY: as above; whoever follows the address synchronizes.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `None` where the host has no memory.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), PAGE_BYTES).ok()?;
        // SAFETY: the layout has a size above 0.
        let data = NonNull::new(unsafe { alloc(layout) })?;
        // SAFETY: `data` was allocated with this size.
        unsafe { data.as_ptr().write_bytes(FRESH, layout.size()) };
        Some(Self { data, layout })
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed once.
        unsafe { dealloc(self.data.as_ptr(), self.layout) };
    }
}
