/* The library as a whole, and the devices of this machine. */
#ifndef HABANA_SYS_SYNAPSE_DEVICE_H
#define HABANA_SYS_SYNAPSE_DEVICE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Generations of devices. */
typedef enum synDeviceType {
    synDeviceGoya2 = 1, /**< older name of synDeviceGreco */
    synDeviceGreco = 1,
    synDeviceGaudi = 2,
    synDeviceGaudi2 = 4,
    synDeviceGaudi3 = 5,
    synDeviceEmulator = 6, /**< no hardware */
    synDeviceTypeInvalid = 7,
    synDeviceTypeSize = 8, /**< number of entries in arrays by type */
} synDeviceType;

/** What can be asked of a device; every answer is one 64-bit number. */
typedef enum synDeviceAttribute {
    DEVICE_ATTRIBUTE_SRAM_BASE_ADDRESS = 0,
    DEVICE_ATTRIBUTE_DRAM_BASE_ADDRESS = 1,
    DEVICE_ATTRIBUTE_SRAM_SIZE = 2, /**< bytes */
    DEVICE_ATTRIBUTE_DRAM_SIZE = 3, /**< bytes */
    DEVICE_ATTRIBUTE_DRAM_FREE_SIZE = 4, /**< bytes */
    DEVICE_ATTRIBUTE_TPC_ENABLED_MASK = 5, /**< a bit for each engine */
    DEVICE_ATTRIBUTE_DRAM_ENABLED = 6,
    DEVICE_ATTRIBUTE_DEVICE_TYPE = 7, /**< a synDeviceType */
    DEVICE_ATTRIBUTE_CLK_RATE = 8,
    DEVICE_ATTRIBUTE_MAX_RMW_SIZE = 9, /**< bytes */
    DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE = 10, /**< bytes */
    DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE = 11, /**< bytes */
    DEVICE_ATTRIBUTE_MAX_DIMS = 12, /**< dimensions of a tensor at most */
} synDeviceAttribute;

/** Clock generators of a device. */
typedef enum synDevicePllIndex {
    PLL_CPU = 0,
    PLL_IC = 1,
    PLL_MC = 2,
    PLL_MME = 3,
    PLL_PCI = 4,
    PLL_EMMC = 5,
    PLL_TPC = 6,
    PLL_SIZE = 7,
} synDevicePllIndex;

/** Memory and engines of an acquired device. */
typedef struct synDeviceInfo {
    uint64_t sramBaseAddress;
    uint64_t dramBaseAddress;
    uint32_t sramSize; /**< bytes */
    uint64_t dramSize; /**< bytes */
    uint64_t tpcEnabledMask; /**< a bit for each engine */
    uint8_t dramEnabled;
    uint32_t deviceId;
    uint32_t fd; /**< descriptor of the open device */
    synDeviceType deviceType;
} synDeviceInfo;

/** Memory and engines of an acquired device, with its index among those of the driver. */
typedef struct synDeviceInfoV2 {
    uint64_t sramBaseAddress;
    uint64_t dramBaseAddress;
    uint32_t sramSize; /**< bytes */
    uint64_t dramSize; /**< bytes */
    uint64_t tpcEnabledMask; /**< a bit for each engine */
    uint8_t dramEnabled;
    uint32_t deviceId;
    uint32_t fd; /**< descriptor of the open device */
    synDeviceType deviceType;
    uint8_t deviceIndex; /**< index of the device among those of the driver */
    uint64_t reserved;
} synDeviceInfoV2;

/**
 * Starts the library; calls are counted, and each needs its synDestroy. Most other functions fail with
 * synUninitialized before.
 */
synStatus synInitialize(void);

/** Undoes one synInitialize; the last one ends the library. */
synStatus synDestroy(void);

/** Writes the version text of the software into a buffer of len bytes; works before synInitialize. */
synStatus synDriverGetVersion(char *pDriverVersion, const int len);

/**
 * Stores how many kernel libraries are loaded, which is the length of the arrays for
 * synTPCLibraryGetVersions.
 */
synStatus synTPCLibraryGetVersionSize(uint32_t *size);

/** Fills in the names and versions of the loaded kernel libraries. */
synStatus synTPCLibraryGetVersions(const char **libs, uint32_t *versions);

/** Stores the number of devices in this machine, of any generation. */
synStatus synDeviceGetCount(uint32_t *pCount);

/** Stores the number of devices of one generation in this machine. */
synStatus synDeviceGetCountByDeviceType(uint32_t *pCount, const synDeviceType deviceType);

/** Fills in the number of devices of each generation, indexed by synDeviceType. */
synStatus synDeviceCount(uint32_t count[8]);

/**
 * Fills in the module ids of the devices; size is the capacity of the array on the way in, the number of ids
 * on the way out.
 */
synStatus synDeviceGetModuleIDs(uint32_t *pDeviceModuleIds, uint32_t *size);

/** Takes the device at a PCI address such as 0000:19:00.0 for this process. */
synStatus synDeviceAcquire(synDeviceId *pDeviceId, const char *pciBus);

/** Takes any free device of one generation for this process. */
synStatus synDeviceAcquireByDeviceType(synDeviceId *pDeviceId, const synDeviceType deviceType);

/** Takes the device in one position of the server for this process. */
synStatus synDeviceAcquireByModuleId(synDeviceId *pDeviceId, const synModuleId moduleId);

/** Gives an acquired device back; nothing that was made on it may be used afterwards. */
synStatus synDeviceRelease(const synDeviceId deviceId);

/** Waits until all streams of a device have finished their work. */
synStatus synDeviceSynchronize(const synDeviceId deviceId);

/** Stores the free and total device memory in bytes. */
synStatus synDeviceGetMemoryInfo(const synDeviceId deviceId, uint64_t *free, uint64_t *total);

/** Fills in the description of an acquired device. */
synStatus synDeviceGetInfo(const synDeviceId deviceId, synDeviceInfo *pDeviceInfo);

/** Fills in the longer description of an acquired device. */
synStatus synDeviceGetInfoV2(const synDeviceId deviceId, synDeviceInfoV2 *pDeviceInfo);

/**
 * Answers querySize questions about an acquired device: retVal takes one number for each entry of deviceAttr.
 */
synStatus synDeviceGetAttribute(
    uint64_t *retVal, const synDeviceAttribute *deviceAttr, const unsigned int querySize,
    const synDeviceId deviceId);

/** Answers questions about the device in one position of the server, which need not be acquired. */
synStatus synDeviceGetAttributeByModuleId(
    uint64_t *retVal, const synDeviceAttribute *deviceAttr, const unsigned int querySize,
    const synModuleId moduleId);

/** Answers questions about a generation, without a device. */
synStatus synDeviceTypeGetAttribute(
    uint64_t *retVal, const synDeviceAttribute *deviceAttr, const unsigned int querySize,
    const synDeviceType deviceType);

/** Writes the name of an acquired device into a buffer of len bytes. */
synStatus synDeviceGetName(char *pName, const int len, const synDeviceId deviceId);

/** Writes the PCI address of an acquired device into a buffer of len bytes. */
synStatus synDeviceGetPCIBusId(char *pPciBusId, const int len, const synDeviceId deviceId);

#ifdef __cplusplus
}
#endif

#endif
