/* Queues of work on a device. */
#ifndef HABANA_SYS_SYNAPSE_STREAM_H
#define HABANA_SYS_SYNAPSE_STREAM_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Urgency of a stream; no function here takes one. */
typedef enum synStreamPriority {
    synStreamPriorityHigh = 0,
    synStreamPriorityLow = 1,
    synStreamPriorityNotSet = 2,
} synStreamPriority;

/** A hardware queue behind a stream; no function here takes one. */
typedef struct synInternalQueue {
    uint32_t queueIndex;
    uint32_t size;
    uint64_t address;
} synInternalQueue;

/** Creates a stream for copies, fills and launches; pass 0 for flags. */
synStatus synStreamCreateGeneric(
    synStreamHandle *pStreamHandle, const synDeviceId deviceId, const uint32_t flags);

/** Destroys a stream; synBusy while it has work. */
synStatus synStreamDestroy(const synStreamHandle streamHandle);

/** Lets later work of a stream wait for an event that another stream has recorded; flags must be 0. */
synStatus synStreamWaitEvent(
    const synStreamHandle streamHandle, synEventHandle eventHandle, const uint32_t flags);

/** Waits until a stream has finished its work. */
synStatus synStreamSynchronize(const synStreamHandle streamHandle);

/** Tells whether a stream has finished its work: synSuccess, or synBusy if not. */
synStatus synStreamQuery(const synStreamHandle streamHandle);

/** Ties a stream to hardware queues by bit mask. */
synStatus synStreamSetAffinity(
    const synDeviceId deviceId, const synStreamHandle pStreamHandle, uint64_t streamAffinityMask);

/** Stores the mask of hardware queues that a stream is tied to. */
synStatus synStreamGetAffinity(
    const synDeviceId deviceId, const synStreamHandle pStreamHandle, uint64_t *streamAffinityMask);

/** Stores the mask of all hardware queues that a stream may be tied to. */
synStatus synDeviceGetAffinityMaskRange(const synDeviceId deviceId, uint64_t *deviceAffinityMaskRange);

/** Stores a mask that spreads the next stream over the queues in turn. */
synStatus synDeviceGetNextStreamAffinity(const synDeviceId deviceId, uint64_t *nextDeviceAffinity);

#ifdef __cplusplus
}
#endif

#endif
