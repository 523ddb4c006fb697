//! What is known of a tensor.

use std::ffi::{c_char, c_void};

use habana_sys::{
    synDataType, synFpQuantMetadata, synFpQuantParam, synGeometryType, synQuantizationProperty,
    synSectionHandle, synStatus, synTensor, synTensorDeviceFullLayout, synTensorDeviceLayout,
    synTensorGeometry, synTensorGeometryExt, synTensorPermutation, synTensorType,
};

use super::tensor::{quantization_bytes, with, with_graph};
use super::{api, pointer};
use crate::outcome::Outcome;
use crate::sizes::MAX_DIMS;

fn sizes_of(tensor: synTensor, kind: synGeometryType) -> Outcome<([u64; MAX_DIMS], u32)> {
    let sizes = with(tensor, |tensor| match kind {
        synGeometryType::synGeometryMinSizes => {
            Ok(tensor.min_sizes.clone().unwrap_or_else(|| tensor.sizes.clone()))
        }
        synGeometryType::synGeometryMaxSizes | synGeometryType::synGeometryDims => Ok(tensor.sizes.clone()),
        _ => Err(synStatus::synInvalidArgument),
    })?;
    let mut all = [0; MAX_DIMS];
    all.iter_mut().zip(&sizes).for_each(|(slot, &size)| *slot = size);
    // At most MAX_DIMS.
    Ok((all, sizes.len() as u32))
}

api! {
    fn synTensorGetAllowPermutation(tensor: synTensor, allowPermutation: *mut i8) {
        let allowed = with(tensor, |tensor| Ok(tensor.allow_permutation))?;
        pointer::write(allowPermutation, allowed)
    }

    /// `synInvalidArgument` for a tensor in no section.
    fn synTensorGetSection(tensor: synTensor, section: *mut synSectionHandle, byteOffset: *mut u64) {
        let (handle, offset) = with_graph(tensor, |graph, index| {
            let (index, offset) = graph.tensors[index].section.ok_or(synStatus::synInvalidArgument)?;
            Ok((graph.sections[index].handle, offset))
        })?;
        pointer::write(section, pointer::handle(handle))?;
        pointer::write(byteOffset, offset)
    }

    /// The address of the library's copy; `synInvalidArgument` for a tensor without data.
    fn synTensorGetHostPtr(
        tensor: synTensor,
        hostPtr: *mut *mut c_void,
        size: *mut u64,
        dataType: *mut synDataType,
    ) {
        let host = with(tensor, |tensor| tensor.host.clone().ok_or(synStatus::synInvalidArgument))?;
        pointer::write(hostPtr, host.bytes.as_ptr().cast_mut().cast())?;
        pointer::write(size, host.bytes.len() as u64)?;
        pointer::write(dataType, host.dtype)
    }

    /// FP8 metadata go into the list that the caller's metadata point to; it must have room for one.
    fn synTensorGetQuantizationData(
        tensor: synTensor,
        prop: synQuantizationProperty,
        propVal: *mut c_void,
        propSize: u64,
    ) {
        let (quant, kept) = with(tensor, |tensor| {
            let kept = tensor.quantization.iter().find(|(other, _)| *other == prop);
            Ok((tensor.fp_quant, kept.map(|(_, data)| data.clone())))
        })?;
        if propVal.is_null() || propSize != quantization_bytes(prop)? as u64 {
            return Err(synStatus::synInvalidArgument);
        }
        if prop != synQuantizationProperty::SYN_FP_QUANT_METADATA {
            let kept = kept.ok_or(synStatus::synInvalidArgument)?;
            return pointer::write_list(propVal.cast(), &kept);
        }
        let mut metadata = pointer::read(propVal.cast::<synFpQuantMetadata>())?;
        if !quant.is_set() || metadata.numFpQuantParams < 1 {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write(metadata.fpQuantParams, synFpQuantParam { scale: quant.scale, expBias: quant.exp_bias })?;
        metadata.dataType = quant.dtype;
        metadata.numFpQuantParams = 1;
        pointer::write(propVal.cast(), metadata)
    }

    fn synTensorGetGeometry(tensor: synTensor, geometry: *mut synTensorGeometry, geometryType: synGeometryType) {
        let (sizes, dims) = sizes_of(tensor, geometryType)?;
        pointer::write(geometry, synTensorGeometry { sizes, dims })
    }

    fn synTensorGetGeometryExt(
        tensor: synTensor,
        geometry: *mut synTensorGeometryExt,
        geometryType: synGeometryType,
    ) {
        let (sizes, dims) = sizes_of(tensor, geometryType)?;
        pointer::write(geometry, synTensorGeometryExt { sizes, dims })
    }

    fn synTensorGetExternal(tensor: synTensor, isExternal: *mut bool) {
        let is_external = with(tensor, |tensor| Ok(tensor.is_external))?;
        pointer::write(isExternal, is_external)
    }

    /// Always the one that changes nothing.
    fn synTensorGetPermutation(tensor: synTensor, permutation: *mut synTensorPermutation) {
        let dims = with(tensor, |tensor| Ok(tensor.sizes.len()))?;
        let mut identity = synTensorPermutation { permutation: [0; MAX_DIMS], dims: dims as u8 };
        identity.permutation.iter_mut().zip(0..).take(dims).for_each(|(slot, dim)| *slot = dim);
        pointer::write(permutation, identity)
    }

    fn synTensorGetDeviceDataType(tensor: synTensor, deviceDataType: *mut synDataType) {
        let dtype = with(tensor, |tensor| Ok(tensor.dtype))?;
        pointer::write(deviceDataType, dtype)
    }

    fn synTensorGetDeviceLayout(tensor: synTensor, layout: *mut synTensorDeviceLayout) {
        let deviceDataType = with(tensor, |tensor| Ok(tensor.dtype))?;
        pointer::write(layout, synTensorDeviceLayout { strides: [0; 24], deviceDataType })
    }

    fn synTensorGetDeviceFullLayout(tensor: synTensor, layout: *mut synTensorDeviceFullLayout) {
        let deviceDataType = with(tensor, |tensor| Ok(tensor.dtype))?;
        pointer::write(layout, synTensorDeviceFullLayout { strides: [0; MAX_DIMS], deviceDataType })
    }

    fn synTensorGetName(tensor: synTensor, size: u64, name: *mut c_char) {
        let text = with(tensor, |tensor| Ok(tensor.name.clone()))?;
        pointer::write_text(name, size, &text)
    }

    fn synTensorGetType(tensor: synTensor, type_: *mut synTensorType) {
        let kind = with(tensor, |tensor| Ok(tensor.kind))?;
        pointer::write(type_, kind)
    }
}
