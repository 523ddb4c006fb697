//! `gaudi-kv convert`: what becomes of each tensor and file, and what survives what.
//!
//! Expected codes come from a search over e4m3 values in float64 that shares nothing with the library; results are
//! read with the public `safetensors` library.

mod command_line;
mod destination;
mod error_table;
mod fixtures;
mod formats;
mod kills;
mod memory;
mod oracle;
mod refusals;
mod shares;
mod sidecars;
mod support;
mod tree;
