//! The C API of Habana's SynapseAI: bindings and a loader, nothing linked.

#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unsafe_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = "generated"
)]
mod bindings;

pub use bindings::*;
