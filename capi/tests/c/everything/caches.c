/* Caches. The scale is 2: quant 0.5, dequant 2. A Gaudi2 stores 3 as 1.5 (0x3C), 1000 saturates at 240 (0x77), -3
 * is 0xBC; they read back as 3, 480 and -3. */

#include "parts.h"

enum { BLOCKS = 2, TOKENS = 16, HEADS = 2, DIM = 2, V_DIM = 1, SLOTS = (BLOCKS + 1) * TOKENS };

static const float half = 0.5f, two = 2.0f;

static gaudi_kv_mha_shape shape_of(void) {
    NEW(gaudi_kv_mha_shape, shape);
    shape.num_heads = HEADS;
    shape.num_kv_heads = HEADS;
    shape.head_dim = DIM;
    shape.v_head_dim = V_DIM;
    return shape;
}

static gaudi_kv_cache_options options_of(int32_t dtype) {
    NEW(gaudi_kv_cache_options, options);
    options.num_blocks = BLOCKS;
    options.block_size_tokens = TOKENS;
    options.dtype = dtype;
    options.k_scale = one(&half, &two);
    options.v_scale = one(&half, &two);
    return options;
}

static gaudi_kv_cache *cache_of(const gaudi_kv_device *device, const gaudi_kv_cache_options *options) {
    gaudi_kv_mha_shape shape = shape_of();
    gaudi_kv_cache *cache = NULL;
    OK(gaudi_kv_cache_create_mha(device, &shape, options, &cache));
    return cache;
}

/* Writes a token to slot 17 and reads it back. */
static void write_and_read(gaudi_kv_cache *cache, float saturated) {
    const int64_t slots[2] = {17, 0};
    const uint16_t k[HEADS * DIM] = {bf16(3.0f), bf16(-3.0f), bf16(1000.0f), bf16(0.0f)};
    const uint16_t v[HEADS * V_DIM] = {bf16(1.0f), bf16(-1000.0f)};
    OK(gaudi_kv_cache_write_mha(cache, k, HEADS * DIM, v, HEADS * V_DIM, slots, 1));
    /* The other slot is still zero. */
    uint16_t k_out[2 * HEADS * DIM], v_out[2 * HEADS * V_DIM];
    memset(k_out, 0xFF, sizeof k_out);
    OK(gaudi_kv_cache_read_mha(cache, slots, 2, k_out, 2 * HEADS * DIM, v_out, 2 * HEADS * V_DIM));
    const uint16_t k_expected[2 * HEADS * DIM] = {bf16(3.0f), bf16(-3.0f), bf16(saturated), 0, 0, 0, 0, 0};
    const uint16_t v_expected[2 * HEADS * V_DIM] = {bf16(1.0f), bf16(-saturated), 0, 0};
    CHECK(memcmp(k_out, k_expected, sizeof k_out) == 0);
    CHECK(memcmp(v_out, v_expected, sizeof v_out) == 0);
}

static void refusals(gaudi_kv_cache *cache) {
    uint16_t k[HEADS * DIM] = {0}, v[HEADS * V_DIM] = {0};
    int64_t slot = SLOTS;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_write_mha(cache, k, HEADS * DIM, v, HEADS * V_DIM, &slot, 1));
    slot = -1;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_write_mha(cache, k, HEADS * DIM, v, HEADS * V_DIM, &slot, 1));
    slot = SLOTS - 1;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_write_mha(cache, k, 1, v, HEADS * V_DIM, &slot, 1));
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_read_mha(cache, &slot, 1, k, HEADS * DIM, v, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_read_mha(cache, &slot, 1, k, HEADS * DIM, k + 1, HEADS * V_DIM));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_write_mla(cache, k, HEADS * DIM, v, HEADS * V_DIM, &slot, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_read_mla(cache, &slot, 1, k, HEADS * DIM));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_write_mha(cache, NULL, HEADS * DIM, v, HEADS * V_DIM, &slot, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_write_mha(cache, k, SIZE_MAX, v, HEADS * V_DIM, &slot, 1));
    /* Nothing is none. */
    OK(gaudi_kv_cache_write_mha(cache, NULL, 0, NULL, 0, NULL, 0));
}

