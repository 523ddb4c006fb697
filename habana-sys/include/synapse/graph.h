/* Graphs and their compilation. */
#ifndef HABANA_SYS_SYNAPSE_GRAPH_H
#define HABANA_SYS_SYNAPSE_GRAPH_H

#include "device.h"
#include "node.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Attributes of a graph; set before its first node. */
typedef enum synGraphAttribute {
    GRAPH_ATTRIBUTE_INFERENCE = 0, /**< no training; 0 or 1 */
    GRAPH_ATTRIBUTE_QUANTIZATION = 1, /**< scales and biases of tensors count; 0 or 1 */
    GRAPH_ATTRIBUTE_BACKOFF_FACTOR = 2, /**< head room of ranges */
    GRAPH_ATTRIBUTE_MAX = 3,
} synGraphAttribute;

/** Value of a graph attribute: an integer, or a float for the back-off factor. */
typedef union synGraphAttributeVal {
    uint64_t iAttrVal;
    double dAttrVal;
} synGraphAttributeVal;

/** A tensor of a graph and its counterpart in the copy. */
typedef struct synTensorHandleMap {
    synTensor origHandle;
    synTensor newHandle;
} synTensorHandleMap;

/** A node of a graph and its counterpart in the copy. */
typedef struct synNodeHandleMap {
    synNodeId origHandle;
    synNodeId newHandle;
} synNodeHandleMap;

/** Creates a graph for a generation of devices; none need be acquired. */
synStatus synGraphCreate(synGraphHandle *pGraphHandle, const synDeviceType deviceType);

/** Creates a graph of few nodes that compiles quickly. */
synStatus synGraphCreateEager(synGraphHandle *pGraphHandle, const synDeviceType deviceType);

/** Destroys a graph with its tensors and sections; recipes made of it live on. */
synStatus synGraphDestroy(const synGraphHandle graphHandle);

/** Copies a graph; the two maps take old and new handles, numTensors and numNodes of them. */
synStatus synGraphDuplicate(
    synGraphHandle graphHandle, synGraphHandle *newGraphHandle, synTensorHandleMap *tensorsMap,
    uint32_t *numTensors, synNodeHandleMap *nodesMap, uint32_t *numNodes);

/** Computes the sizes of all tensors from those of the inputs. */
synStatus synGraphInferShapes(synGraphHandle graphHandle);

/** Stores the generation that a graph is for. */
synStatus synGraphGetDeviceType(const synGraphHandle graphHandle, synDeviceType *deviceType);

/** Sets size attributes to integers; synFail once the graph has a node. */
synStatus synGraphSetAttribute(
    synGraphHandle graphHandle, const synGraphAttribute *attributes, const uint64_t *values,
    const uint32_t size);

/** Sets size attributes to integers or floats; synFail once the graph has a node. */
synStatus synGraphSetAttributes(
    synGraphHandle graphHandle, const synGraphAttribute *attributes, const synGraphAttributeVal *values,
    const uint32_t size);

/** Reads size attributes as integers. */
synStatus synGraphGetAttribute(
    synGraphHandle graphHandle, const synGraphAttribute *attributes, uint64_t *values, const uint32_t size);

/** Reads size attributes as integers or floats. */
synStatus synGraphGetAttributes(
    synGraphHandle graphHandle, const synGraphAttribute *attributes, synGraphAttributeVal *values,
    const uint32_t size);

/** Compiles a graph to a recipe, which the caller then owns; the path of the build log may be null. */
synStatus synGraphCompile(
    synRecipeHandle *pRecipeHandle, const synGraphHandle graphHandle, const char *pRecipeName,
    const char *pBuildLog);

#ifdef __cplusplus
}
#endif

#endif
