//! Float accumulation: attention over a paged cache or over tensors, and projections.
//!
//! The query, the cache and the probabilities are quantized as in the exact path, and so is everything around the
//! products, in the same operations; only the products and the sum of the probabilities are accumulated in float32, in
//! another order. Keys and values are decoded a tile at a time, once for all query rows that share them: to bfloat16
//! where the machine multiplies it, which holds every e4m3 value, else to float32.
//!
//! A task first computes all scores of its rows, then their probabilities, then the second product: probabilities are
//! rounded to FP8 after the true maximum is known, as in the exact path. Nothing depends on how the work is cut.
//!
//! How far a result is from the exact path's: a score, before it is rounded to bfloat16, is off by at most `dim * 2^-24`
//! of the sum of its products' magnitudes (the products themselves are exact), so it may round to the neighbouring
//! bfloat16. From equal scores come equal codes of the probabilities, bit for bit, and a sum of them within
//! `(keys / 16 + 4) * 2^-24`. The second product is off by at most `1.02 * keys * 2^-24` of its products' magnitudes.
//! A value of Inf or NaN makes NaN of the queries that do not see its key too, where they share a tile with one that
//! does: its product with a probability of zero is NaN. Tiles are not those of the exact path.
//! The instructions for bfloat16 pairs take numbers below 2^-126 for zero, which e4m3 has none of.

mod arch;
mod job;
mod lanes;
mod pack;
mod product;
mod project;
mod projection;
mod rows;
mod softmax;
mod task;
#[cfg(test)]
mod tests;
mod workspace;

use std::sync::{Mutex, PoisonError};

use gaudi_numerics::simd::Level;
use job::{Job, Operation};
use pack::CodeTable;
use task::{SequenceAttention, Task};

use super::common::operands::{EmulatedProblem, Operands};
use super::common::threads::Threads;
use crate::Generation;
use crate::device::DeviceError;
use crate::fp8::Format;

/// Query rows of a task at most.
const TASK_ROWS: usize = 128;
/// Scores of a task at most, where it can be cut. They are few beside the keys; what counts is that a token's heads are
/// read together, because they share pages.
const TASK_SCORES: usize = 1 << 20;

/// The codes of a generation's cache.
fn table(generation: Generation) -> &'static CodeTable {
    static GAUDI2: CodeTable = CodeTable::new(Format::kv_cache(Generation::Gaudi2));
    static GAUDI3: CodeTable = CodeTable::new(Format::kv_cache(Generation::Gaudi3));
    match generation {
        Generation::Gaudi2 => &GAUDI2,
        Generation::Gaudi3 => &GAUDI3,
    }
}

/// Replaces each number, all of at most 0, by its `libm::expf`, to the bit, sixteen at a time.
pub(super) fn exponentials(numbers: &mut [f32]) {
    Level::active().run_with_bf16(Job::Map(numbers, Operation::Exp));
}

/// How the work of a sequence is cut: KV heads and query rows of a task. All sequences of a problem are computed at once.
fn cut(attention: &SequenceAttention<'_>, threads: usize) -> (usize, usize) {
    let (kv_heads, rows) = (attention.key.heads, attention.rows());
    let sequences = attention.problem.sequences.len();
    let wanted = if threads == 1 { 1 } else { (2 * threads).div_ceil(sequences) };
    let (mut task_heads, mut task_rows) = (kv_heads, rows.min(TASK_ROWS));
    let count = |heads, rows_of_task| kv_heads.div_ceil(heads) * rows.div_ceil(rows_of_task);
    // Fewer heads cost nothing as long as the memory of a token's row is read in long pieces.
    while task_heads > 1
        && (count(task_heads, task_rows) < wanted
            || task_heads * task_rows * attention.sequence.len > TASK_SCORES)
    {
        task_heads = task_heads.div_ceil(2);
    }
    // Rows of a head that are split decode its keys twice.
    while task_rows >= 16 && count(task_heads, task_rows) * sequences < threads {
        task_rows = task_rows.div_ceil(2);
    }
    (task_heads, task_rows)
}

/// Runs the kernels of an instruction set on threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runner {
    level: Level,
    threads: Threads,
}

impl Runner {
    /// The kernels of the process's instruction set.
    pub(super) fn new(threads: Threads) -> Self {
        Self { level: Level::active(), threads }
    }

    /// Runs the tasks of one of several sequences, and puts their rows where they belong.
    fn attend_sequence(
        self,
        attention: &SequenceAttention<'_>,
        out: &Mutex<&mut [f32]>,
    ) -> Result<(), DeviceError> {
        let (kv_heads, rows) = (attention.key.heads, attention.rows());
        let (task_heads, task_rows) = cut(attention, self.threads.count());
        let (across, down) = (kv_heads.div_ceil(task_heads), rows.div_ceil(task_rows));
        self.threads.each(across * down, |number| {
            let (head, row) = (number % across * task_heads, number / across * task_rows);
            let task = Task {
                attention,
                heads: head..(head + task_heads).min(kv_heads),
                rows: row..(row + task_rows).min(rows),
            };
            workspace::with(|workspace| {
                task.prepare(workspace)?;
                self.level.run_with_bf16(Job::Attention(&task, workspace));
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                task.scatter(workspace, &mut out);
                Ok(())
            })
        })
    }

    /// Attention, each sequence cut into tasks.
    pub(super) fn attend(
        self,
        generation: Generation,
        problem: &EmulatedProblem<'_>,
        operands: Operands<'_>,
        out: &mut [f32],
    ) -> Result<(), DeviceError> {
        let (key_dequant, value_dequant) = problem.product_dequants();
        let out = Mutex::new(out);
        self.threads.each(problem.sequences.len(), |number| {
            let sequence = &problem.sequences[number];
            let [key, value] = operands.rows(problem, sequence);
            let attention = SequenceAttention {
                generation,
                table: table(generation),
                problem,
                sequence,
                key,
                value,
                key_dequant,
                value_dequant,
            };
            self.attend_sequence(&attention, &out)
        })
    }
}
