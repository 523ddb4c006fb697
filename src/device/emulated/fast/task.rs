//! One task: some KV heads of one sequence, for some of the query rows of each.

use std::ops::Range;

use half::bf16;
use half::slice::HalfFloatSliceExt;

use super::super::common::operands::EmulatedProblem;
use super::super::common::quantize::quantize_by_amax;
use super::super::common::sequence_rows::SequenceRows;
use super::lanes::{Lanes, Line, cells, steps};
use super::pack::{COLUMNS, CodeTable, TILE_KEYS};
use super::product::{Left, Sink, product};
use super::projection::to_cells;
use super::rows::{PackBuffers, Side};
use super::softmax::{ProbType, ScoreRow, softmax};
use super::workspace::{Workspace, take};
use crate::device::{DeviceError, Fp8Products, HeadScales, QueryScale, SequenceSpan};
use crate::fp8::{Format, Quantizer};
use crate::{Generation, ScaleFactors};

/// Attention of one sequence: what its tasks share.
pub(super) struct SequenceAttention<'k> {
    pub(super) generation: Generation,
    pub(super) table: &'k CodeTable,
    pub(super) problem: &'k EmulatedProblem<'k>,
    pub(super) sequence: &'k SequenceSpan,
    pub(super) key: SequenceRows<'k>,
    pub(super) value: SequenceRows<'k>,
    /// Multiply the products, by KV head.
    pub(super) key_dequant: &'k HeadScales,
    pub(super) value_dequant: &'k HeadScales,
}

impl SequenceAttention<'_> {
    /// Query heads of a KV head.
    fn group(&self) -> usize {
        self.problem.shape.group()
    }

    /// Query rows of a KV head.
    pub(super) fn rows(&self) -> usize {
        self.sequence.tokens * self.group()
    }
}

/// A task of a sequence: some query rows of some KV heads. Query rows are those of a KV head, `[tokens, group]`.
pub(super) struct Task<'k> {
    pub(super) attention: &'k SequenceAttention<'k>,
    pub(super) heads: Range<usize>,
    pub(super) rows: Range<usize>,
}

