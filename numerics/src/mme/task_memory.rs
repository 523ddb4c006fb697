//! Memory that tasks use again: what a thread's tasks needed stays with it.

use std::cell::RefCell;

use super::chunk::Chunk;

/// What a task decodes and sums in.
#[derive(Default)]
pub(super) struct TaskMemory {
    pub(super) chunk: Chunk,
    pub(super) tile: Vec<f32>,
    pub(super) scalar_lanes: Vec<u64>,
}

thread_local! {
    static TASK: RefCell<TaskMemory> = RefCell::default();
}

/// Runs a task with the thread's memory. Tasks do not nest.
pub(super) fn with_task<R>(task: impl FnOnce(&mut TaskMemory) -> R) -> R {
    TASK.with_borrow_mut(task)
}
