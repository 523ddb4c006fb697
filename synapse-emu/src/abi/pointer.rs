//! Arguments that are pointers. Null is `synInvalidArgument`.

use std::ffi::{CStr, c_char};

use habana_sys::synStatus;

use crate::outcome::Outcome;

/// What no list of arguments has: a count beyond it is a mistake, and must not be followed.
const MAX_LIST: u64 = 1 << 20;

/// The number that a handle is.
pub(super) fn number<T>(handle: *const T) -> u64 {
    handle.addr() as u64
}

/// The handle that a number is for C.
pub(super) fn handle<T>(number: u64) -> *mut T {
    // Numbers are counted up from a small one, and pointers have 64 bits.
    std::ptr::without_provenance_mut(number as usize)
}

/// Stores a result.
///
/// # Safety
/// `target` is null or valid for a write of `T`.
pub(super) unsafe fn write<T>(target: *mut T, value: T) -> Outcome {
    if target.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    // SAFETY: not null, so valid by the contract; C need not align it.
    unsafe { target.write_unaligned(value) };
    Ok(())
}

/// Reads an argument.
///
/// # Safety
/// `source` is null or valid for a read of `T`.
pub(super) unsafe fn read<T: Copy>(source: *const T) -> Outcome<T> {
    if source.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    // SAFETY: not null, so valid by the contract; C need not align it.
    Ok(unsafe { source.read_unaligned() })
}

/// Copies a list of arguments. An empty one may be null; `synInvalidArgument` for more than a list can have.
///
/// # Safety
/// `source` is null or valid for reads of `count` elements.
pub(super) unsafe fn list<T: Copy>(source: *const T, count: u64) -> Outcome<Vec<T>> {
    if count > MAX_LIST {
        return Err(synStatus::synInvalidArgument);
    }
    let count = count as usize;
    if count == 0 {
        return Ok(Vec::new());
    }
    if source.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    let mut copied = Vec::new();
    copied.try_reserve_exact(count).map_err(|_| synStatus::synOutOfHostMemory)?;
    // SAFETY: not null, so valid for `count` elements, none of which is before an earlier one's end.
    copied.extend((0..count).map(|index| unsafe { source.add(index).read_unaligned() }));
    Ok(copied)
}

/// Copies bytes. None may be null.
///
/// # Safety
/// `source` is null or valid for reads of `count` bytes.
pub(super) unsafe fn bytes(source: *const u8, count: u64) -> Outcome<Vec<u8>> {
    let count = usize::try_from(count).map_err(|_| synStatus::synInvalidArgument)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if source.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    let mut copied = Vec::new();
    copied.try_reserve_exact(count).map_err(|_| synStatus::synOutOfHostMemory)?;
    // SAFETY: not null, so valid for `count` bytes.
    copied.extend_from_slice(unsafe { std::slice::from_raw_parts(source, count) });
    Ok(copied)
}

/// Stores a list of results. An empty one may be null.
///
/// # Safety
/// `target` is null or valid for writes of as many elements as `values` has.
pub(super) unsafe fn write_list<T: Copy>(target: *mut T, values: &[T]) -> Outcome {
    if target.is_null() && !values.is_empty() {
        return Err(synStatus::synInvalidArgument);
    }
    for (index, &value) in values.iter().enumerate() {
        // SAFETY: not null, so valid for this many elements.
        unsafe { target.add(index).write_unaligned(value) };
    }
    Ok(())
}

/// Reads a text in UTF-8.
///
/// # Safety
/// `source` is null or a string that ends in a zero byte.
pub(super) unsafe fn text(source: *const c_char) -> Outcome<String> {
    if source.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    // SAFETY: not null, so a string by the contract.
    let text = unsafe { CStr::from_ptr(source) };
    text.to_str().map(str::to_owned).map_err(|_| synStatus::synInvalidArgument)
}

/// Reads a text that may be left out.
///
/// # Safety
/// As for [`text`].
pub(super) unsafe fn optional_text(source: *const c_char) -> Outcome<Option<String>> {
    // SAFETY: handed on.
    if source.is_null() { Ok(None) } else { unsafe { text(source) }.map(Some) }
}

/// Stores a text and its zero byte; `synInvalidArgument` where that is longer than `capacity`.
///
/// # Safety
/// `target` is null or valid for writes of `capacity` bytes.
pub(super) unsafe fn write_text(target: *mut c_char, capacity: u64, text: &str) -> Outcome {
    if target.is_null() || capacity <= text.len() as u64 {
        return Err(synStatus::synInvalidArgument);
    }
    // SAFETY: not null, so valid for the text and the zero byte.
    unsafe {
        target.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        target.add(text.len()).write(0);
    }
    Ok(())
}
