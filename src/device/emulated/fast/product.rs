//! Products of a few rows with a panel.

use super::lanes::{Lanes, Step};

/// The left operand: rows of cells.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) cells: &'a [u32],
    /// From row to row.
    pub(super) stride: usize,
    pub(super) rows: usize,
}

/// Where a product goes. (Not a closure: those are not reliably inlined, and then lack the instruction set.)
pub(super) trait Sink<L: Lanes> {
    /// Takes the product of a row and a line of a panel.
    fn take(&mut self, l: L, row: usize, line: usize, sum: L::V);
}

/// The product of each row and each of the first lines of a panel, or some lines more. A row has at least as many cells
/// as the panel has steps.
#[inline(always)]
pub(super) fn product<L: Lanes>(
    l: L,
    left: Left<'_>,
    (panel, lines): (&[Step], usize),
    to: &mut impl Sink<L>,
) {
    let right = (panel, lines);
    let mut row = 0;
    while row < left.rows {
        let rows = left.rows - row;
        let is_six = L::ROWS >= 6 && (rows == 6 || rows >= 10);
        row += match L::LINES.min(lines) {
            3 | 4 if is_six => block::<L, 6, 4>(l, left, row, right, to),
            3 | 4 if rows >= 4 => block::<L, 4, 4>(l, left, row, right, to),
            3 | 4 if rows >= 2 => block::<L, 2, 4>(l, left, row, right, to),
            3 | 4 => block::<L, 1, 4>(l, left, row, right, to),
            2 if is_six => block::<L, 6, 2>(l, left, row, right, to),
            2 if rows >= 4 => block::<L, 4, 2>(l, left, row, right, to),
            2 if rows >= 2 => block::<L, 2, 2>(l, left, row, right, to),
            2 => block::<L, 1, 2>(l, left, row, right, to),
            _ if rows >= 4 && L::ROWS >= 4 => block::<L, 4, 1>(l, left, row, right, to),
            _ if rows >= 2 => block::<L, 2, 1>(l, left, row, right, to),
            _ => block::<L, 1, 1>(l, left, row, right, to),
        };
    }
}

/// `R` rows at a time, `C` lines at a time. Returns `R`.
#[inline(always)]
fn block<L: Lanes, const R: usize, const C: usize>(
    l: L,
    left: Left<'_>,
    first: usize,
    (panel, lines): (&[Step], usize),
    to: &mut impl Sink<L>,
) -> usize {
    let mut cells: [&[u32]; R] = [&[]; R];
    for (r, cells) in cells.iter_mut().enumerate() {
        *cells = &left.cells[(first + r) * left.stride..][..panel.len()];
    }
    for line in (0..lines).step_by(C) {
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
                to.take(l, first + r, line + c, sum);
            }
        }
    }
    R
}
