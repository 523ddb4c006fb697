//! Cache planes in memory of the caller.

use std::ffi::c_void;
use std::fmt::Debug;

use half::bf16;
use kv::cache::CacheError;
use kv::device::emulated::{EmulatedPlane, LentMemory, PlaneMemory};
use kv::device::{PlaneLayout, StorageDtype};

use crate::failure::Failure;

/// Memory of the caller that a plane is to lie in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lent {
    what: &'static str,
    pointer: *mut c_void,
    bytes: usize,
}

impl Lent {
    /// # Errors
    /// It is null, or not aligned for the elements.
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

    /// The bytes, for checks of overlaps.
    pub(crate) fn range(&self) -> (&'static str, (usize, usize)) {
        (self.what, (self.pointer.addr(), self.bytes))
    }

    /// A plane in it.
    ///
    /// # Errors
    /// The layout has another size.
    pub(crate) fn plane(self, layout: &PlaneLayout) -> Result<EmulatedPlane, CacheError> {
        let len = self.bytes / layout.dtype.bytes();
        let plane = match layout.dtype {
            StorageDtype::Fp8 => {
                EmulatedPlane::Fp8(PlaneMemory::Lent(Box::new(Elements::<u8>::of(self.pointer, len))))
            }
            StorageDtype::Bf16 => {
                EmulatedPlane::Bf16(PlaneMemory::Lent(Box::new(Elements::<bf16>::of(self.pointer, len))))
            }
            StorageDtype::F32 => {
                EmulatedPlane::F32(PlaneMemory::Lent(Box::new(Elements::<f32>::of(self.pointer, len))))
            }
        };
        Ok(plane.checked(layout)?)
    }
}

/// Elements in memory of the caller.
#[derive(Debug)]
struct Elements<T> {
    first: *mut T,
    len: usize,
}

impl<T> Elements<T> {
    fn of(pointer: *mut c_void, len: usize) -> Self {
        Self { first: pointer.cast(), len }
    }
}

// SAFETY: the memory belongs to no thread; whoever lent it answers for who uses it when.
unsafe impl<T: Send> Send for Elements<T> {}
// SAFETY: a shared reference only reads.
unsafe impl<T: Sync> Sync for Elements<T> {}

impl<T: Debug + Send + Sync> LentMemory<T> for Elements<T> {
    fn elements(&self) -> &[T] {
        // SAFETY: `Lent::of` found the pointer not null and aligned, and its caller says that as many bytes can be
        // read there until the cache is freed. Only the cache writes to them, through `elements_mut` and its own lock.
        // `T` is u8, bf16 or f32, of which any bits are a value.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }

    fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the exclusive reference keeps every other use by this library away.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.len) }
    }
}
