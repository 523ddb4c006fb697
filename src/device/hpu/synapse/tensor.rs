//! Tensors of a graph.

#![allow(unsafe_code, reason = "calls into a C library")]

use std::ffi::CString;
use std::rc::Rc;

use habana_sys::{
    synDataType, synFpQuantMetadata, synFpQuantParam, synGeometryType, synQuantizationProperty, synStatus,
    synTensor, synTensorGeometry, synTensorType,
};

use super::graph::Graph;
use super::section::Section;
use crate::device::hpu::error::CallFailure;
use crate::device::hpu::graph::{Dtype, TensorRole, TensorSpec};

/// A tensor of a graph, with the section that it lies in.
#[derive(Debug)]
pub(crate) struct Tensor {
    graph: Rc<Graph>,
    /// The section, kept until the tensor is gone.
    _section: Option<Rc<Section>>,
    handle: synTensor,
}

/// The exponent bias of e4m3: the library's default, set all the same.
const FP8_EXP_BIAS: u32 = 7;

const fn data_type(dtype: Dtype) -> synDataType {
    match dtype {
        Dtype::I8 => synDataType::syn_type_int8,
        Dtype::I32 => synDataType::syn_type_int32,
        Dtype::Bf16 => synDataType::syn_type_bf16,
        Dtype::F32 => synDataType::syn_type_single,
        Dtype::Fp8 => synDataType::syn_type_fp8_143,
    }
}

impl Tensor {
    /// Adds a tensor as described; one in a section is persistent, at the section's start.
    pub(crate) fn create(
        graph: &Rc<Graph>,
        spec: &TensorSpec,
        section: Option<&Rc<Section>>,
    ) -> Result<Self, CallFailure> {
        let api = graph.api();
        let shown = || format!("tensor {} of {} {:?}", spec.name, spec.dtype.suffix(), spec.shape);
        let name = CString::new(spec.name.as_str()).unwrap_or_default();
        let min_sizes = spec.fcd_min_sizes();
        let kind = match min_sizes {
            Some(_) => synTensorType::DATA_TENSOR_DYNAMIC,
            None => synTensorType::DATA_TENSOR,
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: `handle` is valid for a write, the graph exists, and the name lives until the call returns.
        let status = unsafe {
            (api.functions().synTensorHandleCreate)(&raw mut handle, graph.handle(), kind, name.as_ptr())
        };
        api.check("synTensorHandleCreate", status, shown)?;
        let tensor = Self { graph: Rc::clone(graph), _section: section.cloned(), handle };
        let largest = synGeometryType::synGeometrySizes;
        api.check("synTensorSetGeometry", tensor.set_geometry(&spec.fcd_sizes(), largest), shown)?;
        if let Some(sizes) = min_sizes {
            let smallest = synGeometryType::synGeometryMinSizes;
            api.check("synTensorSetGeometry", tensor.set_geometry(&sizes, smallest), shown)?;
        }
        // SAFETY: the tensor exists.
        let status = unsafe { (api.functions().synTensorSetDeviceDataType)(handle, data_type(spec.dtype)) };
        api.check("synTensorSetDeviceDataType", status, shown)?;
        if spec.dtype == Dtype::Fp8 {
            api.check("synTensorSetQuantizationData", tensor.set_exponent_bias(), shown)?;
        }
        if let TensorRole::Constant(bytes) = &spec.role {
            api.check("synTensorSetHostPtr", tensor.set_elements(bytes, spec.dtype), shown)?;
        }
        if let Some(section) = section {
            // SAFETY: both exist and are of one graph.
            let status = unsafe { (api.functions().synTensorAssignToSection)(handle, section.handle(), 0) };
            api.check("synTensorAssignToSection", status, shown)?;
        }
        Ok(tensor)
    }

    /// Sets the sizes, the fastest-changing dimension first.
    fn set_geometry(&self, sizes: &[usize], kind: synGeometryType) -> synStatus {
        let mut geometry = synTensorGeometry { dims: sizes.len() as u32, ..Default::default() };
        for (to, size) in geometry.sizes.iter_mut().zip(sizes) {
            *to = *size as u64;
        }
        let set = self.graph.api().functions().synTensorSetGeometry;
        // SAFETY: the tensor exists, and the geometry is read before the call returns.
        unsafe { set(self.handle, &raw const geometry, kind) }
    }

    /// Sets the elements of a constant.
    fn set_elements(&self, bytes: &[u8], dtype: Dtype) -> synStatus {
        let set = self.graph.api().functions().synTensorSetHostPtr;
        let (pointer, len) = (bytes.as_ptr().cast_mut().cast(), bytes.len() as u64);
        // SAFETY: the tensor exists; as many bytes as are named live here, and are copied before the call returns, as is
        // asked for, and only read.
        unsafe { set(self.handle, pointer, len, data_type(dtype), true) }
    }

    fn set_exponent_bias(&self) -> synStatus {
        let mut param = synFpQuantParam { scale: 1.0, expBias: FP8_EXP_BIAS };
        let mut metadata = synFpQuantMetadata {
            dataType: synDataType::syn_type_fp8_143,
            fpQuantParams: &raw mut param,
            numFpQuantParams: 1,
        };
        // SAFETY: the tensor exists; the metadata, and the one parameter that it points to, are read before the call
        // returns, and the size is theirs.
        unsafe {
            (self.graph.api().functions().synTensorSetQuantizationData)(
                self.handle,
                synQuantizationProperty::SYN_FP_QUANT_METADATA,
                (&raw mut metadata).cast(),
                size_of::<synFpQuantMetadata>() as u64,
            )
        }
    }

    pub(super) fn handle(&self) -> synTensor {
        self.handle
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        let api = self.graph.api();
        // SAFETY: the tensor was created by this value and is not used again.
        let status = unsafe { (api.functions().synTensorDestroy)(self.handle) };
        api.note(api.check("synTensorDestroy", status, String::new));
    }
}
