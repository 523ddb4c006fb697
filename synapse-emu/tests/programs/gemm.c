/* A bf16 product through libSynapse.so, compared with one computed here.
 *
 * Exit code 0: right; 1: wrong values; 2: a call returned another status than success, which is on stderr. Whatever
 * happens, everything that was made is destroyed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <synapse.h>

enum { ROWS = 5, DEPTH = 40, COLUMNS = 7 };

#define TRY(call)                                                                                                     \
    do {                                                                                                              \
        synStatus status_ = (call);                                                                                   \
        if (status_ != synSuccess) {                                                                                  \
            fprintf(stderr, "%s: status %d\n", #call, (int)status_);                                                  \
            goto done;                                                                                                \
        }                                                                                                             \
    } while (0)

/* Exact for small integers. */
static uint16_t bf16(int value) {
    float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static int left(int row, int k) { return (row * 3 + k * 5) % 7 - 3; }
static int right(int k, int column) { return (k * 2 + column) % 5 - 2; }

static synStatus tensor(
    synGraphHandle graph, const char *name, synDataType type, uint64_t inner, uint64_t outer, synTensor *tensor) {
    synSectionHandle section;
    synTensorGeometry geometry;
    synStatus status;
    memset(&geometry, 0, sizeof geometry);
    geometry.dims = 2;
    geometry.sizes[0] = inner;
    geometry.sizes[1] = outer;
    if ((status = synTensorHandleCreate(tensor, graph, DATA_TENSOR, name)) != synSuccess) return status;
    if ((status = synTensorSetGeometry(*tensor, &geometry, synGeometryMaxSizes)) != synSuccess) return status;
    if ((status = synTensorSetDeviceDataType(*tensor, type)) != synSuccess) return status;
    if ((status = synSectionCreate(&section, 0, graph)) != synSuccess) return status;
    return synTensorAssignToSection(*tensor, section, 0);
}

int main(void) {
    const char *names[3] = {"a", "b", "c"};
    const uint64_t inner[3] = {DEPTH, COLUMNS, COLUMNS};
    const uint64_t outer[3] = {ROWS, DEPTH, ROWS};
    const uint64_t bytes[3] = {ROWS * DEPTH * 2, DEPTH * COLUMNS * 2, ROWS * COLUMNS * 4};
    const synDataType types[3] = {syn_type_bf16, syn_type_bf16, syn_type_float};
    synGEMMParams params;
    synDeviceId device = 0;
    synGraphHandle graph = NULL;
    synRecipeHandle recipe = NULL;
    synStreamHandle stream = NULL;
    synTensor tensors[3];
    synLaunchTensorInfo infos[3];
    uint64_t ids[3], workspace_bytes = 0, workspace = 0, addresses[3] = {0, 0, 0};
    void *host[3] = {NULL, NULL, NULL};
    int initialized = 0, acquired = 0, result = 2;

    TRY(synInitialize());
    initialized = 1;
    TRY(synDeviceAcquireByModuleId(&device, 0));
    acquired = 1;
    TRY(synGraphCreate(&graph, synDeviceGaudi2));
    for (int i = 0; i < 3; i++) TRY(tensor(graph, names[i], types[i], inner[i], outer[i], &tensors[i]));
    memset(&params, 0, sizeof params);
    TRY(synNodeCreate(graph, tensors, tensors + 2, 2, 1, &params, sizeof params, "gemm", "product", NULL, NULL));
    TRY(synGraphCompile(&recipe, graph, "product", NULL));
    TRY(synWorkspaceGetSize(&workspace_bytes, recipe));
    TRY(synTensorRetrieveIds(recipe, names, ids, 3));
    TRY(synStreamCreateGeneric(&stream, device, 0));
    if (workspace_bytes > 0) TRY(synDeviceMalloc(device, workspace_bytes, 0, 0, &workspace));
    memset(infos, 0, sizeof infos);
    for (int i = 0; i < 3; i++) {
        TRY(synDeviceMalloc(device, bytes[i], 0, 0, &addresses[i]));
        TRY(synHostMalloc(device, bytes[i], 0, &host[i]));
        infos[i].pTensorAddress = addresses[i];
        infos[i].tensorId = ids[i];
        infos[i].tensorSize[0] = inner[i];
        infos[i].tensorSize[1] = outer[i];
    }
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < DEPTH; k++) ((uint16_t *)host[0])[row * DEPTH + k] = bf16(left(row, k));
    for (int k = 0; k < DEPTH; k++)
        for (int column = 0; column < COLUMNS; column++)
            ((uint16_t *)host[1])[k * COLUMNS + column] = bf16(right(k, column));
    for (int i = 0; i < 2; i++)
        TRY(synMemCopyAsync(stream, (uint64_t)(uintptr_t)host[i], bytes[i], addresses[i], HOST_TO_DRAM));
    TRY(synLaunch(stream, infos, 3, workspace, recipe, 0));
    TRY(synMemCopyAsync(stream, addresses[2], bytes[2], (uint64_t)(uintptr_t)host[2], DRAM_TO_HOST));
    TRY(synStreamSynchronize(stream));

    result = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            int expected = 0;
            for (int k = 0; k < DEPTH; k++) expected += left(row, k) * right(k, column);
            float found = ((float *)host[2])[row * COLUMNS + column];
            if (found != (float)expected) {
                fprintf(stderr, "[%d, %d]: %g instead of %d\n", row, column, found, expected);
                result = 1;
            }
        }
    }
    if (result == 0) printf("gemm %d x %d x %d: right\n", ROWS, DEPTH, COLUMNS);

done:
    for (int i = 0; i < 3; i++) {
        if (host[i] != NULL && synHostFree(device, host[i], 0) != synSuccess) result = 2;
        if (addresses[i] != 0 && synDeviceFree(device, addresses[i], 0) != synSuccess) result = 2;
    }
    if (workspace != 0 && synDeviceFree(device, workspace, 0) != synSuccess) result = 2;
    if (stream != NULL && synStreamDestroy(stream) != synSuccess) result = 2;
    if (recipe != NULL && synRecipeDestroy(recipe) != synSuccess) result = 2;
    if (graph != NULL && synGraphDestroy(graph) != synSuccess) result = 2;
    if (acquired && synDeviceRelease(device) != synSuccess) result = 2;
    if (initialized && synDestroy() != synSuccess) result = 2;
    return result;
}
