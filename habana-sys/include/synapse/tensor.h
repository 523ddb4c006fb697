/* Tensors of a graph and their properties. */
#ifndef HABANA_SYS_SYNAPSE_TENSOR_H
#define HABANA_SYS_SYNAPSE_TENSOR_H

#include "section.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a tensor carries. */
typedef enum synTensorType {
    DATA_TENSOR = 0,
    SHAPE_TENSOR = 1, /**< sizes only */
    OUTPUT_DESCRIBING_SHAPE_TENSOR = 1,
    INPUT_DESCRIBING_SHAPE_TENSOR = 2,
    DATA_TENSOR_DYNAMIC = 3, /**< data whose sizes are given at launch, within bounds */
    DEVICE_SHAPE_TENSOR = 4,
    HOST_SHAPE_TENSOR = 5,
    HOST_TO_DEVICE_TENSOR = 6, /**< host data that reaches the device with a launch */
    TENSOR_TYPE_MAX = 7,
    TENSOR_TYPE_INVALID = 7, /**< same as TENSOR_TYPE_MAX */
} synTensorType;

/** Properties of a tensor, one bit each. */
typedef enum synTensorProperty {
    synTensorPropUnknown = 0,
    synTensorPropSection = 1,
    synTensorPropHostPtr = 2,
    synTensorPropQuantMetadata = 4,
    synTensorPropDynamicRange = 8,
    synTensorPropFlags = 16,
    synTensorPropDeviceLayout = 32,
    synTensorPropDeviceDataType = 32,
    synTensorPropName = 64,
    synTensorPropSectionOffset = 128,
    synTensorPropGeometryMin = 256,
    synTensorPropGeometryMax = 512,
    synTensorPropGeometryDim = 1024,
    synTensorPropType = 2048,
    synTensorPropPermutation = 4096,
    synTensorPropFpQuantMetadata = 8192,
    synTensorInternalNoProducer = 16384,
    synTensorPropPCDynamicRange = 32768,
} synTensorProperty;

/** Which sizes of a tensor are meant. */
typedef enum synGeometryType {
    synGeometryMinSizes = 0, /**< lower bounds, of a dynamic tensor */
    synGeometryMaxSizes = 1, /**< upper bounds */
    synGeometrySizes = 1, /**< same as synGeometryMaxSizes: the sizes of a static tensor */
    synGeometryDims = 2, /**< number of dimensions only */
} synGeometryType;

/** What kind of quantization data is set or read. */
typedef enum synQuantizationProperty {
    SYN_QUANT_DYNAMIC_RANGE = 0, /**< synQuantDynamicRange */
    SYN_QUANT_METADATA = 1, /**< synQuantMetadata */
    SYN_FP_QUANT_METADATA = 2, /**< synFpQuantMetadata */
    SYN_QUANT_FLAGS = 3, /**< synQuantFlags */
    SYN_QUANT_PC_DYNAMIC_RANGE = 4, /**< synPerChannelDynamicRange */
} synQuantizationProperty;

/** Sizes of a tensor in elements. */
typedef struct synTensorGeometry {
    TSize sizes[HABANA_DIM_MAX]; /**< fastest-changing dimension first */
    uint32_t dims; /**< how many of them count */
} synTensorGeometry;

/** Same as synTensorGeometry. */
typedef struct synTensorGeometryExt {
    TSize sizes[HABANA_DIM_MAX];
    uint32_t dims;
} synTensorGeometryExt;

/** Older form of the layout on the device: one stride fewer, the fastest dimension having none. */
typedef struct synTensorDeviceLayout {
    uint32_t strides[24];
    synDataType deviceDataType;
} synTensorDeviceLayout;

/** Layout of a tensor on the device: the strides of every dimension, and the element type. */
typedef struct synTensorDeviceFullLayout {
    uint32_t strides[HABANA_DIM_MAX];
    synDataType deviceDataType;
} synTensorDeviceFullLayout;

/** Order in which the dimensions lie in memory. */
typedef struct synTensorPermutation {
    uint8_t permutation[HABANA_DIM_MAX];
    uint8_t dims;
} synTensorPermutation;

/** Smallest and largest value that a tensor takes. */
typedef struct synQuantDynamicRange {
    double min;
    double max;
} synQuantDynamicRange;

/** Ranges of a tensor, one for each channel. */
typedef struct synPerChannelDynamicRange {
    synQuantDynamicRange *ranges;
    unsigned int numChannels;
} synPerChannelDynamicRange;

/** Zero point and scale of an integer type. */
typedef struct synQuantZPScale {
    double zp;
    double scale;
} synQuantZPScale;

/** How integers of a tensor stand for real numbers: one zero point and scale, or one for each channel. */
typedef struct synQuantMetadata {
    synDataType dataType;
    synQuantZPScale *zpScales;
    unsigned int numZPScales; /**< 1, or the number of channels */
} synQuantMetadata;

/** Scale and exponent bias of an 8-bit float type. */
typedef struct synFpQuantParam {
    double scale;
    unsigned int expBias;
} synFpQuantParam;

/** How 8-bit floats of a tensor stand for real numbers: one scale and bias, or one for each channel. */
typedef struct synFpQuantMetadata {
    synDataType dataType;
    synFpQuantParam *fpQuantParams;
    unsigned int numFpQuantParams; /**< 1, or the number of channels */
} synFpQuantMetadata;

