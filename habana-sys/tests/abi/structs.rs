//! Every struct and union, as the compiler laid it out.

#![allow(unsafe_code, reason = "names fields, also those of unions, without values")]

use std::mem::offset_of;

use habana_sys::*;

/// A struct or union of the bindings, as it lies in memory.
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) fields: Vec<Field>,
}

/// A field of a struct or union.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

fn size_of_field<S, F>(_: fn(*const S) -> *const F) -> usize {
    size_of::<F>()
}

macro_rules! layouts {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        vec![$(Layout {
            name: stringify!($name),
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            fields: vec![$(Field {
                name: stringify!($field).trim_end_matches('_'),
                offset: offset_of!($name, $field),
                // SAFETY: never called.
                size: size_of_field(|whole: *const $name| unsafe { &raw const (*whole).$field }),
            }),*],
        }),*]
    };
}

/// All structs and unions of the API.
pub(crate) fn layouts() -> Vec<Layout> {
    [devices_slices_and_launches(), tensors_and_nodes(), kernel_params()].into_iter().flatten().collect()
}

/// Structs for devices, slices of nodes, traces and launches.
fn devices_slices_and_launches() -> Vec<Layout> {
    layouts! {
        synDeviceInfo {
            sramBaseAddress, dramBaseAddress, sramSize, dramSize, tpcEnabledMask, dramEnabled, deviceId,
            fd, deviceType,
        }
        synDeviceInfoV2 {
            sramBaseAddress, dramBaseAddress, sramSize, dramSize, tpcEnabledMask, dramEnabled, deviceId,
            fd, deviceType, deviceIndex, reserved,
        }
        internalMemcopyParamEntry { src, dst, size }
        synInternalQueue { queueIndex, size, address }
        synAxisParams { axis }
        synFlattenParams { axis }
        synConcatenateParams { axis }
        synSplitParams { axis }
        synExpandDimsParams { axis }
        synSqueezeParams { axis }
        synSliceAxisParams { axis, begin, end }
        synSliceParams { axes, starts, ends, steps }
        synSliceParamsNDims { axes, starts, ends, steps }
        synNMSParams { scoreTh, iouTh, maxOutSize }
        synTfBatchNormalizationParams { variance_epsilon }
        synAssertAsyncParams { msg_id }
        TensorMetadataInfo {
            tensorName, elementType, zp, scale, dimensions, dimensionsSize, roiSizeInBytes, batchSize,
            isInput, layout, sectionId, offsetInSection,
        }
        TensorMetadataInfoExt {
            tensorName, elementType, zp, scale, dimensions, dimensionsSize, roiSizeInBytes, batchSize,
            isInput, layout, sectionId, offsetInSection,
        }
        synTraceEventArg { key, type_, value }
        synTraceEventExtraArgs { count, args }
        synTraceEvent { name, category, type_, timestamp, duration, engineType, engineIndex, contextId, arguments }
        synGraphAttributeVal { iAttrVal, dAttrVal }
        synLaunchTensorInfo { tensorName, pTensorAddress, tensorType, tensorSize, tensorId }
        synLaunchTensorInfoExt { tensorName, pTensorAddress, tensorType, tensorSize, tensorId }
        synRetrievedLaunchTensorInfo {
            tensorName, tensorId, tensorType, tensorDataType, tensorDims, tensorMaxSize, tensorMinSize,
            tensorPermutation, tensorSectionId, tensorOffsetInSection, isInput, reserved,
        }
        synRetrievedLaunchTensorInfoExt {
            tensorName, tensorId, tensorType, tensorDataType, tensorDims, tensorMaxSize, tensorMinSize,
            tensorPermutation, tensorSectionId, tensorOffsetInSection, isInput, reserved,
        }
    }
}

/// Structs for tensors and nodes.
fn tensors_and_nodes() -> Vec<Layout> {
    layouts! {
        TensorExUserContext { strides }
        synQuantDynamicRange { min, max }
        synPerChannelDynamicRange { ranges, numChannels }
        synQuantZPScale { zp, scale }
        synQuantMetadata { dataType, zpScales, numZPScales }
        synFpQuantParam { scale, expBias }
        synFpQuantMetadata { dataType, fpQuantParams, numFpQuantParams }
        synQuantFlags { enablePerChannelQuant, isSparsifiedWeights, isWeights }
        synTensorGeometry { sizes, dims }
        synTensorGeometryExt { sizes, dims }
        synTensorDeviceLayout { strides, deviceDataType }
        synTensorDeviceFullLayout { strides, deviceDataType }
        synDynamicStridedDmaH2dTensor { num_strides, offset, strides }
        synDynamicSliceDmaH2dTensor { dims, steps, starts }
        synTensorPermutation { permutation, dims }
        synTensorHandleMap { origHandle, newHandle }
        synNodeHandleMap { origHandle, newHandle }
        synGEMMParams { transpose_a, transpose_b }
        synTransposeParams { permutation, tensorDim }
        synTransposeParamsNDims { tensorDim, permutation }
        synEinsumParams { equation }
        synStridedOpParams { baseOffset, strides }
        synSliceAxisParamsV2 { axis, _structPadding, begin, end }
        synSliceParamsV2 { axes, _structPadding, starts, ends, steps }
    }
}

