//! The memory that the elements of a plane are in: the plane's own, or somebody else's.
#![allow(unsafe_code, reason = "elements may be in memory that Rust does not own")]

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// The elements of a plane.
#[derive(Debug)]
pub(super) enum PlaneMemory<T> {
    /// Freed with the plane.
    Owned(Vec<T>),
    /// Memory of an engine, such as a tensor's.
    Foreign(ForeignElements<T>),
}

/// Where elements are that somebody else owns.
#[derive(Debug)]
pub(super) struct ForeignElements<T> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: the elements belong to no thread. Who may use them when is what the caller of `PlaneMemory::foreign` promises, and
// a `&mut` from one thread to another is as good as the elements themselves.
unsafe impl<T: Send> Send for ForeignElements<T> {}
// SAFETY: a shared reference only reads.
unsafe impl<T: Sync> Sync for ForeignElements<T> {}

impl<T> PlaneMemory<T> {
    /// `len` elements at `address`; `None` where it is null or not aligned.
    ///
    /// # Safety
    /// Any bits are a `T`. While a reference to the elements lives, `len` of them can be read at `address`, and nobody else
    /// changes them; while one that can change them lives, they can be written too, and nobody else reads them.
    pub(super) unsafe fn foreign(address: *mut u8, len: usize) -> Option<Self> {
        let first = NonNull::new(address.cast::<T>()).filter(|first| first.is_aligned())?;
        Some(Self::Foreign(ForeignElements { first, len }))
    }
}

impl<T> Deref for PlaneMemory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(elements) => elements,
            // SAFETY: `foreign`, which alone makes these, found the address aligned and not null; the rest is what its caller
            // promises.
            Self::Foreign(ForeignElements { first, len }) => unsafe {
                std::slice::from_raw_parts(first.as_ptr(), *len)
            },
        }
    }
}

impl<T> DerefMut for PlaneMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Owned(elements) => elements,
            // SAFETY: `foreign`, which alone makes these, found the address aligned and not null; the rest is what its caller
            // promises, and `self` is borrowed alone as long as the slice.
            Self::Foreign(ForeignElements { first, len }) => unsafe {
                std::slice::from_raw_parts_mut(first.as_ptr(), *len)
            },
        }
    }
}
