//! Products of a few rows with a panel.

use super::lanes::{Lanes, Step};

/// Calls `take(row, line, sums)` with the product of each of `rows` rows and each line of a panel. `row(r)` gives the
/// cells of a row, as many as the panel has steps.
#[inline(always)]
pub(super) fn product<'a, L: Lanes>(
    l: L,
    rows: usize,
    row: impl Fn(usize) -> &'a [u32],
    panel: &[Step],
    mut take: impl FnMut(usize, usize, L::V),
) {
    let mut r = 0;
    while r < rows {
        let left = rows - r;
        r += match L::LINES {
            4 if L::ROWS >= 6 && (left == 6 || left >= 10) => block::<L, 6, 4>(l, r, &row, panel, &mut take),
            4 if left >= 4 => block::<L, 4, 4>(l, r, &row, panel, &mut take),
            4 if left >= 2 => block::<L, 2, 4>(l, r, &row, panel, &mut take),
            4 => block::<L, 1, 4>(l, r, &row, panel, &mut take),
            _ if left >= 4 && L::ROWS >= 4 => block::<L, 4, 1>(l, r, &row, panel, &mut take),
            _ if left >= 2 => block::<L, 2, 1>(l, r, &row, panel, &mut take),
            _ => block::<L, 1, 1>(l, r, &row, panel, &mut take),
        };
    }
}

/// `R` rows at a time, `C` lines at a time. Returns `R`.
#[inline(always)]
fn block<'a, L: Lanes, const R: usize, const C: usize>(
    l: L,
    first: usize,
    row: &impl Fn(usize) -> &'a [u32],
    panel: &[Step],
    take: &mut impl FnMut(usize, usize, L::V),
) -> usize {
    let mut cells: [&[u32]; R] = [&[]; R];
    for (r, cells) in cells.iter_mut().enumerate() {
        *cells = &row(first + r)[..panel.len()];
    }
    for line in (0..4).step_by(C) {
        let mut sums = [[l.splat_bits(0); C]; R];
        for (step, lines) in panel.iter().enumerate() {
            let mut right = [l.splat_bits(0); C];
            for (right, line) in right.iter_mut().zip(&lines[line..line + C]) {
                *right = l.load(line);
            }
            for (sums, cells) in sums.iter_mut().zip(&cells) {
                let left = l.splat_bits(cells[step]);
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = l.mul_acc(*sum, left, right);
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            for (c, sum) in sums.into_iter().enumerate() {
                take(first + r, line + c, sum);
            }
        }
    }
    R
}
