//! Which library this is.

use std::ffi::{CStr, c_char};

/// The version of the interface that this header describes. It grows by one where functions, fields or values are
/// added; nothing is ever taken away or changed, so a program works with every library whose `gaudi_kv_abi_version()`
/// is at least the `GAUDI_KV_ABI_VERSION` that it was compiled with.
pub const GAUDI_KV_ABI_VERSION: u32 = 1;

/// The version of the interface that this library has.
#[unsafe(no_mangle)]
pub extern "C" fn gaudi_kv_abi_version() -> u32 {
    GAUDI_KV_ABI_VERSION
}

/// The version of this library, such as `0.1.0`. It lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn gaudi_kv_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}
