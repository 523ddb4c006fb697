/* A program that was compiled with the first version of the interface, in its smallest form: what it declares
 * itself is all that it knows. This file does not change. It works with every later library. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            return 1;                                               \
        }                                                           \
    } while (0)

/* The required part of each input, and each output as it was. */
struct counts { uint64_t struct_size, exact, rounded, flushed, saturated, nan; };
struct multipliers { const float *quant, *dequant; size_t count; };
struct shape { uint64_t struct_size; size_t num_heads, num_kv_heads, head_dim, v_head_dim; };
struct cache_options {
    uint64_t struct_size;
    size_t num_blocks, block_size_tokens;
    int32_t dtype;
    uint32_t reserved;
    struct multipliers k_scale, v_scale;
};
struct attention_options { uint64_t struct_size; float softmax_scale, logits_soft_cap; };
struct codec_options { uint64_t struct_size; int32_t format, rounding; };
struct inspect_options { uint64_t struct_size; };
struct scale {
    uint64_t struct_size;
    int32_t origin;
    uint32_t count;
    const float *checkpoint, *quant, *dequant;
    const char *tensor;
};
/* An output with guards behind it, which nothing may write to. */
struct guarded { struct scale scale; uint64_t guard[8]; };

uint32_t gaudi_kv_abi_version(void);
int32_t gaudi_kv_rerange(uint8_t *, size_t, int32_t, float, struct counts *);
int32_t gaudi_kv_device_create_emulated(int32_t, int32_t, void **);
void gaudi_kv_device_free(void *);
int32_t gaudi_kv_inspect(const char *, const void *, const struct inspect_options *, void **);
int32_t gaudi_kv_inspection_get_scale(const void *, uint64_t, int32_t, struct scale *);
void gaudi_kv_inspection_free(void *);
int32_t gaudi_kv_cache_create_mha(const void *, const struct shape *, const struct cache_options *, void **);
int32_t gaudi_kv_cache_write_mha(void *, const uint16_t *, size_t, const uint16_t *, size_t, const int64_t *, size_t);
void gaudi_kv_cache_free(void *);
int32_t gaudi_kv_batch_create(void **);
int32_t gaudi_kv_batch_prepare(void *, const void *, const int32_t *, const int32_t *, size_t, const int32_t *, size_t);
void gaudi_kv_batch_free(void *);
int32_t gaudi_kv_attention_create_mha(const void *, const struct shape *, const struct attention_options *, void **);
int32_t gaudi_kv_attention_decode_mha(const void *, const void *, const void *, const uint16_t *, size_t, float *,
    size_t);
void gaudi_kv_attention_free(void *);
int32_t gaudi_kv_codec_create(const struct codec_options *, void **);
int32_t gaudi_kv_codec_encode_f32(const void *, const float *, uint8_t *, size_t);
void gaudi_kv_codec_free(void *);

int main(int argc, char **argv) {
    CHECK(argc == 2);
    CHECK(gaudi_kv_abi_version() >= 1);

    uint8_t code = 0x7E;
    struct counts counts = {.struct_size = sizeof counts};
    CHECK(gaudi_kv_rerange(&code, 1, 2, 0.5f, &counts) == 0 && code == 0x76 && counts.exact == 1);

    void *device = NULL, *inspection = NULL, *cache = NULL, *batch = NULL, *layer = NULL, *codec = NULL;
    CHECK(gaudi_kv_device_create_emulated(2, 1, &device) == 0);
    struct inspect_options inspect = {.struct_size = sizeof inspect};
    CHECK(gaudi_kv_inspect(argv[1], device, &inspect, &inspection) == 0);
    struct guarded guarded;
    memset(&guarded, 0xAB, sizeof guarded);
    guarded.scale.struct_size = sizeof guarded.scale;
    CHECK(gaudi_kv_inspection_get_scale(inspection, 0, 1, &guarded.scale) == 0);
    CHECK(guarded.scale.struct_size == sizeof guarded.scale && guarded.scale.origin == 1 && guarded.scale.count > 0);
    for (int i = 0; i < 8; i++) {
        CHECK(guarded.guard[i] == 0xABABABABABABABAB);
    }
    gaudi_kv_inspection_free(inspection);

    /* One token, whose value is what its decode gives. */
    const float unit = 1.0f;
    const struct multipliers scale = {&unit, &unit, 1};
    struct shape shape = {sizeof shape, 1, 1, 2, 2};
    struct cache_options options = {sizeof options, 1, 16, 1, 0, scale, scale};
    CHECK(gaudi_kv_cache_create_mha(device, &shape, &options, &cache) == 0);
    const uint16_t k[2] = {0x3F80, 0x3F80}, v[2] = {0x4040, 0xC040};
    const int64_t slot = 0;
    CHECK(gaudi_kv_cache_write_mha(cache, k, 2, v, 2, &slot, 1) == 0);
    struct attention_options attention = {sizeof attention, 0.5f, 0.0f};
    CHECK(gaudi_kv_attention_create_mha(device, &shape, &attention, &layer) == 0);
    CHECK(gaudi_kv_batch_create(&batch) == 0);
    const int32_t starts[2] = {0, 1}, lens[1] = {1}, table[1] = {0};
    CHECK(gaudi_kv_batch_prepare(batch, cache, starts, lens, 1, table, 1) == 0);
    float out[2] = {0};
    CHECK(gaudi_kv_attention_decode_mha(layer, cache, batch, k, 2, out, 2) == 0);
    CHECK(out[0] == 3.0f && out[1] == -3.0f);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
    gaudi_kv_cache_free(cache);
    gaudi_kv_device_free(device);

    struct codec_options format = {sizeof format, 2, 0};
    CHECK(gaudi_kv_codec_create(&format, &codec) == 0);
    CHECK(gaudi_kv_codec_encode_f32(codec, &unit, &code, 1) == 0 && code == 0x38);
    gaudi_kv_codec_free(codec);
    puts("fine");
    return 0;
}