/* Attention whose output would lie in the cache. */
static void attention_into(const gaudi_kv_device *device, const gaudi_kv_cache *cache, float *out) {
    gaudi_kv_mha_shape shape = shape_of();
    NEW(gaudi_kv_attention_options, options);
    options.softmax_scale = 1.0f;
    gaudi_kv_attention *layer = NULL;
    OK(gaudi_kv_attention_create_mha(device, &shape, &options, &layer));
    gaudi_kv_batch *batch = NULL;
    OK(gaudi_kv_batch_create(&batch));
    const int32_t starts[2] = {0, 1}, lens[1] = {1}, table[1] = {1};
    OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, 1, table, 1));
    const size_t q_len = shape.num_heads * DIM, out_len = shape.num_heads * V_DIM;
    uint16_t *q = (uint16_t *)calloc(q_len, sizeof *q);
    CHECK(q != NULL);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_attention_decode_mha(layer, cache, batch, q, q_len, out, out_len));
    CHECK(strstr(gaudi_kv_last_error_message(), "value_memory and out overlap") != NULL);
    const uint16_t k[HEADS * DIM] = {0}, v[HEADS * V_DIM] = {0};
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_attention_prefill_mha(layer, cache, batch, q, q_len, k, HEADS * DIM, v,
                                                                    HEADS * V_DIM, out, out_len));
    free(q);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
}

/* Memory of the caller, which sees the codes. */
static void in_memory_of_the_caller(const gaudi_kv_device *device) {
    static uint8_t key[BLOCKS * TOKENS * HEADS * DIM], value[BLOCKS * TOKENS * HEADS * V_DIM];
    memset(key, 0, sizeof key);
    memset(value, 0, sizeof value);
    gaudi_kv_cache_options options = options_of(GAUDI_KV_FP8);
    options.key_memory = key;
    options.key_memory_bytes = sizeof key;
    options.value_memory = value;
    options.value_memory_bytes = sizeof value;
    gaudi_kv_cache *cache = cache_of(device, &options);
    NEW(gaudi_kv_cache_info, info);
    OK(gaudi_kv_cache_get_info(cache, &info));
    CHECK(info.has_pad_block == 0);
    write_and_read(cache, 480.0f);
    const uint8_t k[HEADS * DIM] = {0x3C, 0xBC, 0x77, 0x00}, v[HEADS * V_DIM] = {0x30, 0xF7};
    CHECK(memcmp(key + 17 * HEADS * DIM, k, sizeof k) == 0);
    CHECK(memcmp(value + 17 * HEADS * V_DIM, v, sizeof v) == 0);
    CHECK(key[16 * HEADS * DIM] == 0);
    /* No array of a call lies in it. */
    uint16_t rows[HEADS * (DIM + V_DIM)] = {0};
    uint16_t *in_key = (uint16_t *)(void *)key, *in_value = (uint16_t *)(void *)value;
    const int64_t slot = 17;
    FAILS(GAUDI_KV_INVALID_ARGUMENT,
          gaudi_kv_cache_write_mha(cache, in_value, HEADS * DIM, rows, HEADS * V_DIM, &slot, 1));
    CHECK(strstr(gaudi_kv_last_error_message(), "k and value_memory overlap") != NULL);
    FAILS(GAUDI_KV_INVALID_ARGUMENT,
          gaudi_kv_cache_write_mha(cache, rows, HEADS * DIM, in_key, HEADS * V_DIM, &slot, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_write_mha(cache, rows, HEADS * DIM, rows, HEADS * V_DIM,
                                                             (const int64_t *)(const void *)key, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT,
          gaudi_kv_cache_read_mha(cache, &slot, 1, in_key, HEADS * DIM, rows, HEADS * V_DIM));
    FAILS(GAUDI_KV_INVALID_ARGUMENT,
          gaudi_kv_cache_read_mha(cache, &slot, 1, rows, HEADS * DIM, in_value, HEADS * V_DIM));
    CHECK(memcmp(key + 17 * HEADS * DIM, k, sizeof k) == 0);
    attention_into(device, cache, (float *)(void *)value);
    gaudi_kv_cache_free(cache);
    CHECK(key[17 * HEADS * DIM] == 0x3C);

    gaudi_kv_mha_shape shape = shape_of();
    options.key_memory_bytes--;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_create_mha(device, &shape, &options, &cache));
    options.key_memory_bytes++;
    options.value_memory = key;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_create_mha(device, &shape, &options, &cache));
    options.value_memory = NULL;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_create_mha(device, &shape, &options, &cache));
    CHECK(cache == NULL);
}

