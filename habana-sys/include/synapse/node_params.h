/* Parameters of the operations that the graph compiler itself knows. Padding must be zero. */
#ifndef HABANA_SYS_SYNAPSE_NODE_PARAMS_H
#define HABANA_SYS_SYNAPSE_NODE_PARAMS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Indices into the arrays of convolution parameters. */
typedef enum synConvParamIndex {
    CONV_KERNEL_WIDTH = 0,
    CONV_KERNEL_HEIGHT = 1,
    CONV_KERNEL_DEPTH = 2,
    CONV_KERNEL_SIZE = 3,
    CONV_STRIDE_WIDTH = 0,
    CONV_STRIDE_HEIGHT = 1,
    CONV_STRIDE_DEPTH = 2,
    CONV_STRIDE_SIZE = 3,
    CONV_PAD_LEFT = 0,
    CONV_PAD_RIGHT = 1,
    CONV_PAD_TOP = 2,
    CONV_PAD_BOTTOM = 3,
    CONV_PAD_FRONT = 4,
    CONV_PAD_BACK = 5,
    CONV_PAD_SIZE = 6,
    CONV_DIL_WIDTH = 0,
    CONV_DIL_HEIGHT = 1,
    CONV_DIL_DEPTH = 2,
    CONV_DIL_SIZE = 3,
} synConvParamIndex;

/** Names of dimensions in permutations of activations and weights. */
typedef enum TransposePermutationDim {
    TBD_4DimSize = 4,
    TBD_5DimSize = 5,
    TBD_6DimSize = 6,
    TBD_7DimSize = 7,
    TPD_Batch = 4,
    TPD_4Dim_Batch = 3,
    TPD_Depth = 3,
    TPD_Height = 2,
    TPD_Width = 1,
    TPD_Channel = 0,
    TPD_Weights_Q = 4,
    TPD_Weights_R = 3,
    TPD_Weights_S = 2,
    TPD_Weights_C = 1,
    TPD_Weights_K = 0,
} TransposePermutationDim;

/** gemm and batch_gemm, and the FP8 products: which operands are transposed. */
typedef struct synGEMMParams {
    bool transpose_a;
    bool transpose_b;
} synGEMMParams;

/** transpose of up to five dimensions: output dimension i is input dimension permutation i. */
typedef struct synTransposeParams {
    TransposePermutationDim permutation[5];
    unsigned int tensorDim;
} synTransposeParams;

/** transpose of any number of dimensions. */
typedef struct synTransposeParamsNDims {
    unsigned int tensorDim;
    uint32_t permutation[HABANA_DIM_MAX];
} synTransposeParamsNDims;

/** einsum: the equation as text. */
typedef struct synEinsumParams {
    char equation[51];
} synEinsumParams;

/** Operations along one axis; the fastest-changing dimension is 0. */
typedef struct synAxisParams {
    unsigned int axis;
} synAxisParams;

/** concat: the axis to join along. */
typedef struct synConcatenateParams {
    unsigned int axis;
} synConcatenateParams;

/** split: the axis to cut along. */
typedef struct synSplitParams {
    unsigned int axis;
} synSplitParams;

/** flatten: the axis that separates the two remaining dimensions. */
typedef struct synFlattenParams {
    unsigned int axis;
} synFlattenParams;

/** expand_dims: where a dimension of size 1 is added. */
typedef struct synExpandDimsParams {
    unsigned int axis;
} synExpandDimsParams;

/** squeeze: which dimension of size 1 is removed. */
typedef struct synSqueezeParams {
    unsigned int axis;
} synSqueezeParams;

/** slice_axis: elements from begin up to but not including end. */
typedef struct synSliceAxisParams {
    unsigned int axis;
    unsigned int begin;
    unsigned int end;
} synSliceAxisParams;

/** slice_axis with 64-bit bounds. */
typedef struct synSliceAxisParamsV2 {
    unsigned int axis;
    unsigned int _structPadding; /**< zero */
    uint64_t begin;
    uint64_t end;
} synSliceAxisParamsV2;

/** slice of up to five dimensions. */
typedef struct synSliceParams {
    unsigned int axes[5];
    unsigned int starts[5];
    unsigned int ends[5];
    unsigned int steps[5];
} synSliceParams;

/** slice of any number of dimensions, 32-bit bounds. */
typedef struct synSliceParamsNDims {
    unsigned int axes[HABANA_DIM_MAX];
    unsigned int starts[HABANA_DIM_MAX];
    unsigned int ends[HABANA_DIM_MAX];
    unsigned int steps[HABANA_DIM_MAX];
} synSliceParamsNDims;

/** slice of any number of dimensions, 64-bit bounds. */
typedef struct synSliceParamsV2 {
    unsigned int axes[HABANA_DIM_MAX];
    unsigned int _structPadding; /**< zero */
    TSize starts[HABANA_DIM_MAX];
    TSize ends[HABANA_DIM_MAX];
    TSize steps[HABANA_DIM_MAX];
} synSliceParamsV2;

/** strided_view and strided_insert: offset and strides. */
typedef struct synStridedOpParams {
    uint64_t baseOffset;
    uint64_t strides[HABANA_DIM_MAX];
} synStridedOpParams;

/** Contents of the host tensor that steers a strided operation at run time. */
typedef struct synDynamicStridedDmaH2dTensor {
    TSize num_strides;
    TSize offset;
    TSize strides[6];
} synDynamicStridedDmaH2dTensor;

/** Contents of the host tensor that steers a slice at run time. */
typedef struct synDynamicSliceDmaH2dTensor {
    TSize dims;
    TSize steps[5];
    TSize starts[5];
} synDynamicSliceDmaH2dTensor;

/** Non-maximum suppression: thresholds for scores and overlap, and how many boxes remain at most. */
typedef struct synNMSParams {
    float scoreTh;
    float iouTh;
    unsigned int maxOutSize;
} synNMSParams;

/** Batch normalization: what is added to the variance. */
typedef struct synTfBatchNormalizationParams {
    float variance_epsilon;
} synTfBatchNormalizationParams;

/** Assertion on the device: the number that is reported. */
typedef struct synAssertAsyncParams {
    uint64_t msg_id;
} synAssertAsyncParams;

#ifdef __cplusplus
}
#endif

#endif
