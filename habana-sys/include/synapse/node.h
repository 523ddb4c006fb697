/* Nodes of a graph. */
#ifndef HABANA_SYS_SYNAPSE_NODE_H
#define HABANA_SYS_SYNAPSE_NODE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rounding of the results of a node of the matrix engine. */
typedef enum synRoundingMode {
    synRoundToNearest = 0,
    synRoundToZero = 1,
    synRoundUp = 2,
    synRoundDown = 3,
    synStochasticRounding = 4,
    synRoundAwayFromZero = 5,
    synStochasticRoundingAndNearest = 6,
} synRoundingMode;

/**
 * Adds a node: an operation by its guid, over lists of tensors where a null stands for an absent one. User
 * parameters are copied.
 */
synStatus synNodeCreate(
    const synGraphHandle graphHandle, const synTensor *pInputsTensorList, const synTensor *pOutputsTensorList,
    const uint32_t numberInputs, const uint32_t numberOutputs, const void *pUserParams,
    const unsigned int paramsSize, const char *pGuid, const char *pName, const char **inputLayouts,
    const char **outputLayouts);

/** Same as synNodeCreate, and stores the id of the node. */
synStatus synNodeCreateWithId(
    const synGraphHandle graphHandle, const synTensor *pInputsTensorList, const synTensor *pOutputsTensorList,
    const uint32_t numberInputs, const uint32_t numberOutputs, const void *pUserParams,
    const unsigned int paramsSize, const char *pGuid, const char *pName, synNodeId *nodeUniqueId,
    const char **inputLayouts, const char **outputLayouts);

/** Sets the element type in which all nodes of a guid compute, where the compiler is to choose types. */
synStatus synNodeTypeSetPrecision(const synGraphHandle graphHandle, const char *guid, synDataType precision);

/** Orders nodes: every one of the first list runs before every one of the second. */
synStatus synNodeDependencySet(
    const synGraphHandle graphHandle, const synNodeId *pBlockingNodesIdList,
    const synNodeId *pBlockedNodesIdList, const uint32_t numberblocking, const uint32_t numberblocked);

/** Says whether a node must give the same bits in every run. */
synStatus synNodeSetDeterministic(
    const synGraphHandle graphHandle, const synNodeId nodeId, const bool useDeterministic);

/** Stores whether a node must give the same bits in every run. */
synStatus synNodeGetDeterministic(
    const synGraphHandle graphHandle, const synNodeId nodeId, bool *useDeterministic);

/** Sets the rounding of the results of a node. */
synStatus synNodeSetRoundingMode(
    const synGraphHandle graphHandle, const synNodeId nodeId, const synRoundingMode roundingMode);

/** Stores the rounding of the results of a node. */
synStatus synNodeGetRoundingMode(
    const synGraphHandle graphHandle, const synNodeId nodeId, synRoundingMode *pRoundingMode);

/** Replaces the parameters of a node, paramsSize bytes, which are copied. */
synStatus synNodeSetUserParams(
    const synGraphHandle graphHandle, const synNodeId nodeId, const void *userParams,
    const unsigned int paramsSize);

/** Copies the parameters of a node out, and stores their size in bytes. */
synStatus synNodeGetUserParams(
    const synGraphHandle graphHandle, const synNodeId nodeId, void *userParams, unsigned int *paramsSize);

#ifdef __cplusplus
}
#endif

#endif
