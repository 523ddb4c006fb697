//! The C API of Habana's SynapseAI: bindings and a loader, nothing linked.
//!
//! Types and constants keep their C names, enums are transparent integers. [`Library::open`] finds `libSynapse.so`
//! at run time and gives the table of its [`Functions`]. The bindings are made from the header in `include/`; the
//! feature `bindgen` builds the program that makes them anew.

#[rustfmt::skip]
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unsafe_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
mod bindings;
#[rustfmt::skip]
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
mod functions;
mod library;
mod status;
mod symbols;

pub use bindings::*;
pub use functions::*;
pub use library::{Attempt, Failure, INSTALL_PATH, Library, LoadError, Origin, VARIABLE};
