//! Places in the workspace.

/// A tensor that lives in the workspace for some steps.
#[derive(Debug, Clone)]
pub(super) struct Resident {
    pub(super) bytes: u64,
    /// The first step that writes it and the last one that uses it.
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Where residents lie, in their order, and the bytes of the whole. `None` beyond what can be addressed.
///
/// The largest are placed first, each at the lowest multiple of `alignment` where nobody else lives at the same time.
pub(super) fn place(residents: &[Resident], alignment: u64) -> Option<(Vec<u64>, u64)> {
    let mut by_size: Vec<_> = (0..residents.len()).collect();
    by_size.sort_by_key(|&index| std::cmp::Reverse(residents[index].bytes));
    let mut offsets = vec![0; residents.len()];
    let mut total = 0;
    // Those that have a place, by offset.
    let mut placed: Vec<(u64, u64, usize)> = Vec::new();
    for index in by_size {
        let resident = &residents[index];
        let bytes = resident.bytes.max(1).checked_next_multiple_of(alignment)?;
        let mut offset = 0_u64;
        for &(start, end, other) in &placed {
            let other = &residents[other];
            let is_apart = other.last < resident.first || resident.last < other.first;
            if is_apart || end <= offset {
                continue;
            }
            if offset.checked_add(bytes)? <= start {
                break;
            }
            offset = end;
        }
        let end = offset.checked_add(bytes)?;
        offsets[index] = offset;
        total = total.max(end);
        let position = placed.partition_point(|&(start, ..)| start <= offset);
        placed.insert(position, (offset, end, index));
    }
    Some((offsets, total))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn those_that_never_live_together_share_a_place() {
        let resident = |bytes, first, last| Resident { bytes, first, last };
        let residents = [resident(100, 0, 1), resident(300, 1, 2), resident(200, 2, 3), resident(1, 4, 4)];
        // 384 bytes for the second; the first and the third beside it, in the same 256; the last anywhere.
        assert_eq!(place(&residents, 128), Some((vec![384, 0, 384, 0], 640)));
        assert_eq!(place(&[], 128), Some((Vec::new(), 0)));
        assert_eq!(place(&[resident(u64::MAX, 0, 0)], 128), None);
        assert_eq!(place(&[resident(1 << 63, 0, 0), resident(1 << 63, 0, 0)], 128), None);
    }

    proptest! {
        #[test]
        fn those_that_live_together_are_apart(lives in prop::collection::vec((0..2000_u64, 0..20_usize, 0..8_usize), 0..40)) {
            let resident = |&(bytes, first, length): &(u64, usize, usize)| Resident { bytes, first, last: first + length };
            let residents: Vec<_> = lives.iter().map(resident).collect();
            let (offsets, total) = place(&residents, 256).unwrap();
            for (a, (first, &at)) in residents.iter().zip(&offsets).enumerate() {
                prop_assert!(at % 256 == 0 && at + first.bytes <= total);
                for (second, &other) in residents.iter().zip(&offsets).skip(a + 1) {
                    let together = first.first <= second.last && second.first <= first.last;
                    let apart = at + first.bytes <= other || other + second.bytes <= at;
                    prop_assert!(!together || apart);
                }
            }
        }
    }
}
