//! One task: some KV heads of one sequence, for some of the query rows of each.

use std::ops::Range;

use super::lanes::{Lanes, Line, cells, steps};
use super::pack::{COLUMNS, CodeTable, TILE_KEYS};
use super::product::{Left, Sink, product};
use super::rows::{PackBuffers, PlaneRows, Side};
use super::softmax::{ProbType, ScoreRow, softmax};
use super::workspace::{Workspace, take};
use crate::Generation;
use crate::device::emulated::EmulatedPlane;
use crate::device::emulated::query::quantize_by_amax;
use crate::device::{
    DecodeKernel, DecodeSequence, DeviceError, HeadScales, QueryScale, StorageDtype, Values,
};
use crate::fp8::{Format, Quantizer};

/// What all tasks of a decode share.
pub(super) struct Decode<'k> {
    pub(super) generation: Generation,
    pub(super) table: &'k CodeTable,
    pub(super) kernel: &'k DecodeKernel<'k, EmulatedPlane>,
}

/// Query rows are those of a KV head, `[tokens, group]`.
pub(super) struct Task<'k> {
    pub(super) decode: &'k Decode<'k>,
    pub(super) sequence: &'k DecodeSequence,
    pub(super) heads: Range<usize>,
    pub(super) rows: Range<usize>,
}

impl<'k> Task<'k> {
    /// Query heads of a KV head.
    fn group(&self) -> usize {
        self.decode.kernel.num_heads / self.decode.kernel.key_layout.heads
    }

    /// Row `row` of KV head `head`: its number among all rows of all sequences.
    fn row_number(&self, head: usize, row: usize) -> usize {
        let (group, kernel) = (self.group(), self.decode.kernel);
        (self.sequence.first_token + row / group) * kernel.num_heads + head * group + row % group
    }

    /// The position of a row's token.
    fn position(&self, row: usize) -> usize {
        self.sequence.context_tokens - self.sequence.tokens + row / self.group()
    }

    /// The keys that a row sees.
    fn visible(&self, row: usize) -> Range<usize> {
        let end = self.position(row) + 1;
        let window = self.decode.kernel.modifiers.sliding_window;
        window.map_or(0, |window| end.saturating_sub(window))..end
    }

    /// The keys that any row sees, from the start of a tile.
    fn keys(&self) -> Range<usize> {
        let first = self.visible(self.rows.start).start;
        first / TILE_KEYS * TILE_KEYS..self.visible(self.rows.end - 1).end
    }

