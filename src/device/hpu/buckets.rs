//! The sizes that recipes are compiled for.
//!
//! A recipe has fixed shapes. Sizes that change from call to call are rounded up, and what fills them up changes no bit:
//! it repeats the last row, or names the zero row behind a plane and is seen by no query.

use super::error::HpuError;

/// The most rows of one write or read.
pub(super) const MAX_ROWS: usize = 2048;

/// The most query tokens of an entry of attention. More are cut into tiles, each with the keys that its last token sees.
pub(super) const MAX_TOKENS: usize = 64;

/// The fewest keys of an entry: the device's fast kernels are not trusted below.
const MIN_KEYS: usize = 128;

/// The most scores of one launch of attention, unless one entry has more.
const MAX_SCORES: usize = 1 << 24;

/// The most bytes of the blocks that one launch copies, unless one block has more.
const MAX_COPIED_BYTES: usize = 1 << 26;

/// The most elements of the result of one projection, unless one row has more.
const MAX_PROJECTED: usize = 1 << 22;

/// The most keys of a sequence: positions are float32 numbers on the device, which count up to here.
const MAX_KEYS: usize = 1 << 24;

/// The largest index: indices are 32-bit integers on the device.
const MAX_INDEX: usize = i32::MAX as usize;

/// Rounds up to a power of two: rows of a write or a read, tokens of a query, entries of a batch, pairs of blocks.
pub(super) const fn rounded(count: usize) -> usize {
    count.next_power_of_two()
}

/// Rounds the keys of an entry up to a power of two, 128 at least.
pub(super) fn rounded_keys(keys: usize) -> Result<usize, HpuError> {
    at_most("the length of a sequence in tokens", keys, MAX_KEYS)?;
    Ok(keys.next_power_of_two().max(MIN_KEYS))
}

/// The most entries of one launch, a power of two.
pub(super) fn max_entries(heads: usize, rows: usize, keys: usize) -> usize {
    floor_power_of_two(MAX_SCORES / (heads * rows * keys).max(1))
}

/// The most pairs of blocks of one launch, a power of two.
pub(super) fn max_pairs(block_bytes: usize) -> usize {
    floor_power_of_two(MAX_COPIED_BYTES / block_bytes.max(1)).min(MAX_ROWS)
}

/// The most rows of one projection, a power of two.
pub(super) fn max_projected_rows(row: usize) -> usize {
    floor_power_of_two(MAX_PROJECTED / row.max(1)).min(MAX_ROWS)
}

fn floor_power_of_two(value: usize) -> usize {
    1 << value.max(1).ilog2()
}

/// Checks a size against what the device can hold.
pub(super) fn at_most(what: &'static str, value: usize, max: usize) -> Result<(), HpuError> {
    if value <= max { Ok(()) } else { Err(HpuError::TooLarge { what, value, max }) }
}

/// Checks that rows of a plane can be numbered.
pub(super) fn indexable(rows: usize) -> Result<(), HpuError> {
    at_most("the number of rows of a plane", rows, MAX_INDEX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_few() {
        for (given, rounded) in [(1, 128), (128, 128), (129, 256), (4096, 4096), (4097, 8192)] {
            assert_eq!(rounded_keys(given).unwrap(), rounded);
        }
        assert!(matches!(rounded_keys((1 << 24) + 1), Err(HpuError::TooLarge { max: 0x0100_0000, .. })));
        assert_eq!([1, 2, 3, 5, 64, 65].map(rounded), [1, 2, 4, 8, 64, 128]);
    }

    #[test]
    fn launches_are_bounded_and_never_empty() {
        assert_eq!(max_entries(8, 4, 4096), 128);
        assert_eq!(max_entries(128, 64, 1 << 20), 1);
        assert_eq!((max_pairs(1 << 20), max_pairs(1 << 30), max_pairs(1)), (64, 1, MAX_ROWS));
        assert_eq!((max_projected_rows(3000), max_projected_rows(1 << 23)), (1024, 1));
    }
}
