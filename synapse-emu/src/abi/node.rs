use std::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;

use habana_sys::{synDataType, synGraphHandle, synNodeId, synRoundingMode, synStatus, synTensor};

use super::{api, pointer};
use crate::graph::builder::Graph;
use crate::graph::node::NodeRequest;
use crate::lock::lock;
use crate::outcome::Outcome;
use crate::state::library::runtime;
use crate::state::runtime::Runtime;

/// Parameters of a node at most.
const MAX_PARAMS_BYTES: c_uint = 1 << 16;

/// Looks at a graph, or changes it.
fn with<T>(handle: synGraphHandle, act: impl FnOnce(&Runtime, &mut Graph) -> Outcome<T>) -> Outcome<T> {
    let runtime = runtime()?;
    let graph = runtime.graphs.get(pointer::number(handle))?;
    let mut graph = lock(&graph);
    act(&runtime, &mut graph)
}

/// The arguments of both creating calls.
struct Creation {
    graph: synGraphHandle,
    inputs: Vec<synTensor>,
    outputs: Vec<synTensor>,
    params: Vec<u8>,
    guid: String,
    name: String,
}

impl Creation {
    fn create(&self) -> Outcome<u64> {
        let runtime = runtime()?;
        let graph = runtime.graphs.get(pointer::number(self.graph))?;
        let find = |&tensor: &synTensor| {
            if tensor.is_null() {
                return Ok(None);
            }
            let tensor = runtime.tensors.get(pointer::number(tensor))?;
            let is_here = Arc::ptr_eq(&tensor.graph, &graph);
            is_here.then_some(Some(tensor.index)).ok_or(synStatus::synInvalidArgument)
        };
        let inputs = self.inputs.iter().map(find).collect::<Outcome<_>>()?;
        let outputs = self.outputs.iter().map(find).collect::<Outcome<_>>()?;
        let request =
            NodeRequest { guid: &self.guid, name: &self.name, params: &self.params, inputs, outputs };
        lock(&graph).add_node(&runtime.config, request)
    }
}

/// Copies a node's parameters.
///
/// # Safety
/// `source` is null or valid for reads of `count` bytes.
unsafe fn params(source: *const c_void, count: c_uint) -> Outcome<Vec<u8>> {
    if count > MAX_PARAMS_BYTES {
        return Err(synStatus::synInvalidArgument);
    }
    // SAFETY: handed on.
    unsafe { pointer::bytes(source.cast(), u64::from(count)) }
}

