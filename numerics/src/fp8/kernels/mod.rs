//! The conversions of slices: portably by the definitions, and on vectors by algorithms that are written once over
//! [`ConvertOps`](super::ops::ConvertOps).

#[cfg(target_arch = "x86_64")]
pub(in crate::fp8) mod binades;
pub(in crate::fp8) mod dequant;
pub(in crate::fp8) mod encode;
mod encode_map;
mod map;
pub(in crate::fp8) mod pieces;
pub(in crate::fp8) mod plan;
pub(in crate::fp8) mod quant_tables;
pub(in crate::fp8) mod recode;
pub(in crate::fp8) mod round;
pub(in crate::fp8) mod scan;
pub(in crate::fp8) mod word_table;

use crate::simd::{Isa, Level, Portable, WorkEverywhere};

/// Runs a conversion on an instruction set: portably where this machine lacks it, and where the conversion does not fit
/// vectors.
#[inline(always)]
pub(in crate::fp8) fn run<R>(isa: Isa, fits_vectors: bool, conversion: impl WorkEverywhere<R>) -> R {
    let level = if fits_vectors { Level::or_portable(isa) } else { Level::Portable(Portable) };
    level.run(conversion)
}
