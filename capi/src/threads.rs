//! The threads of a process.

use kv::process_pool;

use crate::failure::Failure;

/// Works on the threads of this process, and waits.
pub(crate) fn on_threads<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let pool = process_pool();
    pool.map_err(|error| Failure::no_threads(format!("cannot start threads: {error}")))?.install(work)
}