/// Structs for parameters of kernels.
fn kernel_params() -> Vec<Layout> {
    layouts! {
        ns_ReluKernel_Params { threshold }
        ns_ReluKernel_ParamsV2 { threshold, replacementValue }
        ns_Softmax_Params { dim }
        ns_Softmax_ParamsV3 { dim, dataTypeSize }
        ns_Softmax_ParamsV4 { dim, dataTypeSize, validCountAxis }
        ns_Softmax_ParamsV5 { dim, dataTypeSize, validCountAxis, is_approximation }
        ns_Softmax_ParamsV6 { dim, dataTypeSize, validCountAxis, is_approximation, triangularMode }
        ns_Softmax_ParamsV7 { dim, dataTypeSize, validCountAxis, is_approximation, triangularMode, mode }
        ns_ConstantKernel_Params { constant }
        ns_ConstantKernel_Params_v2 { const_low, const_high }
        ns_Reduction_Params { reductionDimension }
        ns_Reduction_ParamsV2 { reductionDimensionMask, keepDim }
        ns_DropoutKernel_Params { ratio, seed }
        ns_DropoutKernel_ParamsOptionalMaskOut { ratio, seed, disableMaskOut }
        ns_DropoutKernel_ParamsOptionalTrain { ratio, seed, disableMaskOut, isTraining }
        ns_GatherKernel_Params { axis }
        ns_GatherKernel_ParamsV2 { axis, batchDims }
        ns_RangeKernel_Params { start, limit, delta }
        ns_CastKernel_Params { round_mode }
        ns_CastKernel_ParamsV2 { round_mode, seed }
        ns_CastKernel_ParamsV3 { round_mode, seed, mode }
        ns_CastKernel_ParamsV4 { round_mode, seed, mode, safeCastCheck }
        ns_ScatterKernel_Params { axis }
        ns_ScatterKernel_ParamsIndices { axis, isIndicesLarger }
        ns_ScatterKernel_ParamsV2 { axis, isIndicesLarger, dim }
        ns_ScatterKernel_ParamsReduce { axis, isIndicesLarger, dim, include_self }
        ns_ScatterNDKernel_Params { origIndicesDims, origIndicesShape }
        ns_ScatterNDKernel_ParamsV2 { origIndicesDims, origIndicesShape, isUnsorted }
        ns_ScatterNdUpdateKernel_Params { mode }
        ns_GatherElementsKernel_Params { axis }
        ns_GatherElementsKernel_ParamsV2 { axis, isSort }
        ns_TopkNodeV2_Params { bsw }
        ns_TopkNodeV2_ParamsV2 { bsw, axis }
        ns_TopkNodeV2_ParamsV3 { bsw, axis, bottomK }
        ns_TopkNodeV2_ParamsV4 { bsw, axis, bottomK, isStable, isVcData, kType }
        ns_TopkNodeV2_ParamsV5 { bsw, axis, bottomK, isStable, isVcData, kType, avoidHandleNans }
        ns_RoPESt2_Params { offset }
        ns_RoPESt2_ParamsV2 { offset, mode }
        ns_Sdpa_Params { scale, is_causal, dropout, is_inference }
        ns_Sdpa_ParamsV2 { scale, is_causal, dropout, is_inference, softmax_mode }
        ns_Sdpa_ParamsV3 { scale, is_causal, dropout, is_inference, softmax_mode, flags }
        ns_IndexCopy_Params { axis }
        ns_RmsNorm_Params { bwdStage, numTpc }
        ns_RmsNorm_ParamsV2 { bwdStage, numTpc, bwdMode }
        ns_RmsNorm_ParamsV3 { bwdStage, numTpc, bwdMode, useStages }
        ns_RmsNorm_ParamsV4 { bwdStage, numTpc, bwdMode, useStages, fastMath, dummy }
        ns_LayerNormKernel_ParamsRmsNorm { epsValid, eps, NormAxisBmp, ParamAxisBmp, normalizedShapeDims, fastMath }
    }
}
