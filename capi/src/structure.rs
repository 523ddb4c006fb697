//! Structures that carry their size, so that callers of another version can be understood.
//!
//! A caller sets `struct_size` to the size that the structure has in the header it was compiled with. There is no
//! padding behind the last field: a later field in its place would hold whatever an older caller's padding holds.
//!
//! - Smaller than this library's: an older caller. Fields of an input that it does not have are zero, which always
//!   means what the library did before it had them; fields of an output that it has no room for are not written.
//! - Larger: a newer caller. Input bytes that this library does not know must be zero, or it would do something else
//!   than it is asked for; output bytes that it does not know are set to zero.
//! - Smaller than the part that every version has, absurdly large, or no whole words, which is memory that nobody set:
//!   refused.

use std::mem::MaybeUninit;

use crate::failure::Failure;

/// No structure grows beyond this.
const LARGEST: u64 = 4096;

/// A structure of the header.
///
/// # Safety
/// `repr(C)`, begins with a `u64` that is `struct_size`, and any bytes are a value of it.
pub(crate) unsafe trait Structure: Copy {
    /// In messages.
    const NAME: &'static str;
    /// The size of the part that every caller has: whole words, so that it ends there in C too.
    const REQUIRED: usize;
    /// Where the last field ends. A later one would not be told from padding behind it, so there must be none.
    const WHOLE: usize;
}

/// Where a field ends.
macro_rules! field_end {
    ($structure:ty, $field:ident) => {{
        const fn size<T, F>(_: fn(&T) -> &F) -> usize {
            size_of::<F>()
        }
        std::mem::offset_of!($structure, $field) + size(|value: &$structure| &value.$field)
    }};
}
pub(crate) use field_end;

/// The size that the caller's structure says that it has.
///
/// # Safety
/// `pointer` is null or can be read for the eight bytes of `struct_size`.
unsafe fn size<T: Structure>(pointer: *const T) -> Result<usize, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("the {} is null", T::NAME)));
    }
    const { assert!(T::REQUIRED.is_multiple_of(8) && T::WHOLE == size_of::<T>()) };
    // SAFETY: not null, and the caller says that it can be read; it may not be aligned.
    let size = unsafe { pointer.cast::<u64>().read_unaligned() };
    if size < T::REQUIRED as u64 || size > LARGEST || !size.is_multiple_of(8) {
        return Err(Failure::argument(format!(
            "the struct_size of the {} is {size}; it must be sizeof of the structure, a multiple of 8, at least {}",
            T::NAME,
            T::REQUIRED
        )));
    }
    Ok(size as usize)
}

/// The caller's structure, with zeros for what it does not have.
///
/// # Safety
/// `pointer` is null, or can be read for as many bytes as its `struct_size` says.
pub(crate) unsafe fn read<T: Structure>(pointer: *const T) -> Result<T, Failure> {
    // SAFETY: the caller promises as many bytes as the structure's `struct_size` says.
    let size = unsafe { size(pointer) }?;
    let mut value = MaybeUninit::<T>::zeroed();
    let known = size.min(size_of::<T>());
    // SAFETY: `known` bytes are inside of both, and a local does not overlap with the caller's memory.
    unsafe { pointer.cast::<u8>().copy_to_nonoverlapping(value.as_mut_ptr().cast(), known) };
    for at in known..size {
        // SAFETY: inside of the caller's structure.
        if unsafe { pointer.cast::<u8>().add(at).read() } != 0 {
            return Err(Failure::unsupported(format!(
                "the {} has something at byte {at} that this library does not know; it is older than its caller",
                T::NAME
            )));
        }
    }
    // SAFETY: zeroed or copied, and any bytes are a value.
    Ok(unsafe { value.assume_init() })
}

/// The caller's structure, or zeros, which are all defaults, for null.
///
/// # Safety
/// As for [`read`].
pub(crate) unsafe fn read_or_default<T: Structure>(pointer: *const T) -> Result<T, Failure> {
    if pointer.is_null() {
        // SAFETY: any bytes are a value.
        return Ok(unsafe { MaybeUninit::<T>::zeroed().assume_init() });
    }
    // SAFETY: the caller promises as many bytes as the structure's `struct_size` says.
    unsafe { read(pointer) }
}

/// A structure of the caller that is to be filled.
#[derive(Debug)]
pub(crate) struct Out<T> {
    pointer: *mut T,
    size: usize,
}

