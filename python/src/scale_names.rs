//! The parameters of vLLM that a checkpoint's KV scales belong to.

use gaudi_kv::checkpoint::{NameClass, classify};
use pyo3::prelude::*;

/// The parameters of vLLM that a checkpoint's tensor of this name belongs to, in an MHA layer and in an MLA layer: two,
/// or none where no layer takes the tensor. None where the name has nothing to do with KV scales.
#[pyfunction]
#[pyo3(signature = (name))]
pub(crate) fn kv_scale_parameters(name: &str) -> Option<Vec<String>> {
    match classify(name) {
        NameClass::Scale(scale) => Some(vec![scale.runtime(false), scale.runtime(true)]),
        NameClass::ZeroPoint(_)
        | NameClass::Refused(_)
        | NameClass::OtherRole
        | NameClass::CrossAttention(_) => Some(Vec::new()),
        NameClass::Other => None,
    }
}
