#![allow(unsafe_code, reason = "slices are made from the addresses of arrays that Python owns")]
//! The memory of a call: no two calls of this module change and use the same bytes at the same time.
//!
//! A call claims the memory of all its arrays at once and waits while another call has what it needs. So Rust's rule for
//! `&mut` holds between calls of different threads, which run without the interpreter's lock. Code outside this module
//! that changes an array during a call races with it, as with any function that releases the lock; the package's
//! documentation says so.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::array::{Array, Plain};
use crate::error::Failure;

/// Bytes that a call uses.
#[derive(Debug, PartialEq)]
struct Claim {
    what: &'static str,
    bytes: Range<usize>,
    is_write: bool,
}

impl Claim {
    fn conflicts(&self, other: &Self) -> bool {
        let overlaps = self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        overlaps && (self.is_write || other.is_write)
    }
}

/// What the calls of this process hold: few calls at a time, with a handful of claims each.
#[derive(Debug)]
struct Held {
    process: u32,
    leases: Vec<Arc<[Claim]>>,
    /// Calls that wait for one of them to end.
    waiting: usize,
}

impl Held {
    fn conflicts(&self, claims: &[Claim]) -> bool {
        self.leases.iter().flat_map(|lease| lease.iter()).any(|held| claims.iter().any(|c| c.conflicts(held)))
    }
}

static HELD: Mutex<Held> = Mutex::new(Held { process: 0, leases: Vec::new(), waiting: 0 });
static FREED: Condvar = Condvar::new();

fn held() -> MutexGuard<'static, Held> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if held.process != process {
        // A forked child starts with the leases of its parent's threads, which it has not.
        *held = Held { process, leases: Vec::new(), waiting: 0 };
    }
    held
}

/// An array to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<T> {
    address: usize,
    len: usize,
    element: PhantomData<T>,
}

/// Rows to read, which may be apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsView<T> {
    all: View<T>,
    row: usize,
    stride: usize,
}

impl<T: Plain> RowsView<T> {
    /// The rows one behind the other: as they are, or copied to `buffer`.
    pub(crate) fn rows<'a>(self, lease: &'a Lease, buffer: &'a mut Vec<T>) -> &'a [T] {
        let all = lease.slice(self.all);
        if self.stride == self.row {
            return all;
        }
        buffer.clear();
        all.chunks(self.stride).for_each(|from| buffer.extend_from_slice(&from[..self.row]));
        buffer
    }
}

/// An array to write. It gives its slice away once.
#[derive(Debug)]
pub(crate) struct ViewMut<T>(View<T>);

/// The arrays that a call is about to use.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    claims: Vec<Claim>,
}

impl Operands {
    /// Adds an array that is read.
    ///
    /// # Errors
    /// Its elements are of another type.
    pub(crate) fn read<T: Plain>(&mut self, array: &Array) -> Result<View<T>, Failure> {
        array.expect(T::ELEMENT)?;
        self.claim(array, false);
        Ok(View { address: array.address, len: array.len(), element: PhantomData })
    }

    /// Adds an array that is read and whose rows may be apart. What lies between them is claimed too.
    ///
    /// # Errors
    /// Its elements are of another type.
    pub(crate) fn read_rows<T: Plain>(&mut self, array: &Array) -> Result<RowsView<T>, Failure> {
        let (row, stride) = array.row();
        array.expect(T::ELEMENT)?;
        self.claim(array, false);
        let all = View { address: array.address, len: array.span(), element: PhantomData };
        Ok(RowsView { all, row, stride })
    }

    /// Adds an array that is written.
    ///
    /// # Errors
    /// Its elements are of another type, or it is read-only.
    pub(crate) fn write<T: Plain>(&mut self, array: &Array) -> Result<ViewMut<T>, Failure> {
        if !array.is_writable {
            return Err(Failure::Dtype(format!("{} is read-only", array.what)));
        }
        array.expect(T::ELEMENT)?;
        self.claim(array, true);
        Ok(ViewMut(View { address: array.address, len: array.len(), element: PhantomData }))
    }

    /// Adds the memory of an array without a view of it, such as a cache plane's.
    pub(crate) fn claim(&mut self, array: &Array, is_write: bool) {
        let bytes = array.address..array.address + array.span() * array.element.bytes();
        if !bytes.is_empty() {
            self.claims.push(Claim { what: array.what, bytes, is_write });
        }
    }

    /// Checks that no array which this call writes overlaps another.
    ///
    /// # Errors
    /// Arrays of this call overlap and one of them is written.
    pub(crate) fn check_overlap(&self) -> Result<(), Failure> {
        for (number, claim) in self.claims.iter().enumerate() {
            if let Some(other) = self.claims[..number].iter().find(|other| claim.conflicts(other)) {
                let message = format!("{} and {} overlap in memory", other.what, claim.what);
                return Err(Failure::Shape(message));
            }
        }
        Ok(())
    }

    /// Waits until no other call uses the memory otherwise, then holds it. To be called without the interpreter's lock.
    ///
    /// # Errors
    /// Arrays of this call overlap and one of them is written.
    pub(crate) fn lease(self) -> Result<Lease, Failure> {
        self.check_overlap()?;
        let claims: Arc<[Claim]> = self.claims.into();
        let mut held = held();
        while held.conflicts(&claims) {
            held.waiting += 1;
            held = FREED.wait(held).unwrap_or_else(PoisonError::into_inner);
            held.waiting -= 1;
        }
        held.leases.push(Arc::clone(&claims));
        drop(held);
        Ok(Lease { claims })
    }
}

/// Memory that this call may use until the lease ends.
#[derive(Debug)]
pub(crate) struct Lease {
    claims: Arc<[Claim]>,
}

impl Lease {
    fn covers<T: Plain>(&self, view: &View<T>, is_write: bool) -> bool {
        let bytes = view.address..view.address + view.len * size_of::<T>();
        view.len == 0 || self.claims.iter().any(|claim| claim.bytes == bytes && claim.is_write == is_write)
    }

    /// The elements of an array of this call.
    pub(crate) fn slice<T: Plain>(&self, view: View<T>) -> &[T] {
        assert!(self.covers(&view, false), "the array belongs to another call");
        if view.len == 0 {
            return &[];
        }
        // SAFETY: `Array` found `len` contiguous, aligned elements at the address, and a `Plain` type takes any bits.
        // The object lives, because its caller holds it for the length of the call, and keeps its memory: NumPy
        // refuses to resize an array that others refer to. No slice of this module changes the memory while the
        // lease, which covers it, exists.
        unsafe { std::slice::from_raw_parts(view.address as *const T, view.len) }
    }

    /// The elements of an array of this call, to write.
    #[allow(clippy::mut_from_ref, reason = "the view is consumed, and the lease keeps every other one away")]
    pub(crate) fn slice_mut<T: Plain>(&self, view: ViewMut<T>) -> &mut [T] {
        assert!(self.covers(&view.0, true), "the array belongs to another call");
        if view.0.len == 0 {
            return &mut [];
        }
        // SAFETY: as in `slice`. The view is the only one of this memory in its call, is consumed here, and the lease
        // keeps every other call from the memory.
        unsafe { std::slice::from_raw_parts_mut(view.0.address as *mut T, view.0.len) }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut held = held();
        held.leases.retain(|lease| !Arc::ptr_eq(lease, &self.claims));
        if held.waiting > 0 {
            FREED.notify_all();
        }
    }
}
