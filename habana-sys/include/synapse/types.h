/* Handles, identifiers, sizes, limits and element types that every other header uses. */
#ifndef HABANA_SYS_SYNAPSE_TYPES_H
#define HABANA_SYS_SYNAPSE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Entries in every array of dimensions; the fastest-changing dimension comes first. */
#define HABANA_DIM_MAX 25

/** Dimensions that a node accepts unless it is documented for more. */
#define SYN_MAX_TENSOR_DIM 5

/** Size in bytes of a buffer for a tensor name, terminator included. */
#define ENQUEUE_TENSOR_NAME_MAX_SIZE 1024

/** Size in bytes of a buffer for the description of a status, terminator included. */
#define STATUS_DESCRIPTION_MAX_SIZE 56

/** Largest parameter block of a node in bytes. */
#define MAX_USER_PARAMS_SIZE 128

/** Flag of a tensor descriptor: its name field is filled in. */
#define SYN_FLAGS_TENSOR_NAME 1

/** Id that no tensor has. Other ids are an index, with the tensor type in the highest byte. */
#define TENSOR_INVALID_ID 0xFFFFFFFFFFFFFFFFULL

/** A device that this process has acquired. */
typedef uint32_t synDeviceId;

/** Position of a device in its server, from 0 on. */
typedef uint32_t synModuleId;

/** A section within one recipe. */
typedef uint32_t synSectionId;

/** A node within one graph. */
typedef uint64_t synNodeId;

/** A tensor dimension in elements. */
typedef uint64_t TSize;

/** A distance in device memory. */
typedef uint64_t TStride;

/** A signed offset in device memory. */
typedef int64_t TOffset;

/** A tensor size; same as TSize. */
typedef uint64_t tensor_size_t;

/** A tensor of a graph; valid until its graph is destroyed. */
typedef struct internalTensor *synTensor;

/** A section of a graph: memory that holds persistent or constant tensors. */
typedef struct SectionHandleExternal *synSectionHandle;

/** A graph under construction; freed by synGraphDestroy. */
typedef struct InternalGraphHandle *synGraphHandle;

/** A compiled graph; freed by synRecipeDestroy. */
typedef struct InternalRecipeHandle *synRecipeHandle;

/** A queue of work on a device; freed by synStreamDestroy. */
typedef struct InternalStreamHandle *synStreamHandle;

/** A point in the work of a stream; freed by synEventDestroy. */
typedef struct EventInterfaceExternal *synEventHandle;

/** A buffer of device commands; no function here takes one. */
typedef struct syn_cb_internal *synCommandBuffer;

/** Something to wait for; no function here takes one. */
typedef struct InternalWaitHandle *synWaitHandle;

/** Describes a tensor to the deprecated creation calls; opaque here. */
typedef struct synTensorDescriptor synTensorDescriptor;

/** Describes a tensor of many dimensions to calls that no longer exist; opaque here. */
typedef struct synTensorNDimDescriptor synTensorNDimDescriptor;

/** Element types: one bit each, so that sets of them can be formed. */
typedef enum synDataType {
    syn_type_na = 0, /**< no type */
    syn_type_fixed = 1, /**< same as syn_type_int8 */
    syn_type_int8 = 1,
    syn_type_bf16 = 2,
    syn_type_single = 4, /**< 32-bit float */
    syn_type_float = 4, /**< same as syn_type_single */
    syn_type_int16 = 8,
    syn_type_int32 = 16,
    syn_type_uint8 = 32,
    syn_type_int4 = 64,
    syn_type_uint4 = 128,
    syn_type_fp16 = 256,
    syn_type_uint16 = 512,
    syn_type_uint32 = 1024,
    syn_type_tf32 = 2048, /**< 19-bit float in 32 bits */
    syn_type_hb_float = 4096,
    syn_type_fp8_143 = 8192, /**< 8-bit float: 4 bits of exponent, 3 of mantissa */
    syn_type_fp8_152 = 16384, /**< 8-bit float: 5 bits of exponent, 2 of mantissa */
    syn_type_int64 = 32768,
    syn_type_uint64 = 65536,
    syn_type_ufp16 = 131072, /**< 16-bit float without a sign */
    syn_type_max = 131073, /**< end of the list */
} synDataType;

#ifdef __cplusplus
}
#endif

#endif
