/* What functions return. */
#ifndef HABANA_SYS_SYNAPSE_STATUS_H
#define HABANA_SYS_SYNAPSE_STATUS_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Outcome of a call; zero is success. */
typedef enum synStatus {
    synSuccess = 0,
    synInvalidArgument = 1,
    synCbFull = 2,
    synOutOfHostMemory = 3,
    synOutOfDeviceMemory = 4,
    synObjectAlreadyInitialized = 5,
    synObjectNotInitialized = 6,
    synCommandSubmissionFailure = 7,
    synNoDeviceFound = 8,
    synDeviceTypeMismatch = 9,
    synFailedToInitializeCb = 10,
    synFailedToFreeCb = 11,
    synFailedToMapCb = 12,
    synFailedToUnmapCb = 13,
    synFailedToAllocateDeviceMemory = 14,
    synFailedToFreeDeviceMemory = 15,
    synFailedNotEnoughDevicesFound = 16,
    synDeviceReset = 17,
    synUnsupported = 18,
    synWrongParamsFile = 19,
    synDeviceAlreadyAcquired = 20,
    synNameIsAlreadyUsed = 21,
    synBusy = 22,
    synAllResourcesTaken = 23,
    synUnavailable = 24,
    synInvalidTensorDimensions = 25,
    synFail = 26,
    synOutOfResources = 27,
    synUninitialized = 28,
    synAlreadyInitialized = 29,
    synFailedSectionValidation = 30,
    synSynapseTerminated = 31,
    synAssertAsync = 32,
    synInvalidEventHandle = 33,
    synMappingNotFound = 34,
    synFailedDynamicPatching = 35,
    synFailedStaticPatching = 36,
    synFailedToSubmitWorkload = 37,
    synInvalidSectionsDefinition = 38,
    synInvalidTensorProperties = 39,
    synFailHccl = 40,
    synFailedToCollectTime = 41,
    synTimeout = 42,
    synResourceBadUsage = 43,
    synStatusLast = 43, /**< the last status */
} synStatus;

/**
 * Writes a short English text for a status into a buffer of len bytes; STATUS_DESCRIPTION_MAX_SIZE is enough.
 */
synStatus synStatusGetBriefDescription(synStatus status, char *statusDescription, uint64_t len);

#ifdef __cplusplus
}
#endif

#endif