api! {
    /// Layouts are not used.
    fn synNodeCreate(
        graphHandle: synGraphHandle,
        pInputsTensorList: *const synTensor,
        pOutputsTensorList: *const synTensor,
        numberInputs: u32,
        numberOutputs: u32,
        pUserParams: *const c_void,
        paramsSize: c_uint,
        pGuid: *const c_char,
        pName: *const c_char,
        _inputLayouts: *mut *const c_char,
        _outputLayouts: *mut *const c_char,
    ) {
        runtime()?;
        let creation = Creation {
            graph: graphHandle,
            inputs: pointer::list(pInputsTensorList, u64::from(numberInputs))?,
            outputs: pointer::list(pOutputsTensorList, u64::from(numberOutputs))?,
            params: params(pUserParams, paramsSize)?,
            guid: pointer::text(pGuid)?,
            name: pointer::optional_text(pName)?.unwrap_or_default(),
        };
        creation.create().map(drop)
    }

    /// Layouts are not used.
    fn synNodeCreateWithId(
        graphHandle: synGraphHandle,
        pInputsTensorList: *const synTensor,
        pOutputsTensorList: *const synTensor,
        numberInputs: u32,
        numberOutputs: u32,
        pUserParams: *const c_void,
        paramsSize: c_uint,
        pGuid: *const c_char,
        pName: *const c_char,
        nodeUniqueId: *mut synNodeId,
        _inputLayouts: *mut *const c_char,
        _outputLayouts: *mut *const c_char,
    ) {
        runtime()?;
        let creation = Creation {
            graph: graphHandle,
            inputs: pointer::list(pInputsTensorList, u64::from(numberInputs))?,
            outputs: pointer::list(pOutputsTensorList, u64::from(numberOutputs))?,
            params: params(pUserParams, paramsSize)?,
            guid: pointer::text(pGuid)?,
            name: pointer::optional_text(pName)?.unwrap_or_default(),
        };
        if nodeUniqueId.is_null() {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write(nodeUniqueId, creation.create()?)
    }

    /// Not emulated: nodes have the precision that their guid says.
    fn synNodeTypeSetPrecision(graphHandle: synGraphHandle, guid: *const c_char, _precision: synDataType) {
        with(graphHandle, |_, _| Ok(()))?;
        pointer::text(guid)?;
        Err(synStatus::synUnsupported)
    }

    fn synNodeDependencySet(
        graphHandle: synGraphHandle,
        pBlockingNodesIdList: *const synNodeId,
        pBlockedNodesIdList: *const synNodeId,
        numberblocking: u32,
        numberblocked: u32,
    ) {
        runtime()?;
        let blocking = pointer::list(pBlockingNodesIdList, u64::from(numberblocking))?;
        let blocked = pointer::list(pBlockedNodesIdList, u64::from(numberblocked))?;
        with(graphHandle, |_, graph| graph.add_dependencies(&blocking, &blocked))
    }

    /// Every node is deterministic; the setting is kept to be read again.
    fn synNodeSetDeterministic(graphHandle: synGraphHandle, nodeId: synNodeId, useDeterministic: bool) {
        with(graphHandle, |_, graph| {
            graph.node_mut(nodeId)?.is_deterministic = useDeterministic;
            Ok(())
        })
    }

    fn synNodeGetDeterministic(graphHandle: synGraphHandle, nodeId: synNodeId, useDeterministic: *mut bool) {
        let is_deterministic = with(graphHandle, |_, graph| Ok(graph.node_mut(nodeId)?.is_deterministic))?;
        pointer::write(useDeterministic, is_deterministic)
    }

    /// Rounding to nearest is the only mode that is emulated.
    fn synNodeSetRoundingMode(graphHandle: synGraphHandle, nodeId: synNodeId, roundingMode: synRoundingMode) {
        with(graphHandle, |_, graph| graph.node_mut(nodeId).map(drop))?;
        match roundingMode {
            synRoundingMode::synRoundToNearest => Ok(()),
            mode if mode.0 <= synRoundingMode::synStochasticRoundingAndNearest.0 => Err(synStatus::synUnsupported),
            _ => Err(synStatus::synInvalidArgument),
        }
    }

    fn synNodeGetRoundingMode(
        graphHandle: synGraphHandle,
        nodeId: synNodeId,
        pRoundingMode: *mut synRoundingMode,
    ) {
        with(graphHandle, |_, graph| graph.node_mut(nodeId).map(drop))?;
        pointer::write(pRoundingMode, synRoundingMode::synRoundToNearest)
    }

    fn synNodeSetUserParams(
        graphHandle: synGraphHandle,
        nodeId: synNodeId,
        userParams: *const c_void,
        paramsSize: c_uint,
    ) {
        let params = params(userParams, paramsSize)?;
        with(graphHandle, |runtime, graph| graph.set_params(&runtime.config, nodeId, &params))
    }

    /// Without a buffer only the size comes back; else `paramsSize` is the room in it.
    fn synNodeGetUserParams(
        graphHandle: synGraphHandle,
        nodeId: synNodeId,
        userParams: *mut c_void,
        paramsSize: *mut c_uint,
    ) {
        let params = with(graphHandle, |_, graph| Ok(graph.node_mut(nodeId)?.params.clone()))?;
        let room = pointer::read(paramsSize)?;
        pointer::write(paramsSize, params.len() as c_uint)?;
        if userParams.is_null() {
            return Ok(());
        }
        if (room as usize) < params.len() {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write_list(userParams.cast(), &params)
    }
}
