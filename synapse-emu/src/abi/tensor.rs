use std::ffi::{c_char, c_void};
use std::sync::Arc;

use habana_sys::{
    synDataType, synFpQuantMetadata, synFpQuantParam, synGeometryType, synGraphHandle,
    synPerChannelDynamicRange, synQuantDynamicRange, synQuantFlags, synQuantMetadata,
    synQuantizationProperty, synSectionHandle, synStatus, synTensor, synTensorDescriptor,
    synTensorDeviceFullLayout, synTensorDeviceLayout, synTensorGeometry, synTensorGeometryExt,
    synTensorPermutation, synTensorType,
};

use super::{api, pointer};
use crate::graph::builder::Graph;
use crate::graph::handles::TensorRef;
use crate::graph::tensor::{FpQuant, HostData, Tensor};
use crate::lock::lock;
use crate::log;
use crate::outcome::Outcome;
use crate::sizes::MAX_DIMS;
use crate::state::library::runtime;

/// Looks at a tensor, or changes it.
pub(super) fn with<T>(handle: synTensor, act: impl FnOnce(&mut Tensor) -> Outcome<T>) -> Outcome<T> {
    with_graph(handle, |graph, index| {
        act(graph.tensors.get_mut(index).ok_or(synStatus::synInvalidArgument)?)
    })
}

/// Looks a tensor up and acts on its whole graph.
pub(super) fn with_graph<T>(
    handle: synTensor,
    act: impl FnOnce(&mut Graph, usize) -> Outcome<T>,
) -> Outcome<T> {
    let tensor = runtime()?.tensors.get(pointer::number(handle))?;
    let mut graph = lock(&tensor.graph);
    act(&mut graph, tensor.index)
}

/// Strides are those of a dense tensor, or all 0.
fn set_layout(handle: synTensor, strides: &[u32], dtype: synDataType) -> Outcome {
    with(handle, |tensor| {
        if strides.iter().any(|&stride| stride != 0) {
            return Err(log::refusal(synStatus::synUnsupported, "strides are not emulated"));
        }
        tensor.set_data_type(dtype)
    })
}

fn dims_of(sizes: &[u64; MAX_DIMS], dims: u32) -> Outcome<&[u64]> {
    sizes.get(..dims as usize).ok_or(synStatus::synInvalidTensorDimensions)
}

