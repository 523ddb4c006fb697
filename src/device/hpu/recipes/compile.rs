//! Compiling a graph's description to a recipe.

use std::ffi::CString;
use std::rc::Rc;
use std::sync::Arc;

use habana_sys::synDeviceType;

use crate::device::hpu::error::HpuError;
use crate::device::hpu::graph::{GraphSpec, TensorRole};
use crate::device::hpu::synapse::{Api, Graph, Recipe, Section, Tensor, create_node};

/// Builds a graph from its description, and compiles it.
pub(crate) fn compile(
    api: &Arc<Api>,
    device_type: synDeviceType,
    graph: &GraphSpec,
) -> Result<Recipe, HpuError> {
    let built = Graph::create(api, device_type, graph.is_for_inference)?;
    let mut sections: Vec<Option<Rc<Section>>> = Vec::with_capacity(graph.tensors.len());
    let mut tensors = Vec::with_capacity(graph.tensors.len());
    for spec in &graph.tensors {
        let section = match &spec.role {
            TensorRole::Input | TensorRole::Output => Some(Section::create(&built)?),
            // What changes an operand in place is a second tensor at its address.
            TensorRole::InPlaceOf(id) => sections[id.index()].clone(),
            TensorRole::Inner | TensorRole::Constant(_) => None,
        };
        tensors.push(Tensor::create(&built, spec, section.as_ref())?);
        sections.push(section);
    }
    for node in &graph.nodes {
        create_node(&built, node, &tensors)?;
    }
    let name = CString::new(graph.family).unwrap_or_default();
    Ok(built.compile(&name)?)
}
