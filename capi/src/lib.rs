//! gaudi-kv for C. `include/gaudi_kv.h`, which is made from this package, describes it for callers.
//!
//! A file holds functions of one kind with their structures and constants. Each function stands behind
//! `last_error::barrier`, which turns an error into a status and a message and ends a panic; `pointer` and `structure`
//! check what can be checked of a caller's memory; what only the caller can know is in the `Safety` section of each
//! function.

#![allow(unsafe_code, reason = "functions that C calls with pointers")]
#![allow(non_camel_case_types, reason = "names of the header")]
#![allow(clippy::too_many_arguments, reason = "C has no slices")]

mod array_functions;
mod attend;
mod attention;
mod block_image;
mod cache;
mod cache_lock;
mod codec;
mod device;
mod failure;
mod foreign_memory;
mod inspect;
mod last_error;
mod pointer;
mod rerange;
mod rows;
mod scale;
mod status;
mod step_batch;
mod structure;
mod threads;
mod version;
