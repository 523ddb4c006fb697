//! Finding the codes that a 240-range device cannot read.

/// What a scan of e4m3 codes found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeScan {
    /// Codes with `code & 0x7F` above `0x77`: 256 to 448 and NaN as OCP `e4m3fn`, Inf or NaN to a Gaudi2.
    pub above_gaudi2_max: u64,
    /// Codes `0x7F` and `0xFF`, NaN to every reader of `e4m3fn`. Also counted in `above_gaudi2_max`.
    pub nan: u64,
}

/// Counts the e4m3 codes above `0x77` and the NaN codes in `codes`, sign ignored.
#[must_use]
pub fn scan_codes(codes: &[u8]) -> CodeScan {
    let mut found = CodeScan::default();
    for block in codes.chunks(4096) {
        // The maximum is what vectorizes; blocks that hold nothing, nearly all of them, end here.
        let max = block.iter().fold(0, |max, code| max.max(code & 0x7F));
        if max > 0x77 {
            found.above_gaudi2_max += block.iter().filter(|c| **c & 0x7F > 0x77).count() as u64;
            found.nan += block.iter().filter(|c| **c & 0x7F == 0x7F).count() as u64;
        }
    }
    found
}
