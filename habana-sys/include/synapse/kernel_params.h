/*
 * Parameters of kernels and of composed operations. Later versions of a struct extend earlier ones, and the
 * size tells which is meant. Padding must be zero.
 */
#ifndef HABANA_SYS_SYNAPSE_KERNEL_PARAMS_H
#define HABANA_SYS_SYNAPSE_KERNEL_PARAMS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A 32-bit parameter that is a float or an integer, as the element type of the kernel says. */
typedef union fint_t {
    float f;
    int32_t i;
} fint_t;

/** Type of the tensor that holds k in a top-k. */
typedef int32_t KTensorType_t;

/** How a rotary embedding pairs elements. */
typedef int32_t RotaryPosEmbeddingMode_t;

/** How the gradient of an RMS norm is computed. */
typedef int32_t RmsNormBwdMode_t;

/** Rounding of a cast. */
typedef enum CastF32RoundMode_t {
    CAST_ROUND_HALF_NE = 0, /**< nearest, ties to even */
    CAST_ROUND_DOWN = 1,
    CAST_ROUND_UP = 2,
    CAST_ROUND_SR = 3, /**< stochastic */
    CAST_ROUND_ZERO = 4,
    CAST_ROUND_DEFAULT = 5,
    CAST_ROUND_HALF_AZ = 6, /**< nearest, ties away from zero */
    CAST_ROUND_SFTZ = 8, /**< stochastic, small values to zero */
} CastF32RoundMode_t;

/** What a cast does with values out of range. */
typedef enum CastSatMode_t {
    CAST_NO_CLIP_NO_SAT = 0, /**< infinity */
    CAST_CLIP = 1, /**< largest finite value */
    CAST_SAT = 2,
} CastSatMode_t;

/** Casts, and conversions to FP8: the rounding. */
typedef struct ns_CastKernel_Params {
    CastF32RoundMode_t round_mode;
} ns_CastKernel_Params;

/** Casts, with the seed of stochastic rounding. */
typedef struct ns_CastKernel_ParamsV2 {
    CastF32RoundMode_t round_mode;
    unsigned int seed;
} ns_CastKernel_ParamsV2;

/** Casts, with what happens out of range. */
typedef struct ns_CastKernel_ParamsV3 {
    CastF32RoundMode_t round_mode;
    unsigned int seed;
    CastSatMode_t mode;
} ns_CastKernel_ParamsV3;

/** Casts, with the choice to check them. */
typedef struct ns_CastKernel_ParamsV4 {
    CastF32RoundMode_t round_mode;
    unsigned int seed;
    CastSatMode_t mode;
    bool safeCastCheck;
} ns_CastKernel_ParamsV4;

/** constant: the value of every element. */
typedef struct ns_ConstantKernel_Params {
    fint_t constant;
} ns_ConstantKernel_Params;

/** constant, for 64-bit elements: lower and upper half. */
typedef struct ns_ConstantKernel_Params_v2 {
    int const_low;
    int const_high;
} ns_ConstantKernel_Params_v2;

/** range: start, end (exclusive) and step. */
typedef struct ns_RangeKernel_Params {
    fint_t start;
    fint_t limit;
    fint_t delta;
} ns_RangeKernel_Params;

/** relu: what is at or below the threshold becomes zero. */
typedef struct ns_ReluKernel_Params {
    fint_t threshold;
} ns_ReluKernel_Params;

/** relu: what is at or below the threshold becomes the replacement. */
typedef struct ns_ReluKernel_ParamsV2 {
    fint_t threshold;
    fint_t replacementValue;
} ns_ReluKernel_ParamsV2;

/** Width of elements. */
typedef enum DataTypeSize_t {
    DATA_8BIT = 0,
    DATA_16BIT = 1,
    DATA_32BIT = 2,
} DataTypeSize_t;

/** How a fused softmax computes the exponential. */
typedef enum ScaledMaskedSoftmaxExpMode {
    USE_LUT = 0,
    NO_LUT = 1,
    EXPERIMENTAL = 15,
} ScaledMaskedSoftmaxExpMode;

