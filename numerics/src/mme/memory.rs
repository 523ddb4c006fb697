//! Memory that products use again: what a thread's products needed stays with it.

use std::cell::RefCell;

use super::gemm::Prepared;
use super::kernel::Kernel;
use super::pack::Chunk;

/// Packed operands of more bytes than this are given back to the system.
const KEPT_BYTES: usize = 64 << 20;

/// What a task decodes and sums in.
#[derive(Default)]
pub(super) struct TaskMemory {
    pub(super) chunk: Chunk,
    pub(super) tile: Vec<f32>,
    pub(super) scalar_lanes: Vec<u64>,
}

/// The lists of a batch of products. None but `prepared` has elements between batches; what those hold is of no use.
#[derive(Default)]
pub(super) struct BatchMemory {
    pub(super) prepared: Vec<Prepared<'static>>,
    pub(super) tasks: Vec<Kernel<'static, 'static>>,
    pub(super) parts: Vec<&'static mut [f32]>,
}

thread_local! {
    static TASK: RefCell<TaskMemory> = RefCell::default();
    /// A stack: a thread that waits for the tasks of a batch may start another one meanwhile.
    static BATCHES: RefCell<Vec<BatchMemory>> = const { RefCell::new(Vec::new()) };
}

/// Runs a task with the thread's memory. Tasks do not nest.
pub(super) fn with_task<R>(task: impl FnOnce(&mut TaskMemory) -> R) -> R {
    TASK.with_borrow_mut(task)
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

/// An empty list in the memory of another one. The types differ in lifetimes only, so collecting takes no new memory.
pub fn emptied<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    list.into_iter().map(|_| unreachable!("the list is empty")).collect()
}
