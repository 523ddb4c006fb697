//! The threads of a process.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process. A forked child has none of its parent's threads and gets a pool of its own.
fn pool() -> Result<Arc<ThreadPool>, Failure> {
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, pool)) = pool.as_ref()
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let new = ThreadPoolBuilder::new().thread_name(|number| format!("gaudi-kv-{number}")).build();
    let new = Arc::new(new.map_err(|error| Failure::no_threads(format!("cannot start threads: {error}")))?);
    let old = pool.replace((process, Arc::clone(&new)));
    // Dropping the parent's pool would wait for threads that this process does not have.
    std::mem::forget(old);
    Ok(new)
}

/// Works on the threads of this process, and waits.
pub(crate) fn on_threads<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    pool()?.install(work)
}