/** How a fused causal softmax works; flags. */
typedef enum ScaledMaskedTriangularSoftmaxMode {
    DEFAULT_MODE = 0,
    SLICED_MODE = 1,
    HF8_1B_MODE = 2,
    HF8_1C_MODE = 4,
    FUSED_MULT_INV_ATTN = 8,
    SQUEEZED_FCD_RETAINED = 16,
    CL_ALIGNED_PADDED_RETAINED = 32,
} ScaledMaskedTriangularSoftmaxMode;

/** Precision of a softmax. */
typedef enum SoftmaxMode_t {
    DEFAULT_SOFTMAX = 0,
    SOFTMAX_HF8_1B = 1,
    SOFTMAX_HF8_1C = 2,
    SOFTMAX_HF8_2 = 3,
} SoftmaxMode_t;

/** softmax: the dimension; the fastest-changing one is 0. */
typedef struct ns_Softmax_Params {
    int dim;
} ns_Softmax_Params;

/** softmax, with the width of the elements. */
typedef struct ns_Softmax_ParamsV3 {
    int dim;
    DataTypeSize_t dataTypeSize;
} ns_Softmax_ParamsV3;

/** softmax, with the axis that counts valid elements. */
typedef struct ns_Softmax_ParamsV4 {
    int dim;
    DataTypeSize_t dataTypeSize;
    int validCountAxis;
} ns_Softmax_ParamsV4;

/** softmax, with the choice of a faster approximation. */
typedef struct ns_Softmax_ParamsV5 {
    int dim;
    DataTypeSize_t dataTypeSize;
    int validCountAxis;
    int is_approximation;
} ns_Softmax_ParamsV5;

/** softmax, with the mode for causal masks. */
typedef struct ns_Softmax_ParamsV6 {
    int dim;
    DataTypeSize_t dataTypeSize;
    int validCountAxis;
    int is_approximation;
    int triangularMode;
} ns_Softmax_ParamsV6;

/** softmax, with the precision. */
typedef struct ns_Softmax_ParamsV7 {
    int dim;
    DataTypeSize_t dataTypeSize;
    int validCountAxis;
    int is_approximation;
    int triangularMode;
    SoftmaxMode_t mode;
} ns_Softmax_ParamsV7;

/** Reductions: the one dimension. */
typedef struct ns_Reduction_Params {
    unsigned int reductionDimension;
} ns_Reduction_Params;

/**
 * Reductions: a bit for each dimension, the fastest-changing one being bit 0, and whether they stay with size
 * 1.
 */
typedef struct ns_Reduction_ParamsV2 {
    unsigned int reductionDimensionMask;
    bool keepDim;
} ns_Reduction_ParamsV2;

/** Dropout: the share of elements to drop, and a seed. */
typedef struct ns_DropoutKernel_Params {
    float ratio;
    unsigned int seed;
} ns_DropoutKernel_Params;

/** Dropout, with the choice to give no mask. */
typedef struct ns_DropoutKernel_ParamsOptionalMaskOut {
    float ratio;
    unsigned int seed;
    bool disableMaskOut;
} ns_DropoutKernel_ParamsOptionalMaskOut;

/** Dropout, with the choice to do nothing in inference. */
typedef struct ns_DropoutKernel_ParamsOptionalTrain {
    float ratio;
    unsigned int seed;
    bool disableMaskOut;
    int isTraining;
} ns_DropoutKernel_ParamsOptionalTrain;

/** gather: the axis; the fastest-changing dimension is 0. */
typedef struct ns_GatherKernel_Params {
    int axis;
} ns_GatherKernel_Params;

/** gather, with the number of dimensions that data and indices share. */
typedef struct ns_GatherKernel_ParamsV2 {
    int axis;
    int batchDims;
} ns_GatherKernel_ParamsV2;

/** gather_elements: the axis; the fastest-changing dimension is 0. */
typedef struct ns_GatherElementsKernel_Params {
    int axis;
} ns_GatherElementsKernel_Params;

