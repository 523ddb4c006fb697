//! Words of codes, as the kernels look them up.

/// A 16-bit word for each code, in the forms that the kernels look up.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fp8) struct WordTable {
    /// The words of all codes.
    pub words: [u16; 256],
    /// Low and high bytes of the words of codes `0x00` to `0x7F`.
    pub low: [u8; 128],
    pub high: [u8; 128],
    /// Magnitudes above this one are NaN, `0x7FFF` whatever the sign.
    pub nan_above: u8,
    /// Whether all other words of negative codes are those of positive ones with the sign bit set.
    pub symmetric: bool,
}

impl WordTable {
    pub(in crate::fp8) fn new(word: impl Fn(usize) -> u16) -> Self {
        let words: [u16; 256] = std::array::from_fn(word);
        let is_nan = |code: usize| words[code] == 0x7FFF && words[code | 0x80] == 0x7FFF;
        let finite = (0..128).rev().find(|code| !is_nan(*code)).unwrap_or(0);
        Self {
            words,
            low: std::array::from_fn(|code| words[code].to_le_bytes()[0]),
            high: std::array::from_fn(|code| words[code].to_le_bytes()[1]),
            nan_above: finite as u8,
            symmetric: (0..=finite).all(|code| words[code | 0x80] == words[code] | 0x8000),
        }
    }

    pub(in crate::fp8) fn get(&self, code: u8) -> u16 {
        self.words[usize::from(code)]
    }
}
