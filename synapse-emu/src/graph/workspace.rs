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
