//! The work of a call: without the interpreter's lock, on the thread that calls or on the pool of the process.

use std::cell::RefCell;

use gaudi_kv::attention::MlaWorkspace;
use gaudi_kv::device::emulated::Mode;
use gaudi_kv::device::{AnyDevice, Backend, Device as _};
use gaudi_kv::process_pool;
use half::bf16;
use pyo3::prelude::*;

use crate::error::Failure;
use crate::memory_lease::{Lease, Operands};

/// Memory that the calls of a thread use one after the other.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) mla: MlaWorkspace,
    /// Query, keys and values whose rows were apart.
    pub(crate) rows: [Vec<bf16>; 3],
    /// Results on their way to a bfloat16 output.
    pub(crate) results: Vec<f32>,
}

/// Rows or results of more bytes than this are given back to the system.
const KEPT_BYTES: usize = 64 << 20;

impl Workspace {
    /// Large contexts do not keep their memory between calls.
    fn trim(&mut self) {
        self.mla.trim();
        let words: usize = self.rows.iter().map(Vec::capacity).sum();
        if words * size_of::<bf16>() + self.results.capacity() * size_of::<f32>() > KEPT_BYTES {
            (self.rows, self.results) = Default::default();
        }
    }
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Multiplications of a computation that one thread has done before others are awake.
const SMALL: usize = 1 << 21;

/// Lets go of the interpreter, leases the memory of the operands, and works on the thread that calls.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    operands: Operands,
    work: impl FnOnce(&Lease) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    Ok(py.detach(|| work(&operands.lease()?))?)
}

/// Works as [`work`] does, on the pool of the process where that gains anything. `products` is how many multiplications
/// there are.
///
/// `lock` locks what the work needs, on the thread that calls: a thread of the pool that waits takes on another call
/// meanwhile, whose lock would wait for a writer that waits for the first.
pub(crate) fn compute<G: Sync>(
    py: Python<'_>,
    operands: Operands,
    device: &AnyDevice,
    products: usize,
    lock: impl FnOnce() -> G + Send,
    work: impl FnOnce(&Lease, &mut Workspace, &AnyDevice, &G) -> Result<(), Failure> + Send,
) -> PyResult<()> {
    let result = py.detach(|| {
        let lease = operands.lease()?;
        let pool = process_pool()?;
        let locked = lock();
        WORKSPACE.with_borrow_mut(|workspace| {
            let on_caller = match device.backend() {
                // The matrix engine of the exact mode is the pool's.
                Backend::Emulated(Mode::Exact) => false,
                Backend::Emulated(Mode::Fast) => products <= SMALL || pool.current_num_threads() == 1,
                // It has threads of its own, and none of the pool should wait for them.
                Backend::Hpu => true,
            };
            let result = if on_caller {
                work(&lease, workspace, &device.on_calling_thread(), &locked)
            } else {
                pool.install(|| work(&lease, workspace, device, &locked))
            };
            workspace.trim();
            result
        })
    });
    Ok(result?)
}

/// Lets go of the interpreter and works on the pool of the process.
pub(crate) fn in_pool<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    Ok(py.detach(|| process_pool()?.install(work))?)
}