void caches(void) {
    gaudi_kv_device *gaudi2 = device_of(GAUDI_KV_GAUDI2, GAUDI_KV_EXACT);
    gaudi_kv_device *gaudi3 = device_of(GAUDI_KV_GAUDI3, GAUDI_KV_EXACT);
    gaudi_kv_cache_options options = options_of(GAUDI_KV_FP8);
    gaudi_kv_cache *cache = cache_of(gaudi2, &options);
    NEW(gaudi_kv_cache_info, info);
    OK(gaudi_kv_cache_get_info(cache, &info));
    CHECK(info.attention == GAUDI_KV_MHA && info.generation == GAUDI_KV_GAUDI2 && info.dtype == GAUDI_KV_FP8);
    CHECK(info.has_pad_block == 1 && info.num_blocks == BLOCKS && info.block_size_tokens == TOKENS);
    CHECK(info.key_row == HEADS * DIM && info.value_row == HEADS * V_DIM);
    uint64_t fingerprint = info.fingerprint;
    write_and_read(cache, 480.0f);
    refusals(cache);
    gaudi_kv_cache_free(cache);
    gaudi_kv_cache_free(NULL);

    /* A Gaudi3 reaches 448: 1000 * 0.5 is beyond, and reads back as 896. */
    cache = cache_of(gaudi3, &options);
    OK(gaudi_kv_cache_get_info(cache, &info));
    CHECK(info.generation == GAUDI_KV_GAUDI3 && info.fingerprint != fingerprint);
    write_and_read(cache, 896.0f);
    gaudi_kv_cache_free(cache);

    /* What is not FP8 has no scales. */
    NEW(gaudi_kv_cache_options, plain);
    plain.num_blocks = BLOCKS;
    plain.block_size_tokens = TOKENS;
    for (int32_t dtype = GAUDI_KV_BF16; dtype <= GAUDI_KV_F32; dtype++) {
        plain.dtype = dtype;
        cache = cache_of(gaudi2, &plain);
        write_and_read(cache, 1000.0f);
        gaudi_kv_cache_free(cache);
    }

    /* One scale for each head. */
    const float quant[HEADS] = {0.5f, 0.25f}, dequant[HEADS] = {2.0f, 4.0f};
    options.k_scale.quant = quant;
    options.k_scale.dequant = dequant;
    options.k_scale.count = HEADS;
    cache = cache_of(gaudi2, &options);
    const uint16_t k[HEADS * DIM] = {bf16(1000.0f), 0, bf16(1000.0f), 0}, v[HEADS * V_DIM] = {0, 0};
    uint16_t k_out[HEADS * DIM], v_out[HEADS * V_DIM];
    const int64_t slot = 3;
    OK(gaudi_kv_cache_write_mha(cache, k, HEADS * DIM, v, HEADS * V_DIM, &slot, 1));
    OK(gaudi_kv_cache_read_mha(cache, &slot, 1, k_out, HEADS * DIM, v_out, HEADS * V_DIM));
    CHECK(k_out[0] == bf16(480.0f) && k_out[2] == bf16(960.0f));
    gaudi_kv_cache_free(cache);

    gaudi_kv_mha_shape shape = shape_of();
    options.k_scale.count = 3;
    const float three[3] = {1.0f, 1.0f, 1.0f};
    options.k_scale.quant = three;
    options.k_scale.dequant = three;
    FAILS(GAUDI_KV_INVALID_FACTOR, gaudi_kv_cache_create_mha(gaudi2, &shape, &options, &cache));
    options.k_scale.count = 0;
    FAILS(GAUDI_KV_INVALID_FACTOR, gaudi_kv_cache_create_mha(gaudi2, &shape, &options, &cache));
    options = options_of(GAUDI_KV_FP8);
    options.block_size_tokens = 17;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_create_mha(gaudi2, &shape, &options, &cache));
    options.block_size_tokens = TOKENS;
    options.num_blocks = SIZE_MAX;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_create_mha(gaudi2, &shape, &options, &cache));
    options.num_blocks = (size_t)1 << 50;
    FAILS(GAUDI_KV_OUT_OF_MEMORY, gaudi_kv_cache_create_mha(gaudi2, &shape, &options, &cache));
    options.num_blocks = BLOCKS;
    options.dtype = GAUDI_KV_AUTO;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_create_mha(gaudi2, &shape, &options, &cache));

    in_memory_of_the_caller(gaudi2);
    gaudi_kv_device_free(gaudi2);
    gaudi_kv_device_free(gaudi3);
}

