/* Points in the work of streams. */
#ifndef HABANA_SYS_SYNAPSE_EVENT_H
#define HABANA_SYS_SYNAPSE_EVENT_H

#include "launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How an event is made. */
typedef enum eventCreateFlags {
    EVENT_COLLECT_TIME = 1, /**< the event measures time */
} eventCreateFlags;

/** Creates an event; flags are 0, or EVENT_COLLECT_TIME to measure time with it. */
synStatus synEventCreate(synEventHandle *pEventHandler, const synDeviceId deviceId, const uint32_t flags);

/** Destroys an event. */
synStatus synEventDestroy(synEventHandle eventHandle);

/** Marks the end of the work now in a stream; an earlier mark is forgotten. */
synStatus synEventRecord(synEventHandle eventHandle, const synStreamHandle streamHandle);

/** Tells whether the recorded work has finished: synSuccess, or synBusy if not. */
synStatus synEventQuery(const synEventHandle eventHandle);

/** Waits until the recorded work has finished. */
synStatus synEventSynchronize(const synEventHandle eventHandle);

/** Stores the nanoseconds between two recorded events that collect time. */
synStatus synEventElapsedTime(
    uint64_t *pNanoSeconds, const synEventHandle eventHandleStart, const synEventHandle eventHandleEnd);

/**
 * Ties events to external tensors of a recipe, in the same order, so that they are signalled within a launch.
 */
synStatus synEventMapTensor(
    synEventHandle *eventHandles, uint64_t numOfEvents, const synLaunchTensorInfo *launchTensorsInfo,
    const synRecipeHandle recipeHandle);

/** Same as synEventMapTensor, over synLaunchTensorInfoExt. */
synStatus synEventMapTensorExt(
    synEventHandle *eventHandles, uint64_t numOfEvents, const synLaunchTensorInfoExt *launchTensorsInfoExt,
    const synRecipeHandle recipeHandle);

#ifdef __cplusplus
}
#endif

#endif
