/* Memory of host and device, copies and fills. */
#ifndef HABANA_SYS_SYNAPSE_MEMORY_H
#define HABANA_SYS_SYNAPSE_MEMORY_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Direction of a copy. */
typedef enum synDmaDir {
    HOST_TO_DRAM = 0,
    DRAM_TO_HOST = 1,
    DRAM_TO_DRAM = 2,
    DIRECTION_ENUM_MAX = 3,
} synDmaDir;

/** Where memory lies. */
typedef enum synMemFlags {
    synMemHost = 1,
    synMemDevice = 2,
} synMemFlags;

/** What memory is for; flags of older allocation calls. */
typedef enum synMemoryAttribute {
    MEMORY_ATTRIBUTE_DEVICE = 1,
    MEMORY_ATTRIBUTE_HOST = 2, /**< unsupported */
    MEMORY_ATTRIBUTE_SRAM = 4, /**< unsupported */
    MEMORY_ATTRIBUTE_PERSISTENT = 8,
} synMemoryAttribute;

/** One copy of a batch inside the library; no function here takes one. */
typedef struct internalMemcopyParamEntry {
    uint64_t src;
    uint64_t dst;
    uint64_t size;
} internalMemcopyParamEntry;

/** Allocates host memory that the device can reach, in bytes; freed by synHostFree. Pass 0 for flags. */
synStatus synHostMalloc(const synDeviceId deviceId, const uint64_t size, const uint32_t flags, void **buffer);

/** Frees memory of synHostMalloc; pass 0 for flags. */
synStatus synHostFree(const synDeviceId deviceId, const void *buffer, const uint32_t flags);

/** Makes memory of the caller, size bytes of it, reachable for the device; it stays the caller's. */
synStatus synHostMap(const synDeviceId deviceId, const uint64_t size, const void *buffer);

/** Undoes synHostMap. */
synStatus synHostUnmap(const synDeviceId deviceId, const void *buffer);

/**
 * Allocates device memory in bytes and stores its address; reqAddr asks for one, 0 for any. Pass 0 for flags.
 */
synStatus synDeviceMalloc(
    const synDeviceId deviceId, const uint64_t size, uint64_t reqAddr, const uint32_t flags,
    uint64_t *buffer);

/** Frees memory of synDeviceMalloc; pass 0 for flags. */
synStatus synDeviceFree(const synDeviceId deviceId, const uint64_t buffer, const uint32_t flags);

/**
 * Queues a copy of size bytes; host addresses must be mapped, and both sides stay untouched until it is done.
 */
synStatus synMemCopyAsync(
    const synStreamHandle streamHandle, const uint64_t src, const uint64_t size, const uint64_t dst,
    const synDmaDir direction);

/** Queues numCopies copies of one direction; the three arrays have that many entries, sizes in bytes. */
synStatus synMemCopyAsyncMultiple(
    const synStreamHandle streamHandle, const uint64_t *src, const uint64_t *size, const uint64_t *dst,
    const synDmaDir direction, const uint64_t numCopies);

/** Queues a fill of device memory with an 8-bit value; the length counts elements. */
synStatus synMemsetD8Async(
    uint64_t pDeviceMem, const unsigned char value, const uint64_t numOfElements,
    const synStreamHandle streamHandle);

/** Queues a fill of device memory with a 16-bit value; the length counts elements. */
synStatus synMemsetD16Async(
    uint64_t pDeviceMem, const uint16_t value, const uint64_t numOfElements,
    const synStreamHandle streamHandle);

/** Queues a fill of device memory with a 32-bit value; the length counts elements. */
synStatus synMemsetD32Async(
    uint64_t pDeviceMem, const uint32_t value, const uint64_t numOfElements,
    const synStreamHandle streamHandle);

#ifdef __cplusplus
}
#endif

#endif
