//! The C functions: what they are given is checked for null, looked up, and handed on.
//!
//! Handles are numbers, never addresses, so one that is stale or made up is a status and nothing worse. Pointers to
//! data are trusted as in any C library: null, or valid for what the function reads or writes.

#![allow(unsafe_code, reason = "functions with C callers")]

mod configuration;
mod device;
mod event;
mod graph;
mod launch;
mod library;
mod memory;
mod node;
mod pointer;
mod profiler;
mod recipe;
mod section;
mod stream;
mod tensor;
mod tensor_query;

use std::panic::{AssertUnwindSafe, catch_unwind};

use habana_sys::synStatus;

use crate::outcome::Outcome;
use crate::state::library::runtime;

/// Defines exported functions. A body gives the status as a [`Outcome`]; nothing unwinds out of it. Each signature is
/// compared with the one in `habana_sys`.
macro_rules! api {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block
    )*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> ::habana_sys::synStatus {
            $crate::abi::guard(stringify!($name), || -> $crate::outcome::Outcome {
                // SAFETY: the caller promises that each pointer is null or valid for what this function of the API
                // reads or writes, as many elements as another argument says. Bodies use pointers through
                // `abi::pointer` alone, which asks for just that.
                #[allow(unused_unsafe, reason = "some functions have no pointers")]
                unsafe { $body }
            })
        }

        // A table's entry is a function, or none where the API does not require it.
        const _: fn(&::habana_sys::Functions) -> Option<unsafe extern "C" fn($($type),*) -> ::habana_sys::synStatus> =
            |functions| functions.$name.into();
    )*};
}
use api;

/// Runs the body of a function: faults come first, panics become `synFail`.
fn guard(function: &str, body: impl FnOnce() -> Outcome) -> synStatus {
    let before = runtime().ok();
    let call = || {
        before.as_ref().map_or(Ok(()), |runtime| runtime.faults.before(function))?;
        body()
    };
    let outcome = catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(synStatus::synFail));
    let status = outcome.err().unwrap_or(synStatus::synSuccess);
    if let Some(runtime) = before.or_else(|| runtime().ok()) {
        runtime.faults.trace(function, status);
    }
    status
}
