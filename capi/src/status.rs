//! What a call returns.

use std::ffi::{CStr, c_char};

/// What a call returns: one of the statuses. Whatever is not `GAUDI_KV_OK` has a message, which
/// `gaudi_kv_last_error_message` gives.
pub type gaudi_kv_status = i32;

/// It is done.
pub const GAUDI_KV_OK: i32 = 0;
/// A null pointer, an unknown value of an enumeration, a handle of another kind, memory that is not aligned or that
/// overlaps, a `struct_size` that is too small. Nothing was changed.
pub const GAUDI_KV_INVALID_ARGUMENT: i32 = 1;
/// A scale or factor that is not finite and positive, in float32 or rounded to bfloat16, or has another number of
/// heads. Nothing was changed.
pub const GAUDI_KV_INVALID_FACTOR: i32 = 2;
/// A defect of this library. What the call writes to may be changed in part.
pub const GAUDI_KV_INTERNAL: i32 = 3;
/// Something that this library, or the device, does not have: it may be older than its caller, or built without it.
/// Nothing was changed.
pub const GAUDI_KV_UNSUPPORTED: i32 = 4;
/// A model that cannot be read, or that does not fit what is asked for. `gaudi_kv_last_error` names the file, the
/// tensor and the layer.
pub const GAUDI_KV_INVALID_MODEL: i32 = 5;
/// A size, length, slot, block or batch that does not fit. Nothing was changed.
pub const GAUDI_KV_INVALID_SHAPE: i32 = 6;
/// Things that do not belong together: another device, generation, storage type, shape, or other scales. Nothing was
/// changed.
pub const GAUDI_KV_MISMATCH: i32 = 7;
/// There is no such layer or plane.
pub const GAUDI_KV_NOT_FOUND: i32 = 8;
/// Memory or threads cannot be had.
pub const GAUDI_KV_OUT_OF_MEMORY: i32 = 9;
/// The device, or the way to it, failed. What the call writes to may be changed in part.
pub const GAUDI_KV_DEVICE_FAILED: i32 = 10;

/// The name of a status, such as `GAUDI_KV_INVALID_SHAPE`; `unknown status` for a number that is none. It lives as long
/// as the library.
#[unsafe(no_mangle)]
pub extern "C" fn gaudi_kv_status_name(status: gaudi_kv_status) -> *const c_char {
    let name: &'static CStr = match status {
        GAUDI_KV_OK => c"GAUDI_KV_OK",
        GAUDI_KV_INVALID_ARGUMENT => c"GAUDI_KV_INVALID_ARGUMENT",
        GAUDI_KV_INVALID_FACTOR => c"GAUDI_KV_INVALID_FACTOR",
        GAUDI_KV_INTERNAL => c"GAUDI_KV_INTERNAL",
        GAUDI_KV_UNSUPPORTED => c"GAUDI_KV_UNSUPPORTED",
        GAUDI_KV_INVALID_MODEL => c"GAUDI_KV_INVALID_MODEL",
        GAUDI_KV_INVALID_SHAPE => c"GAUDI_KV_INVALID_SHAPE",
        GAUDI_KV_MISMATCH => c"GAUDI_KV_MISMATCH",
        GAUDI_KV_NOT_FOUND => c"GAUDI_KV_NOT_FOUND",
        GAUDI_KV_OUT_OF_MEMORY => c"GAUDI_KV_OUT_OF_MEMORY",
        GAUDI_KV_DEVICE_FAILED => c"GAUDI_KV_DEVICE_FAILED",
        _ => c"unknown status",
    };
    name.as_ptr()
}
