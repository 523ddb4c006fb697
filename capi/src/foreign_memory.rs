//! Cache planes in memory of the caller.

use std::ffi::c_void;

use kv::cache::CacheError;
use kv::device::emulated::EmulatedPlane;
use kv::device::{AnyPlane, PlaneLayout, StorageDtype};

use crate::failure::Failure;

/// Memory of the caller that a plane is to lie in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForeignMemory {
    what: &'static str,
    pointer: *mut c_void,
    bytes: usize,
}

impl ForeignMemory {
    /// Takes memory for a plane of elements stored as `dtype`.
    ///
    /// # Errors
    /// The memory is null, not aligned to its elements, or no whole number of them.
    ///
    /// # Safety
    /// `bytes` bytes can be read and written there, by this library alone while a call runs, until the cache is freed.
    pub(crate) unsafe fn of(
        what: &'static str,
        pointer: *mut c_void,
        bytes: usize,
        dtype: StorageDtype,
    ) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Err(Failure::argument(format!("{what} is null, but other memory of the cache is not")));
        }
        if !pointer.addr().is_multiple_of(dtype.bytes()) {
            return Err(Failure::argument(format!("{what} is not aligned to its elements")));
        }
        if isize::try_from(bytes).is_err() {
            return Err(Failure::shape(format!(
                "{what} has {bytes} bytes, which do not fit the address space"
            )));
        }
        if !bytes.is_multiple_of(dtype.bytes()) {
            return Err(Failure::shape(format!("{what} has {bytes} bytes, which are no whole elements")));
        }
        Ok(Self { what, pointer, bytes })
    }

    /// The name and the bytes of the memory, for checks of overlaps.
    pub(crate) fn range(&self) -> (&'static str, (usize, usize)) {
        (self.what, (self.pointer.addr(), self.bytes))
    }

    /// A plane in this memory.
    ///
    /// # Errors
    /// The layout has another size.
    pub(crate) fn plane(self, layout: &PlaneLayout) -> Result<AnyPlane, CacheError> {
        // SAFETY: who called `of` promised that this library alone uses the memory while a call runs, until the cache is
        // freed, and a cache is changed under its own lock.
        let plane = unsafe { EmulatedPlane::from_raw(*layout, self.pointer.cast(), self.bytes) }?;
        Ok(AnyPlane::Emulated(plane))
    }
}
