//! The enums of the bindings, each with its enumerators and their values.

use habana_sys::*;

/// An enum of the bindings.
pub(crate) struct Enum {
    pub(crate) name: &'static str,
    pub(crate) size: usize,
    pub(crate) values: Vec<(&'static str, u32)>,
}

macro_rules! enums {
    ($($name:ident { $($value:ident),* $(,)? })*) => {
        vec![$(Enum {
            name: stringify!($name),
            size: size_of::<$name>(),
            values: vec![$((stringify!($value), $name::$value.0)),*],
        }),*]
    };
}

/// All enums of the API.
pub(crate) fn enums() -> Vec<Enum> {
    [status_and_types(), node_and_tensor(), attributes(), kernel_params()].into_iter().flatten().collect()
}

/// Enums for the status, devices, and element and tensor types.
fn status_and_types() -> Vec<Enum> {
    enums! {
        synStatus {
            synSuccess, synInvalidArgument, synCbFull, synOutOfHostMemory, synOutOfDeviceMemory,
            synObjectAlreadyInitialized, synObjectNotInitialized, synCommandSubmissionFailure,
            synNoDeviceFound, synDeviceTypeMismatch, synFailedToInitializeCb, synFailedToFreeCb,
            synFailedToMapCb, synFailedToUnmapCb, synFailedToAllocateDeviceMemory,
            synFailedToFreeDeviceMemory, synFailedNotEnoughDevicesFound, synDeviceReset, synUnsupported,
            synWrongParamsFile, synDeviceAlreadyAcquired, synNameIsAlreadyUsed, synBusy,
            synAllResourcesTaken, synUnavailable, synInvalidTensorDimensions, synFail, synOutOfResources,
            synUninitialized, synAlreadyInitialized, synFailedSectionValidation, synSynapseTerminated,
            synAssertAsync, synInvalidEventHandle, synMappingNotFound, synFailedDynamicPatching,
            synFailedStaticPatching, synFailedToSubmitWorkload, synInvalidSectionsDefinition,
            synInvalidTensorProperties, synFailHccl, synFailedToCollectTime, synTimeout,
            synResourceBadUsage, synStatusLast,
        }
        synDmaDir { HOST_TO_DRAM, DRAM_TO_HOST, DRAM_TO_DRAM, DIRECTION_ENUM_MAX }
        synMemFlags { synMemHost, synMemDevice }
        synDeviceType {
            synDeviceGoya2, synDeviceGreco, synDeviceGaudi, synDeviceGaudi2, synDeviceGaudi3,
            synDeviceEmulator, synDeviceTypeInvalid, synDeviceTypeSize,
        }
        synDataType {
            syn_type_na, syn_type_fixed, syn_type_int8, syn_type_bf16, syn_type_single, syn_type_float,
            syn_type_int16, syn_type_int32, syn_type_uint8, syn_type_int4, syn_type_uint4, syn_type_fp16,
            syn_type_uint16, syn_type_uint32, syn_type_tf32, syn_type_hb_float, syn_type_fp8_143,
            syn_type_fp8_152, syn_type_int64, syn_type_uint64, syn_type_ufp16, syn_type_max,
        }
        synTensorType {
            DATA_TENSOR, SHAPE_TENSOR, OUTPUT_DESCRIBING_SHAPE_TENSOR, INPUT_DESCRIBING_SHAPE_TENSOR,
            DATA_TENSOR_DYNAMIC, DEVICE_SHAPE_TENSOR, HOST_SHAPE_TENSOR, HOST_TO_DEVICE_TENSOR,
            TENSOR_TYPE_MAX, TENSOR_TYPE_INVALID,
        }
    }
}

/// Enums for nodes, tensors, traces and streams.
fn node_and_tensor() -> Vec<Enum> {
    enums! {
        synConvParamIndex {
            CONV_KERNEL_WIDTH, CONV_KERNEL_HEIGHT, CONV_KERNEL_DEPTH, CONV_KERNEL_SIZE, CONV_STRIDE_WIDTH,
            CONV_STRIDE_HEIGHT, CONV_STRIDE_DEPTH, CONV_STRIDE_SIZE, CONV_PAD_LEFT, CONV_PAD_RIGHT,
            CONV_PAD_TOP, CONV_PAD_BOTTOM, CONV_PAD_FRONT, CONV_PAD_BACK, CONV_PAD_SIZE, CONV_DIL_WIDTH,
            CONV_DIL_HEIGHT, CONV_DIL_DEPTH, CONV_DIL_SIZE,
        }
        TransposePermutationDim {
            TBD_4DimSize, TBD_5DimSize, TBD_6DimSize, TBD_7DimSize, TPD_Batch, TPD_4Dim_Batch, TPD_Depth,
            TPD_Height, TPD_Width, TPD_Channel, TPD_Weights_Q, TPD_Weights_R, TPD_Weights_S,
            TPD_Weights_C, TPD_Weights_K,
        }
        synDevicePllIndex { PLL_CPU, PLL_IC, PLL_MC, PLL_MME, PLL_PCI, PLL_EMMC, PLL_TPC, PLL_SIZE }
        synTensorProperty {
            synTensorPropUnknown, synTensorPropSection, synTensorPropHostPtr, synTensorPropQuantMetadata,
            synTensorPropDynamicRange, synTensorPropFlags, synTensorPropDeviceLayout,
            synTensorPropDeviceDataType, synTensorPropName, synTensorPropSectionOffset,
            synTensorPropGeometryMin, synTensorPropGeometryMax, synTensorPropGeometryDim,
            synTensorPropType, synTensorPropPermutation, synTensorPropFpQuantMetadata,
            synTensorInternalNoProducer, synTensorPropPCDynamicRange,
        }
        synRoundingMode {
            synRoundToNearest, synRoundToZero, synRoundUp, synRoundDown, synStochasticRounding,
            synRoundAwayFromZero, synStochasticRoundingAndNearest,
        }
        synTraceType { synTraceAll, synTraceHost, synTraceDevice, synTraceTypeSize }
        synTraceFormat { synTraceFormatTEF, synTraceFormatSize }
        synStreamPriority { synStreamPriorityHigh, synStreamPriorityLow, synStreamPriorityNotSet }
    }
}

/// Enums for attributes and properties.
fn attributes() -> Vec<Enum> {
    enums! {
        synDeviceAttribute {
            DEVICE_ATTRIBUTE_SRAM_BASE_ADDRESS, DEVICE_ATTRIBUTE_DRAM_BASE_ADDRESS,
            DEVICE_ATTRIBUTE_SRAM_SIZE, DEVICE_ATTRIBUTE_DRAM_SIZE, DEVICE_ATTRIBUTE_DRAM_FREE_SIZE,
            DEVICE_ATTRIBUTE_TPC_ENABLED_MASK, DEVICE_ATTRIBUTE_DRAM_ENABLED,
            DEVICE_ATTRIBUTE_DEVICE_TYPE, DEVICE_ATTRIBUTE_CLK_RATE, DEVICE_ATTRIBUTE_MAX_RMW_SIZE,
            DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE, DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE,
            DEVICE_ATTRIBUTE_MAX_DIMS,
        }
        synMemoryAttribute {
            MEMORY_ATTRIBUTE_DEVICE, MEMORY_ATTRIBUTE_HOST, MEMORY_ATTRIBUTE_SRAM,
            MEMORY_ATTRIBUTE_PERSISTENT,
        }
        synRecipeAttribute {
            RECIPE_ATTRIBUTE_WORKSPACE_SIZE, RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS,
            RECIPE_ATTRIBUTE_HOST_MEM_SIZE, RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS,
            RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE, RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE,
            RECIPE_ATTRIBUTE_DEVICE_MEMORY_SIZE, RECIPE_ATTRIBUTE_MAX,
        }
        synSectionProp { SECTION_SIZE, SECTION_DATA, IS_CONST }
        synGraphAttribute {
            GRAPH_ATTRIBUTE_INFERENCE, GRAPH_ATTRIBUTE_QUANTIZATION, GRAPH_ATTRIBUTE_BACKOFF_FACTOR,
            GRAPH_ATTRIBUTE_MAX,
        }
        synQuantizationProperty {
            SYN_QUANT_DYNAMIC_RANGE, SYN_QUANT_METADATA, SYN_FP_QUANT_METADATA, SYN_QUANT_FLAGS,
            SYN_QUANT_PC_DYNAMIC_RANGE,
        }
        synGeometryType { synGeometryMinSizes, synGeometryMaxSizes, synGeometrySizes, synGeometryDims }
        eventCreateFlags { EVENT_COLLECT_TIME }
    }
}

/// Enums for parameters of kernels.
fn kernel_params() -> Vec<Enum> {
    enums! {
        CastF32RoundMode_t {
            CAST_ROUND_HALF_NE, CAST_ROUND_DOWN, CAST_ROUND_UP, CAST_ROUND_SR, CAST_ROUND_ZERO,
            CAST_ROUND_DEFAULT, CAST_ROUND_HALF_AZ, CAST_ROUND_SFTZ,
        }
        CastSatMode_t { CAST_NO_CLIP_NO_SAT, CAST_CLIP, CAST_SAT }
        ScatterNdUpdateMode_t { SCATTER_ND_UPDATE_MODE_NON_DETERMINISTIC, SCATTER_ND_UPDATE_MODE_DETERMINISTIC }
        ScatterIndicesSizeControl_t { CONTROL_IND_SIZE, NO_CONTROL_IND_SIZE }
        SdpaSoftmaxMode_t { SDPA_DEFAULT_SOFTMAX, SDPA_SOFTMAX_HF8_1B, SDPA_SOFTMAX_HF8_1C }
        SdpaFlags_t {
            SDPA_FLAGS_AMAX_S, SDPA_FLAGS_D_SCALE_Q, SDPA_FLAGS_D_SCALE_K, SDPA_FLAGS_D_SCALE_V,
            SDPA_FLAGS_Q_SCALE_S, SDPA_FLAGS_Q_SCALE_O,
        }
        DataTypeSize_t { DATA_8BIT, DATA_16BIT, DATA_32BIT }
        ScaledMaskedSoftmaxExpMode { USE_LUT, NO_LUT, EXPERIMENTAL }
        ScaledMaskedTriangularSoftmaxMode {
            DEFAULT_MODE, SLICED_MODE, HF8_1B_MODE, HF8_1C_MODE, FUSED_MULT_INV_ATTN,
            SQUEEZED_FCD_RETAINED, CL_ALIGNED_PADDED_RETAINED,
        }
        SoftmaxMode_t { DEFAULT_SOFTMAX, SOFTMAX_HF8_1B, SOFTMAX_HF8_1C, SOFTMAX_HF8_2 }
    }
}