    fn key_rows(&self) -> PlaneRows<'k> {
        let kernel = self.decode.kernel;
        let (plane, layout) = (kernel.key, kernel.key_layout);
        PlaneRows { plane, layout, dim: layout.dim, blocks: kernel.blocks_of(self.sequence) }
    }

    /// The values, and what multiplies the product with them.
    fn value_rows(&self) -> (PlaneRows<'k>, &'k HeadScales) {
        match &self.decode.kernel.values {
            Values::Plane { layout, plane, dequant } => {
                (PlaneRows { plane, layout, dim: layout.dim, ..self.key_rows() }, dequant)
            }
            Values::KeyPrefix { dim } => {
                (PlaneRows { dim: *dim, ..self.key_rows() }, self.decode.kernel.key_dequant)
            }
        }
    }

    /// Quantizes the query rows, `[heads, rows, dim]`, as the exact path does, to words of whole cells.
    pub(super) fn prepare(&self, workspace: &mut Workspace) -> Result<(), DeviceError> {
        let kernel = self.decode.kernel;
        let dim = kernel.key_layout.dim;
        let rows = self.heads.len() * self.rows.len();
        let query = take(&mut workspace.query, rows * dim, half::bf16::ZERO);
        let numbers = self.heads.clone().flat_map(|head| self.rows.clone().map(move |row| (head, row)));
        for (to, (head, row)) in query.chunks_exact_mut(dim).zip(numbers) {
            to.copy_from_slice(&kernel.q[self.row_number(head, row) * dim..][..dim]);
        }
        let width = dim.next_multiple_of(2);
        let words = take(&mut workspace.words, rows * width, 0);
        let dequant = take(&mut workspace.dequant, rows, 1.0);
        if kernel.key_layout.dtype != StorageDtype::Fp8 {
            dequant.fill(1.0);
            for (to, from) in words.chunks_exact_mut(width).zip(query.chunks_exact(dim)) {
                to[dim..].fill(0);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_bits());
            }
            return Ok(());
        }
        let codes = take(&mut workspace.codes, rows * dim, 0);
        let by_head = self.rows.len() * dim;
        let pieces = query.chunks_exact(by_head).zip(codes.chunks_exact_mut(by_head));
        let dequants = dequant.chunks_exact_mut(self.rows.len());
        for ((head, (query, codes)), to) in self.heads.clone().zip(pieces).zip(dequants) {
            match kernel.query_scale {
                QueryScale::Static { quant, dequant } => {
                    Quantizer::kv_cache(self.decode.generation, quant.of(head))?.quant_bf16(query, codes)?;
                    to.fill(dequant.of(head));
                }
                QueryScale::Dynamic => {
                    let pieces = query.chunks_exact(dim).zip(codes.chunks_exact_mut(dim));
                    for ((query, codes), to) in pieces.zip(to) {
                        *to = quantize_by_amax(self.decode.generation, query, codes)?;
                    }
                }
            }
        }
        for (to, from) in words.chunks_exact_mut(width).zip(codes.chunks_exact(dim)) {
            to[dim..].fill(0);
            to.iter_mut().zip(from).for_each(|(to, code)| *to = self.decode.table.words[usize::from(*code)]);
        }
        Ok(())
    }

    /// Computes the results of the rows, `[heads, rows, value_dim]`, into the workspace.
    #[inline(always)]
    pub(super) fn run<L: Lanes>(&self, l: L, workspace: &mut Workspace) {
        let kernel = self.decode.kernel;
        let is_fp8 = kernel.key_layout.dtype == StorageDtype::Fp8;
        let (key, (value, value_dequant)) = (self.key_rows(), self.value_rows());
        let (heads, rows, keys) = (self.heads.len(), self.rows.len(), self.keys());
        let span = keys.len().next_multiple_of(TILE_KEYS);
        let width = cells::<L>(span);
        let depth = steps::<L>(key.dim);
        let blocks = value.dim.div_ceil(COLUMNS);
        let panel_steps = depth.max(blocks * cells::<L>(TILE_KEYS));

        let query = take(&mut workspace.cells, heads * rows * depth, 0);
        let words = &workspace.words[..heads * rows * key.dim.next_multiple_of(2)];
        to_cells::<L>(words, key.dim, query);
        let scores = take(&mut workspace.scores, heads * rows * width, 0);
        let panel = take(&mut workspace.panel, panel_steps, [Line::ZERO; 4]);
        let longest = key.dim.max(value.dim);
        let mut buffers = PackBuffers {
            narrowed: &mut workspace.narrowed,
            no_codes: take(&mut workspace.no_codes, longest, 0),
            no_words: take(&mut workspace.no_words, longest, 0),
        };

        for first in keys.clone().step_by(TILE_KEYS) {
            let starts = key.starts(first, keys.end);
            let next = key.starts(first + TILE_KEYS, keys.end);
            for (h, head) in self.heads.clone().enumerate() {
                key.pack(l, self.decode.table, Side::Keys, (&starts, &next, head), &mut buffers, panel);
                let rows_of_head = h * rows..(h + 1) * rows;
                let left = Left { cells: &query[rows_of_head.start * depth..], stride: depth, rows };
                let from = rows_of_head.start * width + cells::<L>(first - keys.start);
                let mut to = Scores {
                    dequant: &workspace.dequant[rows_of_head],
                    scale: kernel.key_dequant.of(head),
                    cells: &mut scores[from..],
                    stride: width,
                };
                product(l, left, &panel[..depth], &mut to);
            }
        }

        let scratch = take(&mut workspace.scratch, span / 16, Line::ZERO);
        let sums = take(&mut workspace.sums, heads * rows, 0.0);
        let (prob, prob_dequant) = if is_fp8 {
            let max = Format::kv_cache(self.decode.generation).max_value();
            (ProbType::Fp8 { quant: kernel.prob.0, max }, kernel.prob.1)
        } else {
            (ProbType::Bf16, 1.0)
        };
        for (number, (cells, sum)) in scores.chunks_exact_mut(width).zip(sums.iter_mut()).enumerate() {
            let (head, row) = (self.heads.start + number / rows, self.rows.start + number % rows);
            let row = ScoreRow {
                head: head * self.group() + row % self.group(),
                position: self.position(row),
                visible: self.visible(row),
                base: keys.start,
                cells,
            };
            *sum = softmax(l, &kernel.modifiers, prob, row, scratch);
        }

        let lines = 4 * blocks;
        let accumulators = take(&mut workspace.accumulators, heads * rows * lines, Line::ZERO);
        accumulators.fill(Line::ZERO);
        let depth = cells::<L>(TILE_KEYS);
        for first in keys.clone().step_by(TILE_KEYS) {
            let starts = value.starts(first, keys.end);
            let next = value.starts(first + TILE_KEYS, keys.end);
            for (h, head) in self.heads.clone().enumerate() {
                value.pack(l, self.decode.table, Side::Values, (&starts, &next, head), &mut buffers, panel);
                let from = h * rows * width + cells::<L>(first - keys.start);
                let left = Left { cells: &scores[from..], stride: width, rows };
                let of_head = &mut accumulators[h * rows * lines..];
                for (block, panel) in panel.chunks_exact(depth).take(blocks).enumerate() {
                    let to = &mut Accumulators { lines: &mut of_head[4 * block..], stride: lines };
                    product(l, left, panel, to);
                }
            }
        }

        let out = take(&mut workspace.out, heads * rows * value.dim, 0.0);
        let results =
            accumulators.chunks_exact_mut(lines).zip(out.chunks_exact_mut(value.dim)).zip(sums.iter());
        for (number, ((row, out), sum)) in results.enumerate() {
            let value = value_dequant.of(self.heads.start + number / rows);
            for line in row.iter_mut() {
                let scaled = l.mul(l.mul(l.load(line), l.splat(prob_dequant)), l.splat(value));
                l.store(l.round_bf16(l.div(l.round_bf16(scaled), l.splat(*sum))), line);
            }
            for (row, out) in row.chunks_exact(4).zip(out.chunks_mut(COLUMNS)) {
                for (number, out) in out.chunks_mut(4).enumerate() {
                    let (line, lane) = L::place(4 * number);
                    let from = &row[line].0[lane..lane + 4];
                    out.iter_mut().zip(from).for_each(|(to, from)| *to = f32::from_bits(*from));
                }
            }
        }
    }

    /// Puts the results where they belong, in `[tokens, num_heads, value_dim]`.
    pub(super) fn scatter(&self, workspace: &Workspace, out: &mut [f32]) {
        let dim = self.decode.kernel.value_dim();
        let rows = self.heads.clone().flat_map(|head| self.rows.clone().map(move |row| (head, row)));
        for ((head, row), from) in rows.zip(workspace.out.chunks_exact(dim)) {
            out[self.row_number(head, row) * dim..][..dim].copy_from_slice(from);
        }
    }
}

/// Takes a tile of the first product.
struct Scores<'a> {
    /// By row.
    dequant: &'a [f32],
    scale: f32,
    cells: &'a mut [u32],
    stride: usize,
}

impl<L: Lanes> Sink<L> for Scores<'_> {
    #[inline(always)]
    fn take(&mut self, l: L, row: usize, line: usize, sum: L::V) {
        let scaled = l.mul(l.mul(sum, l.splat(self.dequant[row])), l.splat(self.scale));
        let width = cells::<L>(16);
        l.store_cells(l.round_bf16(scaled), &mut self.cells[row * self.stride + line * width..][..width]);
    }
}

/// Adds a tile of the second product.
struct Accumulators<'a> {
    lines: &'a mut [Line],
    stride: usize,
}

impl<L: Lanes> Sink<L> for Accumulators<'_> {
    #[inline(always)]
    fn take(&mut self, l: L, row: usize, line: usize, sum: L::V) {
        let to = &mut self.lines[row * self.stride + line];
        l.store(l.add(l.load(to), sum), to);
    }
}

/// Words of rows that are padded to whole pairs, as cells.
#[inline(always)]
fn to_cells<L: Lanes>(words: &[u16], dim: usize, cells: &mut [u32]) {
    let rows = words.chunks_exact(dim.next_multiple_of(2)).zip(cells.chunks_exact_mut(steps::<L>(dim)));
    for (words, cells) in rows {
        if L::PAIRS {
            let pairs = words.chunks_exact(2);
            cells.iter_mut().zip(pairs).for_each(|(to, w)| *to = u32::from(w[0]) | u32::from(w[1]) << 16);
        } else {
            cells.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from(*word) << 16);
        }
    }
}
