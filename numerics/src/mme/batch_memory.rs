//! Memory that batches of products use again: what a thread's batches needed stays with it.

use std::cell::RefCell;

use super::prepared::Prepared;
use super::task::Task;

/// Packed operands of more bytes than this are given back to the system.
const KEPT_BYTES: usize = 64 << 20;

/// The lists of a batch of products. None but `prepared` has elements between batches; what those hold is of no use.
#[derive(Default)]
pub(super) struct BatchMemory {
    pub(super) prepared: Vec<Prepared<'static>>,
    pub(super) tasks: Vec<Task<'static, 'static>>,
    pub(super) parts: Vec<&'static mut [f32]>,
}

thread_local! {
    /// A stack: a thread that waits for the tasks of a batch may start another one meanwhile.
    static BATCHES: RefCell<Vec<BatchMemory>> = const { RefCell::new(Vec::new()) };
}

impl BatchMemory {
    /// What an earlier batch left.
    pub(super) fn take() -> Self {
        BATCHES.with_borrow_mut(|batches| batches.pop().unwrap_or_default())
    }

    /// Leaves it for a later batch.
    pub(super) fn keep(self) {
        if self.prepared.iter().map(Prepared::bytes).sum::<usize>() <= KEPT_BYTES {
            BATCHES.with_borrow_mut(|batches| batches.push(self));
        }
    }
}
