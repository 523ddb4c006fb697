//! FP8 formats and conversions: numbers only, no device and no checkpoint.

mod format;
mod isa;
mod scan;

pub use format::{Format, InfNan, Layout};
pub use isa::{Isa, IsaError};
pub use scan::{CodeScan, scan_codes};
