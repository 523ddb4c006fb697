//! `gaudi_kv._native`: the library for Python, on NumPy arrays and CPU torch tensors without copies.
//!
//! Every function resolves its operands to addresses while it holds the interpreter, then lets go of it, leases the
//! memory (`memory_lease`) and works on the thread that calls or on those of the process's pool (`dispatch`). The typed
//! package over this module makes outputs and names the errors.

mod array;
mod attention_output;
mod batch;
mod block_bytes;
mod cache;
mod codecs;
mod convert;
mod device;
mod dispatch;
mod error;
mod geometry;
mod indices;
mod inspect;
mod memory_lease;
mod mha;
mod mla;
mod scale;
mod scale_names;
mod slots;
mod tensor_plane;

use pyo3::prelude::*;

/// The private native module of `gaudi_kv`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::cache::Cache;
    #[pymodule_export]
    use super::codecs::{dequant_fp8, quant_fp8, rerange, round_bf16};
    #[pymodule_export]
    use super::convert::convert;
    #[pymodule_export]
    use super::device::{Device, installed_generation};
    #[pymodule_export]
    use super::inspect::{check, inspect};
    #[pymodule_export]
    use super::mha::{MhaAttention, MhaCache};
    #[pymodule_export]
    use super::mla::{MlaAttention, MlaCache};
    #[pymodule_export]
    use super::scale_names::kv_scale_parameters;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
