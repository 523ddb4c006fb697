//! The buffers that computations by the matrix engine need: each thread keeps its own from one to the next.

use std::cell::RefCell;

use half::bf16;

use super::query_rows::QueryRows;
use crate::mme::{Matrix, Product};

/// A workspace of more bytes than this is given back to the system.
const KEPT_BYTES: usize = 64 << 20;

/// Buffers of a task or a projection. None is cleared between them.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) query: QueryRows,
    /// Scores, which become probabilities.
    pub(super) scores: Vec<f32>,
    /// Sums of probabilities.
    pub(super) sums: Vec<f32>,
    /// Probabilities as the second product takes them.
    pub(super) prob_codes: Vec<u8>,
    pub(super) prob_values: Vec<bf16>,
    /// Rows of a float32 cache as bfloat16.
    pub(super) gathered: Vec<bf16>,
    /// Second product, or projection.
    pub(super) accumulators: Vec<f32>,
    /// Results, row by row.
    pub(super) out: Vec<f32>,
    pub(super) lists: Lists,
}

/// Lists that have elements only while they are in use.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) matrices: Vec<Matrix<'static>>,
    pub(super) products: Vec<Product<'static>>,
}

impl Workspace {
    /// Bytes of what grows with the context.
    fn bytes(&self) -> usize {
        let floats = self.scores.capacity() + self.accumulators.capacity() + self.out.capacity();
        let words = self.prob_values.capacity() + self.gathered.capacity();
        floats * size_of::<f32>() + words * size_of::<bf16>() + self.prob_codes.capacity()
    }
}

thread_local! {
    /// A stack: a thread that waits for a matrix product may start another task meanwhile.
    static SPARE: RefCell<Vec<Workspace>> = const { RefCell::new(Vec::new()) };
}

/// Runs a task with a workspace of the thread.
pub(super) fn with<R>(task: impl FnOnce(&mut Workspace) -> R) -> R {
    let mut workspace = SPARE.with_borrow_mut(|spare| spare.pop().unwrap_or_default());
    let result = task(&mut workspace);
    if workspace.bytes() <= KEPT_BYTES {
        SPARE.with_borrow_mut(|spare| spare.push(workspace));
    }
    result
}
