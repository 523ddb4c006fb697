/* Running recipes. */
#ifndef HABANA_SYS_SYNAPSE_LAUNCH_H
#define HABANA_SYS_SYNAPSE_LAUNCH_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A tensor of a launch: its address, and its actual sizes where they vary. */
typedef struct synLaunchTensorInfo {
    const char *tensorName; /**< may be null where the id is set */
    uint64_t pTensorAddress; /**< device address; host address of a host tensor */
    synTensorType tensorType;
    TSize tensorSize[HABANA_DIM_MAX]; /**< actual sizes in elements; 1 for the second dimension of a vector */
    uint64_t tensorId; /**< as synTensorRetrieveIds gives it */
} synLaunchTensorInfo;

/** Same as synLaunchTensorInfo. */
typedef struct synLaunchTensorInfoExt {
    const char *tensorName;
    uint64_t pTensorAddress;
    synTensorType tensorType;
    TSize tensorSize[HABANA_DIM_MAX];
    uint64_t tensorId;
} synLaunchTensorInfoExt;

/**
 * Queues a run of a recipe; every persistent tensor needs its entry, pWorkspace is a device address. Pass 0
 * for flags.
 */
synStatus synLaunch(
    const synStreamHandle streamHandle, const synLaunchTensorInfo *launchTensorsInfo,
    const uint32_t numberOfTensors, uint64_t pWorkspace, const synRecipeHandle pRecipeHandle, uint32_t flags);

/** Same as synLaunch, over synLaunchTensorInfoExt. */
synStatus synLaunchExt(
    const synStreamHandle streamHandle, const synLaunchTensorInfoExt *launchTensorsInfoExt,
    const uint32_t numberOfTensors, uint64_t pWorkspace, const synRecipeHandle pRecipeHandle, uint32_t flags);

/** Same as synLaunch, and signals events as the external tensors they are tied to are done. */
synStatus synLaunchWithExternalEvents(
    const synStreamHandle streamHandle, const synLaunchTensorInfo *launchTensorsInfoExt,
    const uint32_t numberOfTensors, uint64_t pWorkspace, const synRecipeHandle pRecipeHandle,
    synEventHandle *eventHandleList, const uint32_t numberOfEvents, uint32_t flags);

/** Same as synLaunchWithExternalEvents, over synLaunchTensorInfoExt. */
synStatus synLaunchWithExternalEventsExt(
    const synStreamHandle streamHandle, const synLaunchTensorInfoExt *launchTensorsInfoExt,
    const uint32_t numberOfTensors, uint64_t pWorkspace, const synRecipeHandle pRecipeHandle,
    synEventHandle *eventHandleList, const uint32_t numberOfEvents, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif
