//! `gaudi_kv._native`: the library for Python, on NumPy arrays and CPU torch tensors without copies.
//!
//! Every function resolves its operands to addresses while it holds the interpreter, then lets go of it, leases the
//! memory (`lease`) and works on the threads of `pool`. The typed package over this module makes outputs and names
//! the errors.

mod array;
mod batch;
mod call;
mod codecs;
mod convert;
mod device;
mod error;
mod geometry;
mod image;
mod indices;
mod inspect;
mod lease;
mod lent;
mod mha;
mod mla;
mod names;
mod output;
mod scale;
mod slots;
mod store;

use pyo3::prelude::*;

/// The private native module of `gaudi_kv`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batch::Batch;
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
    use super::names::kv_scale_parameters;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
