use std::ffi::c_char;
use std::sync::{Arc, Mutex};

use habana_sys::{
    synDeviceType, synGraphAttribute, synGraphAttributeVal, synGraphHandle, synNodeHandleMap,
    synRecipeHandle, synStatus, synTensorHandleMap,
};

use super::{api, pointer};
use crate::generation::{device_type, of_device_type};
use crate::graph::builder::{Attributes, Graph};
use crate::graph::handles::{SectionRef, TensorRef};
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::recipe::executable::Recipe;
use crate::state::library::runtime;

/// Looks at a graph, or changes it.
fn with<T>(handle: synGraphHandle, act: impl FnOnce(&mut Graph) -> Outcome<T>) -> Outcome<T> {
    let graph = runtime()?.graphs.get(pointer::number(handle))?;
    act(&mut lock(&graph))
}

fn create(handle: *mut synGraphHandle, device_type: synDeviceType) -> Outcome {
    let runtime = runtime()?;
    if handle.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    let generation = of_device_type(device_type).ok_or(synStatus::synDeviceTypeMismatch)?;
    let graph = runtime.graphs.insert(Arc::new(Mutex::new(Graph::new(generation))));
    // SAFETY: not null, and the caller of the API promises the room for a handle.
    unsafe { pointer::write(handle, pointer::handle(graph)) }
}

fn set_integers(handle: synGraphHandle, attributes: &[synGraphAttribute], values: &[u64]) -> Outcome {
    with(handle, |graph| {
        let mut pairs = attributes.iter().zip(values);
        pairs.try_for_each(|(&attribute, &value)| graph.set_attribute(attribute, value, value as f64))
    })
}

/// As an integer, and as it is.
fn attribute(attributes: &Attributes, attribute: synGraphAttribute) -> Outcome<(u64, synGraphAttributeVal)> {
    let flag = |is_set: bool| {
        let value = u64::from(is_set);
        (value, synGraphAttributeVal { iAttrVal: value })
    };
    Ok(match attribute {
        synGraphAttribute::GRAPH_ATTRIBUTE_INFERENCE => flag(attributes.is_inference),
        synGraphAttribute::GRAPH_ATTRIBUTE_QUANTIZATION => flag(attributes.is_quantized),
        synGraphAttribute::GRAPH_ATTRIBUTE_BACKOFF_FACTOR => {
            let factor = attributes.backoff_factor;
            (factor as u64, synGraphAttributeVal { dAttrVal: factor })
        }
        _ => return Err(synStatus::synInvalidArgument),
    })
}

fn get_attributes(
    handle: synGraphHandle,
    wanted: &[synGraphAttribute],
) -> Outcome<Vec<(u64, synGraphAttributeVal)>> {
    let attributes = with(handle, |graph| Ok(graph.attributes))?;
    wanted.iter().map(|&wanted| attribute(&attributes, wanted)).collect()
}

