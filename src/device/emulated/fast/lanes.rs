//! What the fast products of decodes, prefills and projections need of an instruction set.

use super::pack::{CodeTable, Tile};

/// Sixteen cells of 32 bits: float32 numbers, or pairs of bfloat16 numbers.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [u32; 16]);

impl Line {
    pub(super) const ZERO: Self = Self([0; 16]);

    pub(super) fn floats(self) -> [f32; 16] {
        self.0.map(f32::from_bits)
    }
}

/// One step of a panel: 64 columns.
pub(super) type Step = [Line; 4];

/// Sixteen float32 lanes, whatever the registers of the instruction set, so that sums over lanes come out alike: operations
/// of fast attention, which tokens have. They inline into work that is compiled for the token.
///
/// Products run over *cells*: a cell of the left operand is multiplied with a line of cells of the right one. Where
/// `PAIRS`, a cell is two bfloat16 numbers that follow each other along the sum, and everything here takes half the
/// steps; else it is one float32.
pub(super) trait Lanes: Copy {
    /// Sixteen lanes.
    type V: Copy;
    /// Whether a cell is a pair of bfloat16 numbers.
    const PAIRS: bool;
    /// Whether the columns of a value panel stand in groups of four, in two lines or four, as [`place`](Self::place) says.
    const GROUPED: bool;
    /// Rows of the left operand that share a load of the right one.
    const ROWS: usize;
    /// Lines of a step that are computed together at most: 1 or 4.
    const LINES: usize;

    fn splat_bits(self, bits: u32) -> Self::V;
    fn load(self, from: &Line) -> Self::V;
    fn store(self, v: Self::V, to: &mut Line);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// The larger; `b` where one is NaN.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// The smaller; `b` where one is NaN.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Rounds to an integral number, toward zero; of magnitudes below 2^31.
    fn truncate(self, a: Self::V) -> Self::V;
    /// `yes` where `|a| <= b`, else `no`.
    fn if_within(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// `a * 2^k`, rounded once; `k` is integral, from -200 to 0, and `a` is NaN or from 0.5 to 2.
    fn times_power(self, a: Self::V, k: Self::V) -> Self::V;
    /// Rounds to the nearest bfloat16, ties to even; NaN to `0x7FFF_0000`.
    fn round_bf16(self, a: Self::V) -> Self::V;
    /// Lanes `from..to` of `a`, the others of `b`.
    fn only(self, from: usize, to: usize, a: Self::V, b: Self::V) -> Self::V;
    /// The largest of the lanes, none of which is NaN.
    #[inline(always)]
    fn largest(self, v: Self::V) -> f32 {
        self.floats(v).into_iter().fold(f32::NEG_INFINITY, f32::max)
    }

    /// The sum of the lanes: of those that are 8 apart, then 4, 2 and 1.
    #[inline(always)]
    fn total(self, v: Self::V) -> f32 {
        let mut sums = self.floats(v);
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                sums[i] += sums[i + half];
            }
        }
        sums[0]
    }

    #[inline(always)]
    fn floats(self, v: Self::V) -> [f32; 16] {
        let mut line = Line::ZERO;
        self.store(v, &mut line);
        line.floats()
    }

    /// `acc` plus the product of cells.
    fn mul_acc(self, acc: Self::V, a: Self::V, b: Self::V) -> Self::V;

    /// Sixteen numbers from cells: the first of `cells` where a cell is one, all of eight pairs else.
    fn load_cells(self, cells: &[u32]) -> Self::V;
    /// Sixteen bfloat16 numbers to cells.
    fn store_cells(self, v: Self::V, cells: &mut [u32]);

    /// Sixteen bfloat16 numbers to the first of `words`.
    #[inline(always)]
    fn store_words(self, v: Self::V, words: &mut [u16]) {
        let mut line = Line::ZERO;
        self.store(v, &mut line);
        words[..16].iter_mut().zip(line.0).for_each(|(to, bits)| *to = (bits >> 16) as u16);
    }

    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        self.splat_bits(x.to_bits())
    }

    /// Packs keys into a panel: column `n` is key `n`, the steps run over the elements. Columns without a key hold anything.
    #[inline(always)]
    fn pack_key_codes(self, table: &CodeTable, rows: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
        let word = |n: usize, d: usize| table.words[usize::from(rows.now[n][d])];
        super::pack::keys::<Self>(word, rows.used, 0..dim, panel);
    }

    /// Packs keys that are bfloat16 words, as [`pack_key_codes`](Self::pack_key_codes) does.
    #[inline(always)]
    fn pack_key_words(self, rows: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
        super::pack::keys::<Self>(|n, d| rows.now[n][d], rows.used, 0..dim, panel);
    }

    /// Packs values into panels of 64 columns, one after the other: the columns are the elements, the steps run over keys. Steps
    /// without a key hold anything.
    #[inline(always)]
    fn pack_value_codes(self, table: &CodeTable, rows: &Tile<'_, u8>, dim: usize, panel: &mut [Step]) {
        let word = |n: usize, d: usize| table.words[usize::from(rows.now[n][d])];
        super::pack::values::<Self>(word, rows.used, 0, dim, panel);
    }

    /// Packs values that are bfloat16 words, as [`pack_value_codes`](Self::pack_value_codes) does.
    #[inline(always)]
    fn pack_value_words(self, rows: &Tile<'_, u16>, dim: usize, panel: &mut [Step]) {
        super::pack::values::<Self>(|n, d| rows.now[n][d], rows.used, 0, dim, panel);
    }

    /// Lines that the first `columns` columns of a value panel are in.
    #[inline(always)]
    fn lines(columns: usize) -> usize {
        match columns.div_ceil(16) {
            lines if !Self::GROUPED => lines,
            1 | 2 => 2,
            _ => 4,
        }
    }

    /// Line and lane of column `d` of a value panel of so many lines.
    #[inline(always)]
    fn place(d: usize, lines: usize) -> (usize, usize) {
        if !Self::GROUPED {
            return (d / 16, d % 16);
        }
        (d / 4 % lines, 4 * (d / 4 / lines) + d % 4)
    }
}

/// Cells that hold `numbers` numbers.
pub(super) const fn cells<L: Lanes>(numbers: usize) -> usize {
    if L::PAIRS { numbers / 2 } else { numbers }
}

/// Steps of a sum over `numbers` numbers.
pub(super) const fn steps<L: Lanes>(numbers: usize) -> usize {
    if L::PAIRS { numbers.div_ceil(2) } else { numbers }
}