/** Hints for the quantization of a tensor; each is 0 or 1. */
typedef struct synQuantFlags {
    uint8_t enablePerChannelQuant;
    uint8_t isSparsifiedWeights;
    uint8_t isWeights;
} synQuantFlags;

/** Strides that a caller attaches to a tensor. */
typedef struct TensorExUserContext {
    uint64_t *strides;
} TensorExUserContext;

/** Creates a tensor of a graph; a name used twice gives synNameIsAlreadyUsed and the earlier handle. */
synStatus synTensorHandleCreate(
    synTensor *tensor, synGraphHandle graph, synTensorType type, const char *tensorName);

/** Deprecated: creates a tensor from a descriptor. */
synStatus synTensorCreate(
    synTensor *pTensor, const synTensorDescriptor *descriptor, const synSectionHandle pSectionHandle,
    const uint64_t sectionOffset);

/** Deprecated: creates a constant tensor from a descriptor. */
synStatus synConstTensorCreate(synTensor *pTensor, const synTensorDescriptor *descriptor);

/** Destroys a tensor handle. */
synStatus synTensorDestroy(const synTensor tensor);

/** Places a tensor at a byte offset in a section; the setters of a tensor work until a node uses it. */
synStatus synTensorAssignToSection(synTensor tensor, synSectionHandle section, uint64_t byteOffset);

/** Moves a tensor to another byte offset in its section. */
synStatus synTensorSetSectionOffset(synTensor tensor, uint64_t byteOffset);

/** Stores the section of a tensor and its byte offset there. */
synStatus synTensorGetSection(synTensor tensor, synSectionHandle *section, uint64_t *byteOffset);

/** Gives the data of a constant or host tensor, size bytes of it; unless copied, it must stay valid. */
synStatus synTensorSetHostPtr(
    synTensor tensor, void *hostPtr, uint64_t size, synDataType dataType, bool copyBuffer);

/** Stores where the host data of a tensor is, its size in bytes and its type. */
synStatus synTensorGetHostPtr(synTensor tensor, void **hostPtr, uint64_t *size, synDataType *dataType);

/** Sets quantization data: propVal points to the struct for prop, propSize is its size in bytes. */
synStatus synTensorSetQuantizationData(
    synTensor tensor, synQuantizationProperty prop, void *propVal, uint64_t propSize);

/** Reads quantization data into the struct for prop, of propSize bytes. */
synStatus synTensorGetQuantizationData(
    synTensor tensor, synQuantizationProperty prop, void *propVal, uint64_t propSize);

/** Sets the sizes of a tensor, or their lower or upper bounds. */
synStatus synTensorSetGeometry(
    synTensor tensor, const synTensorGeometry *geometry, synGeometryType geometryType);

/** Same as synTensorSetGeometry. */
synStatus synTensorSetGeometryExt(
    synTensor tensor, const synTensorGeometryExt *geometry, synGeometryType geometryType);

/** Reads the sizes of a tensor. */
synStatus synTensorGetGeometry(
    const synTensor tensor, synTensorGeometry *geometry, synGeometryType geometryType);

/** Same as synTensorGetGeometry. */
synStatus synTensorGetGeometryExt(
    const synTensor tensor, synTensorGeometryExt *geometry, synGeometryType geometryType);

/** Sets the order in which the dimensions of a persistent tensor lie in memory. */
synStatus synTensorSetPermutation(synTensor tensor, const synTensorPermutation *permutation);

/** Reads the order in which the dimensions of a tensor lie in memory. */
synStatus synTensorGetPermutation(const synTensor tensor, synTensorPermutation *permutation);

/** Says whether the compiler may choose that order for a persistent tensor: 0 or 1. */
synStatus synTensorSetAllowPermutation(synTensor tensor, int8_t allowPermutation);

/** Stores whether the compiler may choose the order of the dimensions. */
synStatus synTensorGetAllowPermutation(synTensor tensor, int8_t *allowPermutation);

/** Sets the element type of a tensor on the device. */
synStatus synTensorSetDeviceDataType(synTensor tensor, synDataType deviceDataType);

/** Stores the element type of a tensor on the device. */
synStatus synTensorGetDeviceDataType(synTensor tensor, synDataType *deviceDataType);

/** Sets element type and strides of a tensor on the device. */
synStatus synTensorSetDeviceFullLayout(synTensor tensor, const synTensorDeviceFullLayout *layout);

/** Reads element type and strides of a tensor on the device. */
synStatus synTensorGetDeviceFullLayout(const synTensor tensor, synTensorDeviceFullLayout *layout);

/** Sets element type and strides in the older form. */
synStatus synTensorSetDeviceLayout(synTensor tensor, const synTensorDeviceLayout *layout);

/** Reads element type and strides in the older form. */
synStatus synTensorGetDeviceLayout(const synTensor tensor, synTensorDeviceLayout *layout);

/** Says whether an event can be tied to a tensor within a launch. */
synStatus synTensorSetExternal(synTensor tensor, bool isExternal);

/** Stores whether an event can be tied to a tensor. */
synStatus synTensorGetExternal(const synTensor tensor, bool *isExternal);

/** Writes the name of a tensor into a buffer of size bytes; synInvalidArgument where it is too small. */
synStatus synTensorGetName(const synTensor tensor, const uint64_t size, char *name);

/** Stores what a tensor carries. */
synStatus synTensorGetType(const synTensor tensor, synTensorType *type);

#ifdef __cplusplus
}
#endif

#endif