/// Checks a structure of the caller that is to be filled; nothing is written yet.
///
/// # Safety
/// `pointer` is null, or can be read and written for as many bytes as its `struct_size` says, until it is filled.
pub(crate) unsafe fn out<T: Structure>(pointer: *mut T) -> Result<Out<T>, Failure> {
    // SAFETY: the caller promises as many bytes, to be read and written, as the structure's `struct_size` says.
    let size = unsafe { size(pointer) }?;
    Ok(Out { pointer, size })
}

impl<T: Structure> Out<T> {
    /// Fills in what the caller has room for. `struct_size` stays as the caller set it.
    pub(crate) fn fill(self, value: T) {
        const HEAD: usize = size_of::<u64>();
        let known = self.size.min(size_of::<T>());
        // SAFETY: whoever made this says that `size` bytes can be written, of which `known` are inside of `value`
        // too, a local that does not overlap with them; both are longer than the head.
        unsafe {
            let (from, to) = ((&raw const value).cast::<u8>(), self.pointer.cast::<u8>());
            from.add(HEAD).copy_to_nonoverlapping(to.add(HEAD), known - HEAD);
            to.add(known).write_bytes(0, self.size - known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Sample {
        struct_size: u64,
        first: u32,
        second: u32,
        later: u64,
    }

    // SAFETY: plain C data that begins with `struct_size`.
    unsafe impl Structure for Sample {
        const NAME: &'static str = "sample";
        const REQUIRED: usize = field_end!(Sample, second);
        const WHOLE: usize = field_end!(Sample, later);
    }

    /// Eight numbers of the caller, of which `struct_size` says how many there are.
    fn memory(size: u64) -> [u64; 8] {
        let mut memory = [u64::MAX; 8];
        memory[0] = size;
        memory
    }

    fn read_of(memory: &[u64; 8]) -> Result<Sample, Failure> {
        // SAFETY: 64 bytes, and every size that is read is less.
        unsafe { read(memory.as_ptr().cast::<Sample>()) }
    }

    #[test]
    fn the_required_part_ends_where_its_last_field_does() {
        assert_eq!(Sample::REQUIRED, 16);
        assert_eq!(size_of::<Sample>(), 24);
    }

    #[test]
    fn an_older_caller_has_zeros_for_what_it_does_not_know() {
        let sample = read_of(&memory(16)).unwrap();
        assert_eq!(sample, Sample { struct_size: 16, first: u32::MAX, second: u32::MAX, later: 0 });
    }

    #[test]
    fn a_newer_caller_may_not_ask_for_what_is_not_known() {
        let mut memory = memory(40);
        memory[3] = 1 << 56;
        let failure = read_of(&memory).unwrap_err();
        assert!(failure.status == 4 && failure.message.contains("byte 31"), "{}", failure.message);
        memory[3] = 0;
        let failure = read_of(&memory).unwrap_err();
        assert!(failure.message.contains("byte 32"), "{}", failure.message);
        memory[4] = 0;
        assert_eq!(read_of(&memory).unwrap().later, u64::MAX);
    }

    #[test]
    fn sizes_that_no_caller_has_are_refused() {
        for size in [0, 8, 15, 17, 20, 28, 4097, u64::MAX] {
            assert_eq!(read_of(&memory(size)).unwrap_err().status, 1, "{size}");
        }
        // SAFETY: null is allowed.
        assert_eq!(unsafe { read(std::ptr::null::<Sample>()) }.unwrap_err().status, 1);
    }

    #[test]
    fn an_output_is_filled_as_far_as_the_caller_has_room() {
        let value = Sample { struct_size: 0, first: 1, second: 2, later: 3 };
        let filled = |size| {
            let mut memory = memory(size);
            // SAFETY: 64 bytes, and every size here is less.
            unsafe { out(memory.as_mut_ptr().cast::<Sample>()) }.unwrap().fill(value);
            memory
        };
        let (both, rest) = (1 | 2 << 32, u64::MAX);
        assert_eq!(filled(16), [16, both, rest, rest, rest, rest, rest, rest]);
        assert_eq!(filled(24), [24, both, 3, rest, rest, rest, rest, rest]);
        assert_eq!(filled(40), [40, both, 3, 0, 0, rest, rest, rest]);
    }
}
