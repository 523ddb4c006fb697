//! The threads that tasks run on.

use rayon::prelude::*;

use crate::device::DeviceError;

/// Where the tasks of a computation run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Threads {
    /// On those of the current rayon pool.
    Pool,
    /// On the one that asks.
    Calling,
}

impl Threads {
    /// How many there are.
    pub(in super::super) fn count(self) -> usize {
        match self {
            Self::Pool => rayon::current_num_threads(),
            Self::Calling => 1,
        }
    }

    /// Runs tasks `0..count`.
    pub(in super::super) fn each(
        self,
        count: usize,
        task: impl Fn(usize) -> Result<(), DeviceError> + Sync,
    ) -> Result<(), DeviceError> {
        match self {
            Self::Pool => (0..count).into_par_iter().with_max_len(1).try_for_each(&task),
            Self::Calling => (0..count).try_for_each(task),
        }
    }
}
