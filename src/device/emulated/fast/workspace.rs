//! Memory that computations use again: each thread has its own, which grows to the largest task and stays.

use std::cell::RefCell;

use super::lanes::{Line, Step};

/// Buffers of a task. None is cleared between tasks.
#[derive(Default)]
pub(super) struct Workspace {
    /// Query rows as they come, their codes, and their bfloat16 words.
    pub(super) query: Vec<half::bf16>,
    pub(super) codes: Vec<u8>,
    pub(super) words: Vec<u16>,
    /// What multiplies each query row of the first product.
    pub(super) dequant: Vec<f32>,
    /// Query rows as cells.
    pub(super) cells: Vec<u32>,
    /// Scores, which become probabilities.
    pub(super) scores: Vec<u32>,
    /// A row of scores while it goes through the softmax.
    pub(super) scratch: Vec<Line>,
    /// Sums of probabilities.
    pub(super) sums: Vec<f32>,
    /// Keys or values of a tile.
    pub(super) panel: Vec<Step>,
    /// Second product.
    pub(super) accumulators: Vec<Line>,
    /// Results, row by row.
    pub(super) out: Vec<f32>,
    /// Results of a projection, bfloat16 words, row by row.
    pub(super) projected: Vec<u16>,
    /// Rows of a float32 cache as bfloat16 words.
    pub(super) narrowed: Vec<u16>,
    /// What stands where a tile has no key.
    pub(super) no_codes: Vec<u8>,
    pub(super) no_words: Vec<u16>,
}

/// The first `len` elements of a buffer, which grows if it has fewer.
pub(super) fn take<T: Clone>(buffer: &mut Vec<T>, len: usize, zero: T) -> &mut [T] {
    if buffer.len() < len {
        buffer.resize(len, zero);
    }
    &mut buffer[..len]
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Runs a task with the thread's workspace. Tasks do not nest: nothing in one waits for other tasks.
pub(super) fn with<R>(task: impl FnOnce(&mut Workspace) -> R) -> R {
    WORKSPACE.with_borrow_mut(task)
}
