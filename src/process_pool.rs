//! A pool of threads for what is loaded into a process of someone else's: the C library and the Python module.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process: as many threads as `RAYON_NUM_THREADS` says, else as the process may use. What this library
/// computes in its [`install`](ThreadPool::install) runs on it.
///
/// A forked child has none of its parent's threads, for which rayon's global pool would wait there; it gets a pool of its
/// own here.
///
/// # Errors
/// Threads cannot be started.
pub fn process_pool() -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = pool.as_ref()
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let new = Arc::new(ThreadPoolBuilder::new().thread_name(|n| format!("gaudi-kv-{n}")).build()?);
    let old = pool.replace((process, Arc::clone(&new)));
    // Dropping the parent's pool would wait for threads that this process does not have.
    std::mem::forget(old);
    Ok(new)
}