api! {
    /// Not emulated: the descriptor's layout is not public.
    fn synTensorCreate(
        _pTensor: *mut synTensor,
        _descriptor: *const synTensorDescriptor,
        _pSectionHandle: synSectionHandle,
        _sectionOffset: u64,
    ) {
        runtime()?;
        Err(synStatus::synUnsupported)
    }

    /// Not emulated: the descriptor's layout is not public.
    fn synConstTensorCreate(_pTensor: *mut synTensor, _descriptor: *const synTensorDescriptor) {
        runtime()?;
        Err(synStatus::synUnsupported)
    }

    /// The tensor itself stays with its graph.
    fn synTensorDestroy(tensor: synTensor) {
        runtime()?.tensors.remove(pointer::number(tensor)).map(drop)
    }

    /// Where the name is taken, the handle that has it comes back beside the status.
    fn synTensorHandleCreate(
        tensor: *mut synTensor,
        graph: synGraphHandle,
        type_: synTensorType,
        tensorName: *const c_char,
    ) {
        let runtime = runtime()?;
        let graph = runtime.graphs.get(pointer::number(graph))?;
        let name = pointer::optional_text(tensorName)?.unwrap_or_default();
        if tensor.is_null() || name.len() >= habana_sys::ENQUEUE_TENSOR_NAME_MAX_SIZE as usize {
            return Err(synStatus::synInvalidArgument);
        }
        let mut locked = lock(&graph);
        let reference = TensorRef { graph: Arc::clone(&graph), index: locked.tensors.len() };
        let handle = runtime.tensors.insert(Arc::new(reference));
        match locked.add_tensor(handle, type_, &name) {
            Ok(_) => pointer::write(tensor, pointer::handle(handle)),
            Err((status, taken)) => {
                runtime.tensors.remove(handle)?;
                if let Some(taken) = taken {
                    pointer::write(tensor, pointer::handle(taken))?;
                }
                Err(status)
            }
        }
    }

    /// `synInvalidArgument` for a section of another graph.
    fn synTensorAssignToSection(tensor: synTensor, section: synSectionHandle, byteOffset: u64) {
        let runtime = runtime()?;
        let tensor = runtime.tensors.get(pointer::number(tensor))?;
        let section = runtime.sections.get(pointer::number(section))?;
        if !Arc::ptr_eq(&tensor.graph, &section.graph) {
            return Err(log::refusal(synStatus::synInvalidArgument, "a section of another graph"));
        }
        lock(&tensor.graph).assign(tensor.index, section.index, byteOffset)
    }

    /// `synInvalidArgument` for a tensor in no section.
    fn synTensorSetSectionOffset(tensor: synTensor, byteOffset: u64) {
        with(tensor, |tensor| {
            let section = tensor.unlocked()?.section.as_mut();
            section.ok_or(synStatus::synInvalidArgument)?.1 = byteOffset;
            Ok(())
        })
    }

    /// The data are copied at once, whether `copyBuffer` is set or not.
    fn synTensorSetHostPtr(
        tensor: synTensor,
        hostPtr: *mut c_void,
        size: u64,
        dataType: synDataType,
        _copyBuffer: bool,
    ) {
        if hostPtr.is_null() || size == 0 {
            runtime()?;
            return Err(synStatus::synInvalidArgument);
        }
        with_graph(tensor, |graph, index| {
            let is_in_const_section = graph.is_in_const_section(&graph.tensors[index]);
            let tensor = &mut graph.tensors[index];
            tensor.unlocked()?.check_host_bytes(size, is_in_const_section)?;
            // SAFETY: the caller promises `size` bytes here.
            let bytes = unsafe { pointer::bytes(hostPtr.cast(), size) }?;
            tensor.host = Some(HostData { bytes: bytes.into(), dtype: dataType });
            Ok(())
        })
    }

    /// The exponent biases of FP8 elements count; other data are only kept.
    fn synTensorSetQuantizationData(
        tensor: synTensor,
        prop: synQuantizationProperty,
        propVal: *mut c_void,
        propSize: u64,
    ) {
        runtime()?;
        if propVal.is_null() || propSize != quantization_bytes(prop)? as u64 {
            return Err(synStatus::synInvalidArgument);
        }
        match prop {
            synQuantizationProperty::SYN_FP_QUANT_METADATA => {
                let metadata = pointer::read(propVal.cast::<synFpQuantMetadata>())?;
                // One scale for the whole tensor.
                if metadata.numFpQuantParams != 1 {
                    return Err(synStatus::synUnsupported);
                }
                let param: synFpQuantParam = pointer::read(metadata.fpQuantParams)?;
                let quant = FpQuant { dtype: metadata.dataType, scale: param.scale, exp_bias: param.expBias };
                with(tensor, |tensor| tensor.set_fp_quant(quant))
            }
            // They point to more data, and nothing here uses them.
            synQuantizationProperty::SYN_QUANT_METADATA | synQuantizationProperty::SYN_QUANT_PC_DYNAMIC_RANGE => {
                with(tensor, |tensor| tensor.unlocked().map(drop))?;
                Err(synStatus::synUnsupported)
            }
            _ => {
                let data = pointer::bytes(propVal.cast(), propSize)?;
                with(tensor, |tensor| {
                    let kept = &mut tensor.unlocked()?.quantization;
                    kept.retain(|(other, _)| *other != prop);
                    kept.push((prop, data));
                    Ok(())
                })
            }
        }
    }

    fn synTensorSetExternal(tensor: synTensor, isExternal: bool) {
        with(tensor, |tensor| {
            tensor.unlocked()?.is_external = isExternal;
            Ok(())
        })
    }

    fn synTensorSetGeometry(
        tensor: synTensor,
        geometry: *const synTensorGeometry,
        geometryType: synGeometryType,
    ) {
        let geometry = pointer::read(geometry)?;
        let sizes = dims_of(&geometry.sizes, geometry.dims)?;
        with(tensor, |tensor| tensor.set_geometry(sizes, geometryType))
    }

    fn synTensorSetGeometryExt(
        tensor: synTensor,
        geometry: *const synTensorGeometryExt,
        geometryType: synGeometryType,
    ) {
        let geometry = pointer::read(geometry)?;
        let sizes = dims_of(&geometry.sizes, geometry.dims)?;
        with(tensor, |tensor| tensor.set_geometry(sizes, geometryType))
    }

    /// Only the one that changes nothing is emulated.
    fn synTensorSetPermutation(tensor: synTensor, permutation: *const synTensorPermutation) {
        let permutation = pointer::read(permutation)?;
        let dims = permutation.permutation.get(..usize::from(permutation.dims));
        let dims = dims.ok_or(synStatus::synInvalidArgument)?;
        with(tensor, |tensor| {
            tensor.unlocked()?;
            if dims.iter().enumerate().any(|(index, &dim)| usize::from(dim) != index) {
                return Err(log::refusal(synStatus::synUnsupported, "permutations are not emulated"));
            }
            Ok(())
        })
    }

    fn synTensorSetDeviceDataType(tensor: synTensor, deviceDataType: synDataType) {
        with(tensor, |tensor| tensor.set_data_type(deviceDataType))
    }

    fn synTensorSetDeviceFullLayout(tensor: synTensor, layout: *const synTensorDeviceFullLayout) {
        let layout = pointer::read(layout)?;
        set_layout(tensor, &layout.strides, layout.deviceDataType)
    }

    fn synTensorSetDeviceLayout(tensor: synTensor, layout: *const synTensorDeviceLayout) {
        let layout = pointer::read(layout)?;
        set_layout(tensor, &layout.strides, layout.deviceDataType)
    }

    /// Kept to be read again: layouts are never permuted here.
    fn synTensorSetAllowPermutation(tensor: synTensor, allowPermutation: i8) {
        with(tensor, |tensor| {
            tensor.unlocked()?.allow_permutation = allowPermutation;
            Ok(())
        })
    }
}

/// The size of what a kind of quantization data is given as.
pub(super) fn quantization_bytes(property: synQuantizationProperty) -> Outcome<usize> {
    Ok(match property {
        synQuantizationProperty::SYN_QUANT_DYNAMIC_RANGE => size_of::<synQuantDynamicRange>(),
        synQuantizationProperty::SYN_QUANT_METADATA => size_of::<synQuantMetadata>(),
        synQuantizationProperty::SYN_FP_QUANT_METADATA => size_of::<synFpQuantMetadata>(),
        synQuantizationProperty::SYN_QUANT_FLAGS => size_of::<synQuantFlags>(),
        synQuantizationProperty::SYN_QUANT_PC_DYNAMIC_RANGE => size_of::<synPerChannelDynamicRange>(),
        _ => return Err(synStatus::synInvalidArgument),
    })
}
