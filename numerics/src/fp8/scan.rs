//! Finding the codes that a 240-range device cannot read.

use super::kernels;
use super::kernels::scan::Scan;
use crate::simd::Isa;

/// What a scan of e4m3 codes found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeScan {
    /// Codes with `code & 0x7F` above `0x77`: 256 to 448 and NaN as OCP `e4m3fn`, Inf or NaN to a Gaudi2.
    pub above_gaudi2_max: u64,
    /// Codes `0x7F` and `0xFF`, NaN to every reader of `e4m3fn`. Also counted in `above_gaudi2_max`.
    pub nan: u64,
}

/// Counts the e4m3 codes above `0x77` and the NaN codes in `codes`, sign ignored.
///
/// Where there are none it runs at the speed of reading memory.
#[must_use]
pub fn scan_codes(codes: &[u8]) -> CodeScan {
    scan_codes_with(Isa::active(), codes)
}

/// [`scan_codes`] on a given instruction set; one that this machine lacks means portable code.
#[must_use]
pub fn scan_codes_with(isa: Isa, codes: &[u8]) -> CodeScan {
    let [above_gaudi2_max, nan] = kernels::run(isa, true, Scan { codes });
    CodeScan { above_gaudi2_max, nan }
}
