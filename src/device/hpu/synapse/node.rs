//! Nodes of a graph, which owns them.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::ffi::CString;
use std::rc::Rc;

use habana_sys::synTensor;

use super::graph::Graph;
use super::tensor::Tensor;
use crate::device::hpu::error::CallFailure;
use crate::device::hpu::graph::NodeSpec;

/// Adds a node between tensors of the graph. Sums of a product are taken in an order of their own, however the work is
/// split.
pub(crate) fn create_node(graph: &Rc<Graph>, node: &NodeSpec, tensors: &[Tensor]) -> Result<(), CallFailure> {
    let api = graph.api();
    let inputs: Vec<synTensor> = node.inputs.iter().map(|id| tensors[id.index()].handle()).collect();
    let output = tensors[node.output.index()].handle();
    let guid = CString::new(node.guid.as_str()).unwrap_or_default();
    let params = node.params.bytes();
    let pointer = if params.is_empty() { std::ptr::null() } else { params.as_ptr().cast() };
    let mut id = 0;
    // SAFETY: the tensors are of this graph; the lists, the texts and the parameters live until the call returns, and their
    // sizes are given; absent layouts are null.
    let status = unsafe {
        (api.functions().synNodeCreateWithId)(
            graph.handle(),
            inputs.as_ptr(),
            &raw const output,
            inputs.len() as u32,
            1,
            pointer,
            params.len() as u32,
            guid.as_ptr(),
            std::ptr::null(),
            &raw mut id,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
    api.check("synNodeCreateWithId", status, || node.guid.clone())?;
    if node.is_product() {
        // SAFETY: the node is of this graph.
        let status = unsafe { (api.functions().synNodeSetDeterministic)(graph.handle(), id, true) };
        api.check("synNodeSetDeterministic", status, || node.guid.clone())?;
    }
    Ok(())
}
