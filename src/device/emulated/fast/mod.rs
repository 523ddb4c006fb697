//! The fast decode: attention over a paged cache with float accumulation.
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
//! The instructions for bfloat16 pairs take numbers below 2^-126 for zero, which e4m3 has none of.

mod arch;
mod lanes;
mod pack;
mod product;
mod rows;
mod softmax;
mod task;
#[cfg(test)]
mod tests;
mod workspace;

use std::sync::Mutex;

use rayon::prelude::*;

use arch::Backend;
use pack::CodeTable;
use task::{Decode, Task};

use super::EmulatedPlane;
use crate::Generation;
use crate::device::{DecodeKernel, DecodeSequence, DeviceError};
use crate::fp8::Format;

/// Query rows of a task at most.
const TASK_ROWS: usize = 128;
/// Scores of a task at most, where it can be cut. They are few beside the keys; what counts is that a token's heads are
/// read together, because they share pages.
const TASK_SCORES: usize = 1 << 20;

static TABLES: [CodeTable; 2] = [
    CodeTable::new(Format::kv_cache(Generation::Gaudi2)),
    CodeTable::new(Format::kv_cache(Generation::Gaudi3)),
];

/// `libm::expf` of each number, all of at most 0: the same bits, sixteen at a time.
pub(super) fn exponentials(numbers: &mut [f32]) {
    Backend::active().map(numbers, arch::Operation::Exp);
}

/// How the work of a sequence is cut: KV heads and query rows of a task.
fn cut(kernel: &DecodeKernel<'_, EmulatedPlane>, sequence: &DecodeSequence) -> (usize, usize) {
    let kv_heads = kernel.key_layout.heads;
    let rows = sequence.tokens * (kernel.num_heads / kv_heads);
    let threads = rayon::current_num_threads();
    let wanted = if threads == 1 { 1 } else { (2 * threads).div_ceil(kernel.sequences.len()) };
    let (mut task_heads, mut task_rows) = (kv_heads, rows.min(TASK_ROWS));
    let count = |heads, rows_of_task| kv_heads.div_ceil(heads) * rows.div_ceil(rows_of_task);
    // Fewer heads cost nothing as long as the memory of a token's row is read in long pieces.
    while task_heads > 1
        && (count(task_heads, task_rows) < wanted
            || task_heads * task_rows * sequence.context_tokens > TASK_SCORES)
    {
        task_heads = task_heads.div_ceil(2);
    }
    // Rows of a head that are split decode its keys twice.
    while task_rows >= 16 && count(task_heads, task_rows) * kernel.sequences.len() < threads {
        task_rows = task_rows.div_ceil(2);
    }
    (task_heads, task_rows)
}

/// Attention of several sequences over cache planes, as [`Device::decode`](crate::device::Device::decode) has it.
pub(super) fn decode(
    generation: Generation,
    kernel: &DecodeKernel<'_, EmulatedPlane>,
    out: &mut [f32],
) -> Result<(), DeviceError> {
    decode_on(Backend::active(), generation, kernel, out)
}

/// [`decode`] by given kernels.
fn decode_on(
    backend: Backend,
    generation: Generation,
    kernel: &DecodeKernel<'_, EmulatedPlane>,
    out: &mut [f32],
) -> Result<(), DeviceError> {
    let table = match generation {
        Generation::Gaudi2 => &TABLES[0],
        Generation::Gaudi3 => &TABLES[1],
    };
    let decode = Decode { generation, table, kernel };
    let out = Mutex::new(out);
    kernel.sequences.par_iter().with_max_len(1).try_for_each(|sequence| {
        let kv_heads = kernel.key_layout.heads;
        let rows = sequence.tokens * (kernel.num_heads / kv_heads);
        let (task_heads, task_rows) = cut(kernel, sequence);
        let (across, down) = (kv_heads.div_ceil(task_heads), rows.div_ceil(task_rows));
        (0..across * down).into_par_iter().with_max_len(1).try_for_each(|number| {
            let (head, row) = (number % across * task_heads, number / across * task_rows);
            let task = Task {
                decode: &decode,
                sequence,
                heads: head..(head + task_heads).min(kv_heads),
                rows: row..(row + task_rows).min(rows),
            };
            workspace::with(|workspace| {
                task.prepare(workspace)?;
                backend.run(&task, workspace);
                let mut out = out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                task.scatter(workspace, &mut out);
                Ok(())
            })
        })
    })
}
