// An FP8 cache through libSynapse.so: rows are converted, copied into their slots in place, gathered, converted back.
//
// Exit codes as in gemm.c.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <synapse.h>

namespace {

constexpr uint64_t SLOTS = 24, ROWS = 3, WIDTH = 32;
constexpr float QUANT = 4.0F, DEQUANT = 0.25F;
constexpr int32_t WRITTEN[ROWS] = {17, 0, 23};

void check(synStatus status, const char *what) {
    if (status != synSuccess) throw std::runtime_error(std::string(what) + ": status " + std::to_string(status));
}
#define CHECK(call) check(call, #call)

uint16_t to_bf16(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
}

float from_bf16(uint16_t half) {
    const uint32_t bits = static_cast<uint32_t>(half) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Of three significant bits, and with QUANT within the range of e4m3, so that nothing is rounded; the first of each row
// is far beyond the range, and saturates.
float element(uint64_t row, uint64_t column) {
    if (column == 0) return row % 2 == 0 ? 1000.0F : -1000.0F;
    return std::ldexp(static_cast<float>(4 + (row + column) % 4), static_cast<int>(column % 5) - 4) *
           (column % 2 == 0 ? 1.0F : -1.0F);
}

float expected(uint64_t row, uint64_t column) {
    if (column == 0) return row % 2 == 0 ? 240.0F * DEQUANT : -240.0F * DEQUANT;
    return element(row, column);
}

struct Graph {
    synGraphHandle handle = nullptr;
    synRecipeHandle recipe = nullptr;
    std::vector<synLaunchTensorInfo> infos;
    std::vector<std::string> names;

    Graph() {
        CHECK(synGraphCreate(&handle, synDeviceGaudi2));
        synGraphAttribute attribute = GRAPH_ATTRIBUTE_INFERENCE;
        uint64_t on = 1;
        CHECK(synGraphSetAttribute(handle, &attribute, &on, 1));
    }
    ~Graph() {
        if (recipe != nullptr) synRecipeDestroy(recipe);
        synGraphDestroy(handle);
    }

    synSectionHandle section() {
        synSectionHandle made;
        CHECK(synSectionCreate(&made, 0, handle));
        return made;
    }

    synTensor tensor(const std::string &name, synDataType type, std::vector<uint64_t> sizes) {
        synTensor made;
        synTensorGeometry geometry{};
        geometry.dims = static_cast<uint32_t>(sizes.size());
        for (size_t i = 0; i < sizes.size(); i++) geometry.sizes[i] = sizes[i];
        CHECK(synTensorHandleCreate(&made, handle, DATA_TENSOR, name.c_str()));
        CHECK(synTensorSetGeometry(made, &geometry, synGeometryMaxSizes));
        CHECK(synTensorSetDeviceDataType(made, type));
        return made;
    }

    // Persistent, at an address.
    synTensor placed(
        const std::string &name, synDataType type, std::vector<uint64_t> sizes, uint64_t address,
        synSectionHandle where = nullptr) {
        synTensor made = tensor(name, type, sizes);
        CHECK(synTensorAssignToSection(made, where == nullptr ? section() : where, 0));
        synLaunchTensorInfo info{};
        info.pTensorAddress = address;
        for (size_t i = 0; i < sizes.size(); i++) info.tensorSize[i] = sizes[i];
        if (sizes.size() == 1) info.tensorSize[1] = 1;
        infos.push_back(info);
        names.push_back(name);
        return made;
    }

    void node(const char *guid, std::vector<synTensor> in, std::vector<synTensor> out, const void *params, unsigned bytes) {
        CHECK(synNodeCreate(
            handle, in.data(), out.data(), static_cast<uint32_t>(in.size()), static_cast<uint32_t>(out.size()), params,
            bytes, guid, guid, nullptr, nullptr));
    }

    void run(synDeviceId device, synStreamHandle stream) {
        CHECK(synGraphCompile(&recipe, handle, "cache", nullptr));
        for (size_t i = 0; i < infos.size(); i++) {
            const char *name = names[i].c_str();
            CHECK(synTensorRetrieveIds(recipe, &name, &infos[i].tensorId, 1));
        }
        uint64_t bytes = 0, workspace = 0;
        CHECK(synWorkspaceGetSize(&bytes, recipe));
        if (bytes > 0) CHECK(synDeviceMalloc(device, bytes, 0, 0, &workspace));
        CHECK(synLaunch(stream, infos.data(), static_cast<uint32_t>(infos.size()), workspace, recipe, 0));
        CHECK(synStreamSynchronize(stream));
        if (workspace != 0) CHECK(synDeviceFree(device, workspace, 0));
    }
};

struct Device {
    synDeviceId id = 0;
    synStreamHandle stream = nullptr;

    Device() {
        CHECK(synDeviceAcquireByDeviceType(&id, synDeviceGaudi2));
        CHECK(synStreamCreateGeneric(&stream, id, 0));
    }
    // What is still allocated goes with the device.
    ~Device() { synDeviceRelease(id); }

    template <class T> uint64_t upload(const std::vector<T> &values) {
        const uint64_t bytes = values.size() * sizeof(T);
        uint64_t address;
        void *host;
        CHECK(synDeviceMalloc(id, bytes, 0, 0, &address));
        CHECK(synHostMalloc(id, bytes, 0, &host));
        std::memcpy(host, values.data(), bytes);
        CHECK(synMemCopyAsync(stream, reinterpret_cast<uint64_t>(host), bytes, address, HOST_TO_DRAM));
        CHECK(synStreamSynchronize(stream));
        CHECK(synHostFree(id, host, 0));
        return address;
    }

    template <class T> std::vector<T> download(uint64_t address, size_t count) {
        std::vector<T> values(count);
        CHECK(synHostMap(id, count * sizeof(T), values.data()));
        CHECK(synMemCopyAsync(
            stream, address, count * sizeof(T), reinterpret_cast<uint64_t>(values.data()), DRAM_TO_HOST));
        CHECK(synStreamSynchronize(stream));
        CHECK(synHostUnmap(id, values.data()));
        return values;
    }
};

void write(Device &device, uint64_t cache, uint64_t rows, uint64_t slots, uint64_t quant) {
    Graph graph;
    synSectionHandle memory = graph.section();
    synTensor source = graph.placed("rows", syn_type_bf16, {WIDTH, ROWS}, rows);
    synTensor scale = graph.placed("quant", syn_type_float, {1}, quant);
    synTensor where = graph.placed("slots", syn_type_int32, {ROWS}, slots);
    synTensor before = graph.placed("cache", syn_type_int8, {WIDTH, SLOTS}, cache, memory);
    synTensor after = graph.placed("cache_out", syn_type_int8, {WIDTH, SLOTS}, cache, memory);
    synTensor codes = graph.tensor("codes", syn_type_fp8_143, {WIDTH, ROWS});
    synTensor bytes = graph.tensor("bytes", syn_type_int8, {WIDTH, ROWS});
    graph.node("convert_to_fp8_bf16", {source, scale}, {codes}, nullptr, 0);
    graph.node("reinterpret_cast", {codes}, {bytes}, nullptr, 0);
    ns_IndexCopy_Params axis{};
    graph.node("index_copy_fwd_i8", {before, where, bytes}, {after}, &axis, sizeof axis);
    graph.run(device.id, device.stream);
}

std::vector<uint16_t> read(Device &device, uint64_t cache, uint64_t slots, uint64_t dequant) {
    const uint64_t out = device.upload(std::vector<uint16_t>(ROWS * WIDTH, 0x7FC1));
    Graph graph;
    synTensor source = graph.placed("cache", syn_type_int8, {WIDTH, SLOTS}, cache);
    synTensor where = graph.placed("slots", syn_type_int32, {ROWS}, slots);
    synTensor scale = graph.placed("dequant", syn_type_float, {1}, dequant);
    synTensor rows = graph.placed("rows", syn_type_bf16, {WIDTH, ROWS}, out);
    synTensor bytes = graph.tensor("bytes", syn_type_int8, {WIDTH, ROWS});
    synTensor codes = graph.tensor("codes", syn_type_fp8_143, {WIDTH, ROWS});
    ns_GatherKernel_Params axis{};
    axis.axis = 1;
    graph.node("gather_fwd_i8", {source, where}, {bytes}, &axis, sizeof axis);
    graph.node("reinterpret_cast", {bytes}, {codes}, nullptr, 0);
    graph.node("convert_from_fp8_bf16", {codes, scale}, {rows}, nullptr, 0);
    graph.run(device.id, device.stream);
    return device.download<uint16_t>(out, ROWS * WIDTH);
}

int round_trip() {
    Device device;
    std::vector<uint16_t> rows;
    for (uint64_t row = 0; row < ROWS; row++)
        for (uint64_t column = 0; column < WIDTH; column++) rows.push_back(to_bf16(element(row, column)));
    const uint64_t cache = device.upload(std::vector<uint8_t>(SLOTS * WIDTH, 0));
    const uint64_t slots = device.upload(std::vector<int32_t>(WRITTEN, WRITTEN + ROWS));
    write(device, cache, device.upload(rows), slots, device.upload(std::vector<float>{QUANT}));
    const std::vector<uint16_t> found = read(device, cache, slots, device.upload(std::vector<float>{DEQUANT}));

    int wrong = 0;
    for (uint64_t row = 0; row < ROWS; row++) {
        for (uint64_t column = 0; column < WIDTH; column++) {
            const float value = from_bf16(found[row * WIDTH + column]);
            if (value == expected(row, column)) continue;
            std::fprintf(stderr, "[%d, %d]: %g instead of %g\n", int(row), int(column), value, expected(row, column));
            wrong = 1;
        }
    }
    const std::vector<uint8_t> bytes = device.download<uint8_t>(cache, SLOTS * WIDTH);
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        bool is_written = false;
        for (int32_t written : WRITTEN) is_written = is_written || uint64_t(written) == slot;
        for (uint64_t column = 0; column < WIDTH && !is_written; column++) {
            if (bytes[slot * WIDTH + column] == 0) continue;
            std::fprintf(stderr, "slot %d was touched\n", int(slot));
            wrong = 1;
        }
    }
    if (wrong == 0) std::printf("cache round trip: right\n");
    return wrong;
}

} // namespace

int main() {
    int result = 2;
    try {
        CHECK(synInitialize());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return result;
    }
    try {
        result = round_trip();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return synDestroy() == synSuccess ? result : 2;
}
