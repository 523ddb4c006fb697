//! FP8 re-ranging for C. `include/gaudi_kv.h` describes it for callers.

#![allow(unsafe_code, reason = "functions that C calls with pointers")]
#![allow(non_camel_case_types, reason = "names of the header")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use gaudi_kv::Generation;
use gaudi_kv::fp8::{Format, Rerange};

/// The codes were rewritten.
pub const GAUDI_KV_OK: i32 = 0;
/// A null pointer, a device that there is none of, or a `struct_size` that is too small.
pub const GAUDI_KV_INVALID_ARGUMENT: i32 = 1;
/// A factor that is not finite and positive, in float32 or rounded to bfloat16.
pub const GAUDI_KV_INVALID_FACTOR: i32 = 2;
/// A defect of this library.
pub const GAUDI_KV_INTERNAL: i32 = 3;

/// From e4m3 up to 448 to what a Gaudi2 reads.
pub const GAUDI_KV_GAUDI2: i32 = 2;
/// From what a Gaudi2 reads back to e4m3 up to 448.
pub const GAUDI_KV_GAUDI3: i32 = 3;

/// What became of codes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct gaudi_kv_rerange_counts {
    /// The size of the caller's structure in bytes.
    pub struct_size: u64,
    /// The new code is exactly the old value times the factor.
    pub exact: u64,
    /// It is the nearest one, which is another and not zero.
    pub rounded: u64,
    /// It is zero, and the old value was not.
    pub flushed: u64,
    /// It is the largest finite one.
    pub saturated: u64,
    /// The old code was NaN, and so is the new one.
    pub nan: u64,
}

/// Multiplies `len` e4m3 codes by `factor`, in place, and returns one of the statuses above.
///
/// # Safety
/// `codes` is valid for reads and writes of `len` bytes, or `len` is 0. `counts` is null, or valid for a read of its
/// `struct_size` and for reads and writes of as many bytes as that says. Neither is used by anything else during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gaudi_kv_rerange(
    codes: *mut u8,
    len: usize,
    device: i32,
    factor: f32,
    counts: *mut gaudi_kv_rerange_counts,
) -> i32 {
    let (ocp, gaudi2) = (Format::E4M3FN, Format::kv_cache(Generation::Gaudi2));
    let (from, to) = match device {
        GAUDI_KV_GAUDI2 => (ocp, gaudi2),
        GAUDI_KV_GAUDI3 => (gaudi2, ocp),
        _ => return GAUDI_KV_INVALID_ARGUMENT,
    };
    if (codes.is_null() && len > 0) || isize::try_from(len).is_err() {
        return GAUDI_KV_INVALID_ARGUMENT;
    }
    if !counts.is_null() {
        // SAFETY: the caller says that the field can be read; nothing else of the structure is.
        let struct_size = unsafe { (&raw const (*counts).struct_size).read_unaligned() };
        if struct_size < size_of::<gaudi_kv_rerange_counts>() as u64 {
            return GAUDI_KV_INVALID_ARGUMENT;
        }
    }
    let work = || {
        let Ok(rerange) = Rerange::new(from, to, factor) else { return GAUDI_KV_INVALID_FACTOR };
        let codes = if len == 0 {
            &mut []
        } else {
            // SAFETY: not null, at most `isize::MAX` bytes, and the caller says that they are valid and its own.
            unsafe { std::slice::from_raw_parts_mut(codes, len) }
        };
        let result = rerange.apply(codes);
        if !counts.is_null() {
            // SAFETY: as for the first read; `struct_size` says that the structure is whole.
            unsafe {
                let struct_size = (&raw const (*counts).struct_size).read_unaligned();
                counts.write_unaligned(gaudi_kv_rerange_counts {
                    struct_size,
                    exact: result.exact,
                    rounded: result.rounded,
                    flushed: result.flushed,
                    saturated: result.saturated,
                    nan: result.nan,
                });
            }
        }
        GAUDI_KV_OK
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(GAUDI_KV_INTERNAL)
}
