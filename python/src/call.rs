//! How a call does its work.

use std::cell::RefCell;

use gaudi_kv::attention::MlaWorkspace;
use pyo3::prelude::*;

use crate::error::Failure;
use crate::lease::{Lease, Operands};
use crate::pool::pool;

/// Memory that the calls of a thread use one after the other.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) mla: MlaWorkspace,
    /// Results on their way to a bfloat16 output.
    pub(crate) results: Vec<f32>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Lets go of the interpreter, leases the memory of the operands, and works on the threads of the process.
pub(crate) fn work<T: Send>(
    py: Python<'_>,
    operands: Operands,
    work: impl FnOnce(&Lease, &mut Workspace) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let result = py.detach(|| {
        let lease = operands.lease()?;
        let pool = pool()?;
        WORKSPACE.with_borrow_mut(|workspace| pool.install(|| work(&lease, workspace)))
    });
    Ok(result?)
}
