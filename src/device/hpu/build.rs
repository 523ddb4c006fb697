//! From a description to a recipe.

use std::ffi::CString;
use std::rc::Rc;
use std::sync::Arc;

use habana_sys::synDeviceType;

use super::error::HpuError;
use super::graph::{Graph, Place};
use super::synapse::{self, Api, Recipe, Section, Tensor, create_node};

/// Builds the graph and compiles it.
pub(super) fn compile(api: &Arc<Api>, device_type: synDeviceType, graph: &Graph) -> Result<Recipe, HpuError> {
    let built = synapse::Graph::create(api, device_type, graph.is_for_inference)?;
    let mut sections: Vec<Option<Rc<Section>>> = Vec::with_capacity(graph.tensors.len());
    let mut tensors = Vec::with_capacity(graph.tensors.len());
    for spec in &graph.tensors {
        let section = match &spec.place {
            Place::Input | Place::Output => Some(Section::create(&built)?),
            // What changes an operand in place is a second tensor at its address.
            Place::InPlaceOf(id) => sections[id.index()].clone(),
            Place::Inner | Place::Constant(_) => None,
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