/** gather_elements, with the choice to sort the indices first. */
typedef struct ns_GatherElementsKernel_ParamsV2 {
    int axis;
    bool isSort;
} ns_GatherElementsKernel_ParamsV2;

/** Whether a scatter allows more indices than data. */
typedef enum ScatterIndicesSizeControl_t {
    CONTROL_IND_SIZE = 0,
    NO_CONTROL_IND_SIZE = 1,
} ScatterIndicesSizeControl_t;

/** What a scatter does with equal indices. */
typedef enum ScatterNdUpdateMode_t {
    SCATTER_ND_UPDATE_MODE_NON_DETERMINISTIC = 0, /**< any update may win */
    SCATTER_ND_UPDATE_MODE_DETERMINISTIC = 1, /**< the last update wins */
} ScatterNdUpdateMode_t;

/** scatter: the axis. */
typedef struct ns_ScatterKernel_Params {
    int axis;
} ns_ScatterKernel_Params;

/** scatter, with the choice to allow more indices than data. */
typedef struct ns_ScatterKernel_ParamsIndices {
    int axis;
    ScatterIndicesSizeControl_t isIndicesLarger;
} ns_ScatterKernel_ParamsIndices;

/** scatter, with the dimension. */
typedef struct ns_ScatterKernel_ParamsV2 {
    int axis;
    ScatterIndicesSizeControl_t isIndicesLarger;
    int dim;
} ns_ScatterKernel_ParamsV2;

/** scatter with reduction: whether the old value takes part. */
typedef struct ns_ScatterKernel_ParamsReduce {
    int axis;
    ScatterIndicesSizeControl_t isIndicesLarger;
    int dim;
    int include_self;
} ns_ScatterKernel_ParamsReduce;

/** scatter_nd: the shape of the indices before they were flattened. */
typedef struct ns_ScatterNDKernel_Params {
    int origIndicesDims;
    int origIndicesShape[5];
} ns_ScatterNDKernel_Params;

/** scatter_nd, with a promise about the order of the indices. */
typedef struct ns_ScatterNDKernel_ParamsV2 {
    int origIndicesDims;
    int origIndicesShape[5];
    bool isUnsorted;
} ns_ScatterNDKernel_ParamsV2;

/** scatter_nd_update: what happens with equal indices. */
typedef struct ns_ScatterNdUpdateKernel_Params {
    ScatterNdUpdateMode_t mode;
} ns_ScatterNdUpdateKernel_Params;

/** index_copy: the axis, counted from the slowest-changing dimension as Python does. */
typedef struct ns_IndexCopy_Params {
    int axis;
} ns_IndexCopy_Params;

/** topk: how many elements. */
typedef struct ns_TopkNodeV2_Params {
    unsigned int bsw;
} ns_TopkNodeV2_Params;

/** topk, with the axis. */
typedef struct ns_TopkNodeV2_ParamsV2 {
    unsigned int bsw;
    unsigned int axis;
} ns_TopkNodeV2_ParamsV2;

/** topk, with the choice of the smallest. */
typedef struct ns_TopkNodeV2_ParamsV3 {
    unsigned int bsw;
    unsigned int axis;
    bool bottomK;
} ns_TopkNodeV2_ParamsV3;

/** topk, with stable order, counts of valid elements, and k from a tensor. */
typedef struct ns_TopkNodeV2_ParamsV4 {
    unsigned int bsw;
    unsigned int axis;
    bool bottomK;
    bool isStable;
    bool isVcData;
    KTensorType_t kType;
} ns_TopkNodeV2_ParamsV4;

/** topk, with the choice to treat NaN as any other value. */
typedef struct ns_TopkNodeV2_ParamsV5 {
    unsigned int bsw;
    unsigned int axis;
    bool bottomK;
    bool isStable;
    bool isVcData;
    KTensorType_t kType;
    bool avoidHandleNans;
} ns_TopkNodeV2_ParamsV5;

/** Rotary embedding: the first position. */
typedef struct ns_RoPESt2_Params {
    unsigned int offset;
} ns_RoPESt2_Params;