api! {
    /// For either generation, whichever is emulated.
    fn synGraphCreate(pGraphHandle: *mut synGraphHandle, deviceType: synDeviceType) {
        create(pGraphHandle, deviceType)
    }

    /// A graph like any other.
    fn synGraphCreateEager(pGraphHandle: *mut synGraphHandle, deviceType: synDeviceType) {
        create(pGraphHandle, deviceType)
    }

    fn synGraphSetAttribute(
        graphHandle: synGraphHandle,
        attributes: *const synGraphAttribute,
        values: *const u64,
        size: u32,
    ) {
        let attributes = pointer::list(attributes, u64::from(size))?;
        let values = pointer::list(values, u64::from(size))?;
        set_integers(graphHandle, &attributes, &values)
    }

    fn synGraphSetAttributes(
        graphHandle: synGraphHandle,
        attributes: *const synGraphAttribute,
        values: *const synGraphAttributeVal,
        size: u32,
    ) {
        let attributes = pointer::list(attributes, u64::from(size))?;
        // Both members are 8 bytes of which every pattern is a value.
        let values = pointer::list(values.cast::<u64>(), u64::from(size))?;
        with(graphHandle, |graph| {
            let mut pairs = attributes.iter().zip(&values);
            pairs.try_for_each(|(&attribute, &bits)| graph.set_attribute(attribute, bits, f64::from_bits(bits)))
        })
    }

    fn synGraphGetAttribute(
        graphHandle: synGraphHandle,
        attributes: *const synGraphAttribute,
        values: *mut u64,
        size: u32,
    ) {
        let attributes = pointer::list(attributes, u64::from(size))?;
        let found: Vec<_> = get_attributes(graphHandle, &attributes)?.iter().map(|&(value, _)| value).collect();
        pointer::write_list(values, &found)
    }

    fn synGraphGetAttributes(
        graphHandle: synGraphHandle,
        attributes: *const synGraphAttribute,
        values: *mut synGraphAttributeVal,
        size: u32,
    ) {
        let attributes = pointer::list(attributes, u64::from(size))?;
        let found: Vec<_> = get_attributes(graphHandle, &attributes)?.iter().map(|&(_, value)| value).collect();
        pointer::write_list(values, &found)
    }

    fn synGraphGetDeviceType(graphHandle: synGraphHandle, deviceType: *mut synDeviceType) {
        let generation = with(graphHandle, |graph| Ok(graph.generation))?;
        pointer::write(deviceType, device_type(generation))
    }

    /// The build log is not written. The graph can be compiled again.
    fn synGraphCompile(
        pRecipeHandle: *mut synRecipeHandle,
        graphHandle: synGraphHandle,
        pRecipeName: *const c_char,
        _pBuildLog: *const c_char,
    ) {
        let runtime = runtime()?;
        let name = pointer::text(pRecipeName)?;
        if pRecipeHandle.is_null() {
            return Err(synStatus::synInvalidArgument);
        }
        let plan = with(graphHandle, |graph| graph.compile(&name))?;
        let recipe = Recipe::new(&runtime.config, plan)?;
        pointer::write(pRecipeHandle, pointer::handle(runtime.recipes.insert(Arc::new(recipe))))
    }

    /// Without lists only their lengths come back; else the numbers are the room in them. Nodes keep their ids.
    fn synGraphDuplicate(
        graphHandle: synGraphHandle,
        newGraphHandle: *mut synGraphHandle,
        tensorsMap: *mut synTensorHandleMap,
        numTensors: *mut u32,
        nodesMap: *mut synNodeHandleMap,
        numNodes: *mut u32,
    ) {
        let runtime = runtime()?;
        let original = with(graphHandle, |graph| Ok(graph.clone()))?;
        let (tensor_room, node_room) = (pointer::read(numTensors)?, pointer::read(numNodes)?);
        let (tensors, nodes) = (original.tensors.len() as u32, original.nodes.len() as u32);
        pointer::write(numTensors, tensors)?;
        pointer::write(numNodes, nodes)?;
        if tensorsMap.is_null() && nodesMap.is_null() {
            return Ok(());
        }
        let has_room = tensor_room >= tensors && node_room >= nodes;
        let has_lists = (tensors == 0 || !tensorsMap.is_null()) && (nodes == 0 || !nodesMap.is_null());
        if newGraphHandle.is_null() || !has_room || !has_lists {
            return Err(synStatus::synInvalidArgument);
        }
        let copy = Arc::new(Mutex::new(original));
        let mut tensors_map = Vec::new();
        let mut graph = lock(&copy);
        for (index, tensor) in graph.tensors.iter_mut().enumerate() {
            let new = runtime.tensors.insert(Arc::new(TensorRef { graph: Arc::clone(&copy), index }));
            let (old, new_handle) = (pointer::handle(tensor.handle), pointer::handle(new));
            tensors_map.push(synTensorHandleMap { origHandle: old, newHandle: new_handle });
            tensor.handle = new;
        }
        for (index, section) in graph.sections.iter_mut().enumerate() {
            section.handle = runtime.sections.insert(Arc::new(SectionRef { graph: Arc::clone(&copy), index }));
        }
        drop(graph);
        let ids = 1..=u64::from(nodes);
        let nodes_map: Vec<_> = ids.map(|id| synNodeHandleMap { origHandle: id, newHandle: id }).collect();
        pointer::write_list(tensorsMap, &tensors_map)?;
        pointer::write_list(nodesMap, &nodes_map)?;
        pointer::write(newGraphHandle, pointer::handle(runtime.graphs.insert(copy)))
    }

    /// `synFail` where a tensor has no sizes: they are not inferred.
    fn synGraphInferShapes(graphHandle: synGraphHandle) {
        let is_complete = with(graphHandle, |graph| Ok(graph.tensors.iter().all(|tensor| !tensor.sizes.is_empty())))?;
        if is_complete { Ok(()) } else { Err(synStatus::synFail) }
    }

    /// Its tensors and sections go with it.
    fn synGraphDestroy(graphHandle: synGraphHandle) {
        let runtime = runtime()?;
        let graph = runtime.graphs.remove(pointer::number(graphHandle))?;
        runtime.tensors.remove_where(|tensor| Arc::ptr_eq(&tensor.graph, &graph));
        runtime.sections.remove_where(|section| Arc::ptr_eq(&section.graph, &graph));
        Ok(())
    }
}
