/* Calls functions in any order with handles and numbers that are good, stale, or made up. Arguments that point to data
 * are null or good: no library can know others. Every call must return a status that exists. The argument is a seed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <synapse.h>

static uint64_t state;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t below(uint64_t limit) { return next() % limit; }

/* Handles that calls gave, whether they still live or not. */
enum { POOL = 64 };
static void *pool[POOL];

static void *any(void) {
    switch (below(8)) {
    case 0: return NULL;
    case 1: return (void *)(uintptr_t)next();
    default: return pool[below(POOL)];
    }
}

static void keep(void *handle) {
    if (handle != NULL) pool[below(POOL)] = handle;
}

static uint64_t number(void) {
    static const uint64_t odd[] = {0, 1, 2, 3, 7, 25, 26, 255, 256, 4096, 1u << 20, UINT32_MAX, UINT64_MAX};
    return below(4) == 0 ? next() : odd[below(sizeof odd / sizeof *odd)];
}

static uint64_t addresses[8];
static char buffer[1 << 16];

static uint64_t address(void) {
    switch (below(6)) {
    case 0: return next();
    case 1: return (uint64_t)(uintptr_t)buffer + below(sizeof buffer);
    default: return addresses[below(8)] + (below(2) == 0 ? below(1 << 12) : 0);
    }
}

static const char *guid(void) {
    static const char *const guids[] = {
        "memcpy", "gemm", "batch_gemm", "add_fwd_f32", "gather_fwd_i8", "index_copy_fwd_i8", "nothing", "", NULL,
        "convert_to_fp8_bf16", "transpose", "reduce_sum_multi_dim_fwd_f32"};
    return guids[below(sizeof guids / sizeof *guids)];
}

static const char *name(void) {
    static char text[4];
    if (below(10) == 0) return NULL;
    text[0] = (char)('a' + below(26));
    text[1] = (char)('a' + below(26));
    return text;
}

static uint32_t few(void) { return (uint32_t)below(5); }
static uint32_t device(void) { return below(6) == 0 ? (uint32_t)number() : 0; }

static synStatus step(void) {
    static const synDataType types[] = {
        syn_type_bf16, syn_type_float, syn_type_int8, syn_type_int32, syn_type_fp8_143, syn_type_na, syn_type_int4};
    void *handle = NULL, *list[5], *others[5];
    const char *names[5];
    uint64_t wide[16] = {0}, ids[5];
    uint32_t count = few();
    synLaunchTensorInfo infos[5];
    synTensorGeometry geometry;
    synStatus status;
    for (int i = 0; i < 5; i++) {
        list[i] = any();
        others[i] = any();
        names[i] = "aa";
        ids[i] = number();
    }
    memset(infos, 0, sizeof infos);
    memset(&geometry, 0, sizeof geometry);
    switch (below(44)) {
    case 0: status = synStreamCreateGeneric((synStreamHandle *)&handle, device(), 0); break;
    case 1: return synStreamDestroy(any());
    case 2: return synStreamWaitEvent(any(), any(), (uint32_t)below(2));
    case 3: return synStreamSynchronize(any());
    case 4: return synStreamQuery(any());
    case 5: status = synEventCreate((synEventHandle *)&handle, device(), (uint32_t)below(3)); break;
    case 6: return synEventDestroy(any());
    case 7: return synEventRecord(any(), any());
    case 8: return synEventSynchronize(any());
    case 9: return synEventElapsedTime(wide, any(), any());
    case 10: return synRecipeDestroy(any());
    case 11: status = synSectionCreate((synSectionHandle *)&handle, number(), any()); break;
    case 12: return synSectionSetGroup(any(), number());
    case 13: return synSectionSetPersistent(any(), below(2) == 0);
    case 14: return synSectionSetConst(any(), below(2) == 0);
    case 15: return synSectionSetRMW(any(), below(2) == 0);
    case 16: return synSectionDestroy(any());
    case 17: case 18:
        for (int i = 0; i < 5; i++) {
            infos[i].pTensorAddress = address();
            infos[i].tensorId = number();
            for (int j = 0; j < 4; j++) infos[i].tensorSize[j] = number();
        }
        return synLaunch(any(), infos, count, address(), any(), (uint32_t)below(2) * 2);
    case 19: return synWorkspaceGetSize(below(9) == 0 ? NULL : wide, any());
    case 20: case 21:
        /* Only mapped host memory is followed, and only `buffer` is mapped. */
        return synMemCopyAsync(any(), address(), below(1 << 13), address(), (synDmaDir)below(4));
    case 22: return synTensorRetrieveIds(any(), names, ids, count);
    case 23: return synTensorDestroy(any());
    case 24: case 25: case 26:
        return synNodeCreate(any(), (synTensor *)list, (synTensor *)others, count, few(), wide, (unsigned)below(128),
            guid(), name(), NULL, NULL);
    case 27: return synNodeDependencySet(any(), ids, ids, count, few());
    case 28: status = synGraphCompile((synRecipeHandle *)&handle, any(), name(), NULL); break;
    case 29: status = synGraphCreate((synGraphHandle *)&handle, (synDeviceType)below(9)); break;
    case 30: return below(20) == 0 ? synGraphDestroy(any()) : synSuccess;
    case 31: return synMemsetD32Async(address(), (uint32_t)next(), below(2000), any());
    case 32: return synMemsetD8Async(address(), 1, number(), any());
    case 33:
        status = synDeviceMalloc(device(), number() % (1 << 16), below(4) == 0 ? address() : 0, 0, wide);
        if (status == synSuccess) addresses[below(8)] = wide[0];
        return status;
    case 34: return synDeviceFree(device(), address(), 0);
    case 35: case 36: status = synTensorHandleCreate((synTensor *)&handle, any(), (synTensorType)below(8), name()); break;
    case 37: return synTensorAssignToSection(any(), any(), number());
    case 38: return synTensorSetHostPtr(any(), buffer, below(sizeof buffer), types[below(7)], below(2) == 0);
    case 39: case 40:
        geometry.dims = (uint32_t)number();
        for (int i = 0; i < 5; i++) geometry.sizes[i] = below(3) == 0 ? number() : 2;
        if (below(2) == 0) geometry.dims = 2;
        return synTensorSetGeometry(any(), &geometry, (synGeometryType)below(4));
    case 41: return synTensorSetDeviceDataType(any(), below(9) == 0 ? (synDataType)number() : types[below(7)]);
    case 42: return synNodeSetUserParams(any(), number(), wide, (unsigned)below(128));
    default: return synTensorSetExternal(any(), below(2) == 0);
    }
    keep(handle);
    return status;
}

int main(int count, char **arguments) {
    synDeviceId id;
    state = count > 1 ? strtoull(arguments[1], NULL, 10) * 2654435761u + 1 : 1;
    if (synInitialize() != synSuccess || synDeviceAcquireByModuleId(&id, 0) != synSuccess) return 2;
    if (synHostMap(id, sizeof buffer, buffer) != synSuccess) return 2;
    uint64_t succeeded = 0;
    for (int i = 0; i < 20000; i++) {
        synStatus status = step();
        if ((unsigned)status > (unsigned)synStatusLast) {
            fprintf(stderr, "status %d does not exist\n", (int)status);
            return 1;
        }
        succeeded += status == synSuccess;
    }
    printf("%d calls succeeded\n", (int)succeeded);
    if (synDeviceSynchronize(id) > synStatusLast || synHostUnmap(id, buffer) != synSuccess) return 2;
    return synDeviceRelease(id) == synSuccess && synDestroy() == synSuccess ? 0 : 2;
}