/** Rotary embedding, with how elements are paired. */
typedef struct ns_RoPESt2_ParamsV2 {
    unsigned int offset;
    RotaryPosEmbeddingMode_t mode;
} ns_RoPESt2_ParamsV2;

/** Precision of the softmax in fused attention. */
typedef enum SdpaSoftmaxMode_t {
    SDPA_DEFAULT_SOFTMAX = 0,
    SDPA_SOFTMAX_HF8_1B = 1,
    SDPA_SOFTMAX_HF8_1C = 2,
} SdpaSoftmaxMode_t;

/** Which optional inputs and outputs fused FP8 attention has; flags. */
typedef enum SdpaFlags_t {
    SDPA_FLAGS_AMAX_S = 1, /**< output: largest softmax value */
    SDPA_FLAGS_D_SCALE_Q = 256, /**< input: what q is multiplied by after reading */
    SDPA_FLAGS_D_SCALE_K = 512, /**< input: what k is multiplied by after reading */
    SDPA_FLAGS_D_SCALE_V = 1024, /**< input: what v is multiplied by after reading */
    SDPA_FLAGS_Q_SCALE_S = 2048, /**< input: what the softmax is multiplied by before its conversion */
    SDPA_FLAGS_Q_SCALE_O = 4096, /**< input: what the output is multiplied by before its conversion */
} SdpaFlags_t;

/** Fused attention: softmax scale, causal mask, dropout, and whether gradients are wanted. */
typedef struct ns_Sdpa_Params {
    float scale;
    bool is_causal;
    ns_DropoutKernel_ParamsOptionalMaskOut dropout;
    bool is_inference;
} ns_Sdpa_Params;

/** Fused attention, with the precision of the softmax. */
typedef struct ns_Sdpa_ParamsV2 {
    float scale;
    bool is_causal;
    ns_DropoutKernel_ParamsOptionalMaskOut dropout;
    bool is_inference;
    SdpaSoftmaxMode_t softmax_mode;
} ns_Sdpa_ParamsV2;

/** Fused attention, with SdpaFlags_t. */
typedef struct ns_Sdpa_ParamsV3 {
    float scale;
    bool is_causal;
    ns_DropoutKernel_ParamsOptionalMaskOut dropout;
    bool is_inference;
    SdpaSoftmaxMode_t softmax_mode;
    unsigned int flags;
} ns_Sdpa_ParamsV3;

/** Gradient of an RMS norm: the stage, and the number of engines. */
typedef struct ns_RmsNorm_Params {
    unsigned int bwdStage;
    int numTpc;
} ns_RmsNorm_Params;

/** Gradient of an RMS norm, with the way it is computed. */
typedef struct ns_RmsNorm_ParamsV2 {
    unsigned int bwdStage;
    int numTpc;
    RmsNormBwdMode_t bwdMode;
} ns_RmsNorm_ParamsV2;

/** Gradient of an RMS norm, with the choice of stages. */
typedef struct ns_RmsNorm_ParamsV3 {
    unsigned int bwdStage;
    int numTpc;
    RmsNormBwdMode_t bwdMode;
    bool useStages;
} ns_RmsNorm_ParamsV3;

/** Gradient of an RMS norm, with the choice of faster arithmetic. */
typedef struct ns_RmsNorm_ParamsV4 {
    unsigned int bwdStage;
    int numTpc;
    RmsNormBwdMode_t bwdMode;
    bool useStages;
    bool fastMath;
    int dummy;
} ns_RmsNorm_ParamsV4;

/** rms_norm: epsilon and axes; a block of another size is not read, and epsilon stays at its default. */
typedef struct ns_LayerNormKernel_ParamsRmsNorm {
    bool epsValid;
    float eps;
    int NormAxisBmp;
    int ParamAxisBmp;
    unsigned int normalizedShapeDims;
    bool fastMath;
} ns_LayerNormKernel_ParamsRmsNorm;

#ifdef __cplusplus
}
#endif

#endif