impl Task<'_> {
    /// Row `row` of KV head `head`: its number among all rows of all sequences.
    fn row_number(&self, head: usize, row: usize) -> usize {
        let (group, attention) = (self.attention.group(), self.attention);
        let token = attention.sequence.first_token + row / group;
        token * attention.problem.shape.num_heads + head * group + row % group
    }

    /// The position of a row's token.
    fn position(&self, row: usize) -> usize {
        self.attention.sequence.position(row / self.attention.group())
    }

    /// The keys that a row sees.
    fn visible(&self, row: usize) -> Range<usize> {
        let end = self.position(row) + 1;
        let window = self.attention.problem.modifiers.sliding_window;
        window.map_or(0, |window| end.saturating_sub(window))..end
    }

    /// The keys that any row sees, from the start of a tile.
    fn keys(&self) -> Range<usize> {
        let first = self.visible(self.rows.start).start;
        first / TILE_KEYS * TILE_KEYS..self.visible(self.rows.end - 1).end
    }

    /// The rows that see a key of the tile that starts at `first`, counted from the task's first row. A later row sees
    /// no fewer keys at the end and no more at the start.
    fn seeing(&self, first: usize) -> Range<usize> {
        let count = |is_before: &dyn Fn(Range<usize>) -> bool| {
            let (mut low, mut high) = (self.rows.start, self.rows.end);
            while low < high {
                let middle = low.midpoint(high);
                if is_before(self.visible(middle)) { low = middle + 1 } else { high = middle }
            }
            low - self.rows.start
        };
        count(&|visible| visible.end <= first)..count(&|visible| visible.start < first + TILE_KEYS)
    }

    /// Takes the query rows, `[heads, rows, dim]`, to words, quantized where the products are FP8 as the exact path does.
    pub(super) fn prepare(&self, workspace: &mut Workspace) -> Result<(), DeviceError> {
        let attention = self.attention;
        let dim = attention.key.dim;
        let rows = self.heads.len() * self.rows.len();
        let numbers = self.heads.clone().flat_map(|head| self.rows.clone().map(move |row| (head, row)));
        let from = numbers.map(|(head, row)| &attention.problem.q[self.row_number(head, row) * dim..][..dim]);
        let words = take(&mut workspace.words, rows * dim, 0);
        let dequant = take(&mut workspace.dequant, rows, 1.0);
        let Some(Fp8Products { query_scale, .. }) = attention.problem.fp8 else {
            dequant.fill(1.0);
            words
                .chunks_exact_mut(dim)
                .zip(from)
                .for_each(|(to, from)| to.copy_from_slice(from.reinterpret_cast()));
            return Ok(());
        };
        let query = take(&mut workspace.query, rows * dim, bf16::ZERO);
        query.chunks_exact_mut(dim).zip(from).for_each(|(to, from)| to.copy_from_slice(from));
        let codes = take(&mut workspace.codes, rows * dim, 0);
        let by_head = self.rows.len() * dim;
        let pieces = query.chunks_exact(by_head).zip(codes.chunks_exact_mut(by_head));
        let dequants = dequant.chunks_exact_mut(self.rows.len());
        for ((head, (query, codes)), to) in self.heads.clone().zip(pieces).zip(dequants) {
            match query_scale {
                QueryScale::Static(ScaleFactors { quant, dequant }) => {
                    Quantizer::kv_cache(attention.generation, quant.of(head))?.quant_bf16(query, codes)?;
                    to.fill(dequant.of(head));
                }
                QueryScale::Dynamic => {
                    let pieces = query.chunks_exact(dim).zip(codes.chunks_exact_mut(dim));
                    for ((query, codes), to) in pieces.zip(to) {
                        *to = quantize_by_amax(attention.generation, query, codes)?;
                    }
                }
            }
        }
        words.iter_mut().zip(codes).for_each(|(to, code)| *to = attention.table.words[usize::from(*code)]);
        Ok(())
    }

    /// Computes the results of the rows, `[heads, rows, value_dim]`, into the workspace.
    #[inline(always)]
    pub(super) fn run<L: Lanes>(&self, l: L, workspace: &mut Workspace) {
        let sizes = self.sizes::<L>();
        self.multiply_keys(l, &sizes, workspace);
        self.take_softmax(l, &sizes, workspace);
        self.multiply_values(l, &sizes, workspace);
        self.divide_by_sums(l, &sizes, workspace);
    }

    /// The sizes of the task's buffers.
    #[inline(always)]
    fn sizes<L: Lanes>(&self) -> Sizes {
        let SequenceAttention { key, value, .. } = self.attention;
        let keys = self.keys();
        let span = keys.len().next_multiple_of(TILE_KEYS);
        let blocks = value.dim.div_ceil(COLUMNS);
        Sizes {
            heads: self.heads.len(),
            rows: self.rows.len(),
            keys,
            span,
            width: cells::<L>(span),
            panel_steps: steps::<L>(key.dim).max(blocks * cells::<L>(TILE_KEYS)),
            blocks,
            lines: 4 * blocks,
        }
    }

    /// The first product: scores, bfloat16 values, `[heads, rows, width]` cells.
    #[inline(always)]
    fn multiply_keys<L: Lanes>(&self, l: L, sizes: &Sizes, workspace: &mut Workspace) {
        let SequenceAttention { table, key, .. } = *self.attention;
        let Sizes { heads, rows, ref keys, width, .. } = *sizes;
        let depth = steps::<L>(key.dim);
        let query = take(&mut workspace.cells, heads * rows * depth, 0);
        let words = workspace.words.chunks_exact(key.dim);
        query.chunks_exact_mut(depth).zip(words).for_each(|(to, words)| to_cells::<L>(words, to));
        let scores = take(&mut workspace.scores, heads * rows * width, 0);
        let panel = take(&mut workspace.panel, sizes.panel_steps, [Line::ZERO; 4]);
        let mut buffers = PackBuffers {
            narrowed: &mut workspace.narrowed,
            no_codes: take(&mut workspace.no_codes, key.dim, 0),
            no_words: take(&mut workspace.no_words, key.dim, 0),
        };
        let mut slots = key.slots(keys.start, keys.end);
        for first in keys.clone().step_by(TILE_KEYS) {
            let next = key.slots(first + TILE_KEYS, keys.end);
            let seen = self.seeing(first);
            for (h, head) in self.heads.clone().enumerate() {
                let used = key.pack(l, table, Side::Keys, (&slots, &next, head), &mut buffers, panel);
                let rows_of_head = h * rows + seen.start..h * rows + seen.end;
                let (from, rows) = (rows_of_head.start, seen.len());
                let left = Left { cells: &query[from * depth..], stride: depth, rows };
                let from = from * width + cells::<L>(first - keys.start);
                let mut to = Scores {
                    dequant: &workspace.dequant[rows_of_head],
                    scale: self.attention.key_dequant.of(head),
                    cells: &mut scores[from..],
                    stride: width,
                };
                product(l, left, (&panel[..depth], used.div_ceil(16)), &mut to);
            }
            slots = next;
        }
    }

    /// The type of the probabilities in the second product.
    fn prob_type(&self) -> ProbType {
        match self.attention.problem.fp8 {
            Some(Fp8Products { prob: ScaleFactors { quant, .. }, .. }) => {
                let max = Format::kv_cache(self.attention.generation).max_value();
                ProbType::Fp8 { quant, max }
            }
            None => ProbType::Bf16,
        }
    }

    /// The softmax: scores become probabilities, whose sums are kept.
    #[inline(always)]
    fn take_softmax<L: Lanes>(&self, l: L, sizes: &Sizes, workspace: &mut Workspace) {
        let Sizes { heads, rows, ref keys, span, width, .. } = *sizes;
        let (group, prob) = (self.attention.group(), self.prob_type());
        let scratch = take(&mut workspace.scratch, span / 16, Line::ZERO);
        let scores = take(&mut workspace.scores, heads * rows * width, 0);
        let sums = take(&mut workspace.sums, heads * rows, 0.0);
        for (number, (cells_of_row, sum)) in scores.chunks_exact_mut(width).zip(sums).enumerate() {
            let (head, row) = (self.heads.start + number / rows, self.rows.start + number % rows);
            // Tiles that the row sees nothing of hold no scores of it, and no product reads them.
            let visible = self.visible(row);
            let base = visible.start / TILE_KEYS * TILE_KEYS;
            let seen = base - keys.start..visible.end.next_multiple_of(TILE_KEYS) - keys.start;
            let row = ScoreRow {
                head: head * group + row % group,
                position: self.position(row),
                visible,
                base,
                cells: &mut cells_of_row[cells::<L>(seen.start)..cells::<L>(seen.end)],
            };
            *sum = softmax(l, &self.attention.problem.modifiers, prob, row, scratch);
        }
    }

    /// The second product, `[heads, rows, lines]`.
    #[inline(always)]
    fn multiply_values<L: Lanes>(&self, l: L, sizes: &Sizes, workspace: &mut Workspace) {
        let SequenceAttention { table, value, .. } = *self.attention;
        let Sizes { heads, rows, ref keys, width, blocks, lines, .. } = *sizes;
        let scores = &workspace.scores;
        let panel = take(&mut workspace.panel, sizes.panel_steps, [Line::ZERO; 4]);
        let mut buffers = PackBuffers {
            narrowed: &mut workspace.narrowed,
            no_codes: take(&mut workspace.no_codes, value.dim, 0),
            no_words: take(&mut workspace.no_words, value.dim, 0),
        };
        let accumulators = take(&mut workspace.accumulators, heads * rows * lines, Line::ZERO);
        accumulators.fill(Line::ZERO);
        let depth = cells::<L>(TILE_KEYS);
        let mut slots = value.slots(keys.start, keys.end);
        for first in keys.clone().step_by(TILE_KEYS) {
            let next = value.slots(first + TILE_KEYS, keys.end);
            let seen = self.seeing(first);
            for (h, head) in self.heads.clone().enumerate() {
                let used = value.pack(l, table, Side::Values, (&slots, &next, head), &mut buffers, panel);
                let first_row = h * rows + seen.start;
                let from = first_row * width + cells::<L>(first - keys.start);
                let left = Left { cells: &scores[from..], stride: width, rows: seen.len() };
                let of_head = &mut accumulators[first_row * lines..];
                for (block, panel) in panel.chunks_exact(depth).take(blocks).enumerate() {
                    let to = &mut Accumulators { lines: &mut of_head[4 * block..], stride: lines };
                    let lines = L::lines(COLUMNS.min(value.dim - block * COLUMNS));
                    product(l, left, (&panel[..steps::<L>(used)], lines), to);
                }
            }
            slots = next;
        }
    }

    /// The results: the second product over the sums of the probabilities, `[heads, rows, value_dim]`.
    #[inline(always)]
    fn divide_by_sums<L: Lanes>(&self, l: L, sizes: &Sizes, workspace: &mut Workspace) {
        let Sizes { heads, rows, blocks, lines, .. } = *sizes;
        let dim = self.attention.value.dim;
        let prob_dequant = self.attention.problem.fp8.map_or(1.0, |fp8| fp8.prob.dequant);
        let accumulators = take(&mut workspace.accumulators, heads * rows * lines, Line::ZERO);
        let out = take(&mut workspace.out, heads * rows * dim, 0.0);
        let results = accumulators.chunks_exact_mut(lines).zip(out.chunks_exact_mut(dim));
        let used = lines - 4 + L::lines(dim - (blocks - 1) * COLUMNS);
        for (number, ((row, out), sum)) in results.zip(&workspace.sums).enumerate() {
            let value = self.attention.value_dequant.of(self.heads.start + number / rows);
            for line in &mut row[..used] {
                let scaled = l.mul(l.mul(l.load(line), l.splat(prob_dequant)), l.splat(value));
                l.store(l.round_bf16(l.div(l.round_bf16(scaled), l.splat(*sum))), line);
            }
            for (row, out) in row.chunks_exact(4).zip(out.chunks_mut(COLUMNS)) {
                let lines = L::lines(out.len());
                for (number, out) in out.chunks_mut(4).enumerate() {
                    let (line, lane) = L::place(4 * number, lines);
                    let from = &row[line].0[lane..lane + 4];
                    out.iter_mut().zip(from).for_each(|(to, from)| *to = f32::from_bits(*from));
                }
            }
        }
    }

    /// Puts the results where they belong, in `[tokens, num_heads, value_dim]`.
    pub(super) fn scatter(&self, workspace: &Workspace, out: &mut [f32]) {
        let dim = self.attention.value.dim;
        let rows = self.heads.clone().flat_map(|head| self.rows.clone().map(move |row| (head, row)));
        for ((head, row), from) in rows.zip(workspace.out.chunks_exact(dim)) {
            out[self.row_number(head, row) * dim..][..dim].copy_from_slice(from);
        }
    }
}

/// The sizes of a task's buffers.
struct Sizes {
    /// KV heads, and query rows of each.
    heads: usize,
    rows: usize,
    /// The keys that any row sees, from the start of a tile.
    keys: Range<usize>,
    /// Keys of whole tiles.
    span: usize,
    /// Cells of a row of scores.
    width: usize,
    /// Steps of the longest panel.
    panel_steps: usize,
    /// Panels of a tile of values.
    blocks: usize,
    /// Lines of a row of the second product.
    lines: usize,
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
