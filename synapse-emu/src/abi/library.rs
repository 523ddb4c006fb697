use std::ffi::{c_char, c_int};

use habana_sys::synStatus;

use super::{api, pointer};
use crate::state::library;

/// What [`synDriverGetVersion`] says.
const VERSION: &str = concat!("synapse-emu ", env!("CARGO_PKG_VERSION"));
/// The library that has the nodes.
const NODE_LIBRARY: &std::ffi::CStr = c"synapse-emu";

api! {
    fn synInitialize() { library::initialize() }

    fn synDestroy() { library::destroy() }

    /// Works before initialization.
    fn synDriverGetVersion(pDriverVersion: *mut c_char, len: c_int) {
        let capacity = u64::try_from(len).map_err(|_| synStatus::synInvalidArgument)?;
        pointer::write_text(pDriverVersion, capacity, VERSION)
    }

    /// Works before initialization.
    fn synStatusGetBriefDescription(status: synStatus, statusDescription: *mut c_char, len: u64) {
        let description = describe(status).ok_or(synStatus::synInvalidArgument)?;
        pointer::write_text(statusDescription, len, description)
    }

    /// One library: this one.
    fn synTPCLibraryGetVersionSize(size: *mut u32) {
        library::runtime()?;
        pointer::write(size, 1)
    }

    fn synTPCLibraryGetVersions(libs: *mut *const c_char, versions: *mut u32) {
        library::runtime()?;
        pointer::write(libs, NODE_LIBRARY.as_ptr())?;
        pointer::write(versions, 1)
    }
}

fn describe(status: synStatus) -> Option<&'static str> {
    // Each fits into STATUS_DESCRIPTION_MAX_SIZE.
    const DESCRIPTIONS: [&str; 44] = [
        "success",
        "invalid argument",
        "command buffer is full",
        "out of host memory",
        "out of device memory",
        "object is already initialized",
        "object is not initialized",
        "command submission failed",
        "no device found",
        "device type does not match",
        "command buffer was not initialized",
        "command buffer was not freed",
        "command buffer was not mapped",
        "command buffer was not unmapped",
        "device memory was not allocated",
        "device memory was not freed",
        "not enough devices found",
        "device was reset",
        "unsupported",
        "wrong parameters file",
        "device is already acquired",
        "name is already used",
        "busy",
        "all resources are taken",
        "unavailable",
        "invalid tensor dimensions",
        "failed",
        "out of resources",
        "library is not initialized",
        "library is already initialized",
        "sections are not valid",
        "library was terminated",
        "asynchronous assertion",
        "invalid event handle",
        "mapping not found",
        "dynamic patching failed",
        "static patching failed",
        "workload was not submitted",
        "sections are not defined properly",
        "tensor properties are not valid",
        "collective communication failed",
        "time was not collected",
        "timeout",
        "resource was used badly",
    ];
    DESCRIPTIONS.get(status.0 as usize).copied()
}
