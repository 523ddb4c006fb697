//! Pointers of the caller: what can be checked of them is.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::failure::Failure;

fn check<T>(what: &str, pointer: *const T, len: usize) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("{what} is null")));
    }
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{what} is not aligned to its elements")));
    }
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(Failure::argument(format!("{len} elements of {what} do not fit the address space"))),
    }
}

/// The caller's elements.
///
/// # Safety
/// `pointer` is null, or `len` elements can be read there and nobody writes to them as long as the slice lives. Any
/// bits are a value of `T`.
pub(crate) unsafe fn slice<'a, T>(what: &str, pointer: *const T, len: usize) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    check(what, pointer, len)?;
    // SAFETY: not null, aligned, of a size that there can be; the caller promises that many elements, which nobody
    // writes to.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// The caller's elements, to write.
///
/// # Safety
/// `pointer` is null, or `len` elements can be read and written there and nobody else uses them as long as the slice
/// lives. Any bits are a value of `T`.
pub(crate) unsafe fn slice_mut<'a, T>(
    what: &str,
    pointer: *mut T,
    len: usize,
) -> Result<&'a mut [T], Failure> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(what, pointer, len)?;
    // SAFETY: not null, aligned, of a size that there can be; the caller promises that many elements, which nobody
    // else uses.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
}

/// The object of a handle.
///
/// # Safety
/// `pointer` is null, or came from this library, of this type, and is not freed as long as the reference lives.
pub(crate) unsafe fn handle<'a, T>(what: &str, pointer: *const T) -> Result<&'a T, Failure> {
    // SAFETY: the caller promises null, or an object of this library and type that outlives the reference.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// The object of a handle that is changed.
///
/// # Safety
/// As for [`handle`], and no other call uses the handle.
pub(crate) unsafe fn handle_mut<'a, T>(what: &str, pointer: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller promises null, or an object of this library and type that outlives the reference and that no
    // other call uses.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// Makes an object and hands it out; the caller's pointer is null where it cannot be made.
///
/// # Safety
/// `out` is null or can be written.
pub(crate) unsafe fn hand_out<T>(
    out: *mut *mut T,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Result<(), Failure> {
    if out.is_null() {
        return Err(Failure::argument("the place for the handle is null"));
    }
    // SAFETY: not null, and the caller says that it can be written.
    unsafe { out.write(std::ptr::null_mut()) };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: not null, and still the caller's to be written.
    unsafe { out.write(made) };
    Ok(())
}

/// Ends the object of a handle; null is none.
///
/// # Safety
/// `pointer` is null, or came from [`hand_out`] and has not been freed, and no other call uses it.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller says that it came from `hand_out`, which made it so, and that it is not freed.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// A path of the caller.
///
/// # Safety
/// `text` is null or a string that ends with a zero and is not written to as long as the path lives.
pub(crate) unsafe fn path<'a>(what: &str, text: *const c_char) -> Result<&'a Path, Failure> {
    if text.is_null() {
        return Err(Failure::argument(format!("{what} is null")));
    }
    // SAFETY: not null, and the caller promises a zero at its end and that nobody writes to it.
    let text = unsafe { CStr::from_ptr(text) };
    Ok(Path::new(OsStr::from_bytes(text.to_bytes())))
}

/// The bytes that something lies in.
pub(crate) fn bytes_of<T>(pointer: *const T, len: usize) -> (usize, usize) {
    (pointer.addr(), len.saturating_mul(size_of::<T>()))
}

/// Checks that what is written overlaps with nothing else of a call.
///
/// # Errors
/// It does.
pub(crate) fn check_disjoint(
    written: &[(&str, (usize, usize))],
    read: &[(&str, (usize, usize))],
) -> Result<(), Failure> {
    let overlap = |a: (usize, usize), b: (usize, usize)| {
        a.1 > 0 && b.1 > 0 && a.0 < b.0.saturating_add(b.1) && b.0 < a.0.saturating_add(a.1)
    };
    for (number, (name, bytes)) in written.iter().enumerate() {
        let others = written[..number].iter().chain(read);
        if let Some((other, _)) = others.into_iter().find(|(_, other)| overlap(*bytes, *other)) {
            return Err(Failure::argument(format!("{other} and {name} overlap in memory")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_overlaps_with_nothing() {
        let check = |a, b, c| check_disjoint(&[("a", a), ("b", b)], &[("c", c)]);
        assert!(check((0, 8), (8, 8), (16, 8)).is_ok());
        assert_eq!(check((0, 9), (8, 8), (16, 8)).unwrap_err().message, "a and b overlap in memory");
        assert_eq!(check((0, 8), (8, 8), (15, 1)).unwrap_err().message, "c and b overlap in memory");
        assert!(check((0, 8), (8, 0), (8, 8)).is_ok());
        assert!(check((usize::MAX - 8, 100), (8, 8), (usize::MAX - 4, 2)).is_err());
    }
}