static void to_another_process(gaudi_kv_cache *from, const gaudi_kv_device *gaudi2) {
    gaudi_kv_block *block = NULL, *made = NULL;
    OK(gaudi_kv_cache_export_block(from, 1, &block));
    NEW(gaudi_kv_block_info, info);
    OK(gaudi_kv_block_get_info(block, &info));
    CHECK(info.generation == GAUDI_KV_GAUDI2 && info.num_planes == 2);
    /* Made anew of its bytes. */
    OK(gaudi_kv_block_create(info.generation, info.fingerprint, &made));
    NEW(gaudi_kv_plane, plane);
    for (uint32_t index = 0; index < info.num_planes; index++) {
        OK(gaudi_kv_block_get_plane(block, index, &plane));
        CHECK(plane.dtype == GAUDI_KV_FP8 && plane.block_size_tokens == TOKENS && plane.heads == HEADS);
        CHECK(plane.dim == (index == 0 ? DIM : V_DIM) && plane.num_bytes == TOKENS * HEADS * plane.dim);
        CHECK(plane.bytes[HEADS * plane.dim] == (index == 0 ? 0x3C : 0x30));
        OK(gaudi_kv_block_add_plane(made, &plane));
    }
    FAILS(GAUDI_KV_NOT_FOUND, gaudi_kv_block_get_plane(block, 2, &plane));
    gaudi_kv_block_free(block);

    gaudi_kv_cache_options options = options_of(GAUDI_KV_FP8);
    gaudi_kv_cache *to = cache_of(gaudi2, &options);
    OK(gaudi_kv_cache_import_block(to, 0, made));
    const int64_t slot = 1;
    uint16_t k[HEADS * DIM], v[HEADS * V_DIM];
    OK(gaudi_kv_cache_read_mha(to, &slot, 1, k, HEADS * DIM, v, HEADS * V_DIM));
    CHECK(k[0] == bf16(3.0f) && k[1] == bf16(-3.0f) && v[0] == bf16(1.0f));
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_import_block(to, BLOCKS + 1, made));
    gaudi_kv_cache_free(to);

    /* Another scale means other values. */
    options.v_scale = one(&two, &half);
    to = cache_of(gaudi2, &options);
    FAILS(GAUDI_KV_MISMATCH, gaudi_kv_cache_import_block(to, 0, made));
    CHECK(strstr(gaudi_kv_last_error_message(), "other scales") != NULL);
    gaudi_kv_cache_free(to);
    gaudi_kv_block_free(made);
    gaudi_kv_block_free(NULL);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_block_create(1, 0, &made));
}

void blocks(void) {
    gaudi_kv_device *gaudi2 = device_of(GAUDI_KV_GAUDI2, GAUDI_KV_FAST);
    gaudi_kv_cache_options options = options_of(GAUDI_KV_FP8);
    gaudi_kv_cache *cache = cache_of(gaudi2, &options);
    write_and_read(cache, 480.0f);
    to_another_process(cache, gaudi2);
    /* Block 1 to block 0, so slot 17 to slot 1. */
    const int32_t pairs[2] = {1, 0};
    OK(gaudi_kv_cache_copy_blocks(cache, pairs, 1));
    const int64_t slot = 1;
    uint16_t k[HEADS * DIM], v[HEADS * V_DIM];
    OK(gaudi_kv_cache_read_mha(cache, &slot, 1, k, HEADS * DIM, v, HEADS * V_DIM));
    CHECK(k[0] == bf16(3.0f) && v[1] == bf16(-480.0f));
    const int32_t outside[2] = {0, BLOCKS + 1};
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_copy_blocks(cache, outside, 1));
    gaudi_kv_block *block = NULL;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_export_block(cache, -1, &block));
    gaudi_kv_cache_free(cache);
    gaudi_kv_device_free(gaudi2);
}
