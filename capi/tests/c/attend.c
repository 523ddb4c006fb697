/* Attention over numbers of a fixed sequence, written to the standard output as float32. The arguments are the
 * generation, the mode, 0 for a Gaudi, and the type of the cache. */

#include "check.h"

enum { BLOCKS = 8, SIZE = 16, SEQUENCES = 2 };

static uint32_t state = 1;

/* A value from -127/64 to 127/64, which bfloat16 holds. */
static uint16_t next(void) {
    state = state * 1664525u + 1013904223u;
    return bf16((float)((int)(state >> 16) % 255 - 127) / 64.0f);
}

static uint16_t *values(size_t len) {
    uint16_t *made = malloc(len * sizeof *made);
    CHECK(made != NULL);
    for (size_t i = 0; i < len; i++) {
        made[i] = next();
    }
    return made;
}

static void print(const float *out, size_t len) {
    CHECK(fwrite(out, sizeof *out, len, stdout) == len);
}

/* The first sequence has 37 tokens in blocks 5, 0, 3, the second 18 in blocks 1, 6. */
static const int32_t table[SEQUENCES * 3] = {5, 0, 3, 1, 6, -1};
static const int32_t lens[SEQUENCES] = {37, 18};
/* Two query tokens of the first, one of the second. */
static const int32_t starts[SEQUENCES + 1] = {0, 2, 3};

static size_t slots_of(int64_t *slots) {
    size_t count = 0;
    for (int sequence = 0; sequence < SEQUENCES; sequence++) {
        for (int token = 0; token < lens[sequence]; token++) {
            slots[count++] = (int64_t)table[3 * sequence + token / SIZE] * SIZE + token % SIZE;
        }
    }
    return count;
}

static gaudi_kv_cache_options cache_options(int32_t dtype) {
    NEW(gaudi_kv_cache_options, options);
    options.num_blocks = BLOCKS;
    options.block_size_tokens = SIZE;
    options.dtype = dtype;
    return options;
}

static void mha(const gaudi_kv_device *device, int32_t dtype) {
    enum { HEADS = 4, KV = 2, DIM = 32, V_DIM = 16, Q_ROW = HEADS * DIM, OUT = HEADS * V_DIM };
    static const float k_quant[KV] = {70.5f, 33.25f}, k_dequant[KV] = {1 / 70.5f, 1 / 33.25f};
    static const float v_quant[KV] = {90.0f, 61.0f}, v_dequant[KV] = {1 / 90.0f, 1 / 61.0f};
    static const float q_quant[KV] = {41.0f, 55.0f}, q_dequant[KV] = {1 / 41.0f, 1 / 55.0f};
    static const float slopes[HEADS] = {0.5f, 0.25f, 0.125f, 0.0625f}, sinks[HEADS] = {0.5f, -1.0f, 0.0f, 2.0f};
    NEW(gaudi_kv_mha_shape, shape);
    shape.num_heads = HEADS;
    shape.num_kv_heads = KV;
    shape.head_dim = DIM;
    shape.v_head_dim = V_DIM;
    gaudi_kv_cache_options cached = cache_options(dtype);
    cached.k_scale.quant = k_quant;
    cached.k_scale.dequant = k_dequant;
    cached.v_scale.quant = v_quant;
    cached.v_scale.dequant = v_dequant;
    cached.k_scale.count = cached.v_scale.count = KV;
    gaudi_kv_cache *cache = NULL;
    OK(gaudi_kv_cache_create_mha(device, &shape, &cached, &cache));
    int64_t slots[64];
    size_t tokens = slots_of(slots);
    uint16_t *k = values(tokens * KV * DIM), *v = values(tokens * KV * V_DIM), *q = values(3 * Q_ROW);
    OK(gaudi_kv_cache_write_mha(cache, k, tokens * KV * DIM, v, tokens * KV * V_DIM, slots, tokens));
    NEW(gaudi_kv_attention_options, options);
    options.softmax_scale = 0.17677669f;
    options.logits_soft_cap = 20.0f;
    options.alibi_slopes = slopes;
    options.sinks = sinks;
    options.sliding_window = 21;
    options.q_scale.quant = q_quant;
    options.q_scale.dequant = q_dequant;
    options.q_scale.count = KV;
    options.prob_quant = 200.0f;
    options.prob_dequant = 1 / 200.0f;
    options.flags = GAUDI_KV_ATTENTION_FP8_PREFILL;
    gaudi_kv_attention *layer = NULL;
    OK(gaudi_kv_attention_create_mha(device, &shape, &options, &layer));
    gaudi_kv_batch *batch = NULL;
    OK(gaudi_kv_batch_create(&batch));
    OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, SEQUENCES, table, 3));
    float out[3 * OUT];
    OK(gaudi_kv_attention_decode_mha(layer, cache, batch, q, 3 * Q_ROW, out, 3 * OUT));
    print(out, 3 * OUT);
    OK(gaudi_kv_attention_prefill_mha(layer, cache, batch, q, 3 * Q_ROW, k, 3 * KV * DIM, v, 3 * KV * V_DIM, out,
        3 * OUT));
    print(out, 3 * OUT);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
    gaudi_kv_cache_free(cache);
    free(k);
    free(v);
    free(q);
}

static void mla(const gaudi_kv_device *device, int32_t dtype) {
    enum { HEADS = 3, RANK = 64, NOPE = 16, ROPE = 8, V_DIM = 24, OUT = HEADS * V_DIM };
    static const float k_quant = 50.0f, k_dequant = 1 / 50.0f;
    NEW(gaudi_kv_mla_shape, shape);
    shape.num_heads = HEADS;
    shape.kv_lora_rank = RANK;
    shape.qk_nope_head_dim = NOPE;
    shape.qk_rope_head_dim = ROPE;
    shape.v_head_dim = V_DIM;
    gaudi_kv_cache_options cached = cache_options(dtype);
    cached.k_scale = one(&k_quant, &k_dequant);
    gaudi_kv_cache *cache = NULL;
    OK(gaudi_kv_cache_create_mla(device, &shape, &cached, &cache));
    int64_t slots[64];
    size_t tokens = slots_of(slots), weights = HEADS * (NOPE + V_DIM) * RANK;
    uint16_t *kv_c = values(tokens * RANK), *k_pe = values(tokens * ROPE), *weight = values(weights);
    uint16_t *q_nope = values(3 * HEADS * NOPE), *q_pe = values(3 * HEADS * ROPE);
    OK(gaudi_kv_cache_write_mla(cache, kv_c, tokens * RANK, k_pe, tokens * ROPE, slots, tokens));
    NEW(gaudi_kv_attention_options, options);
    options.softmax_scale = 0.01f;
    gaudi_kv_attention *layer = NULL;
    OK(gaudi_kv_attention_create_mla(device, &shape, weight, weights, &options, &layer));
    gaudi_kv_batch *batch = NULL;
    OK(gaudi_kv_batch_create(&batch));
    OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, SEQUENCES, table, 3));
    float out[3 * OUT];
    OK(gaudi_kv_attention_decode_mla(layer, cache, batch, q_nope, 3 * HEADS * NOPE, q_pe, 3 * HEADS * ROPE, out,
        3 * OUT));
    print(out, 3 * OUT);
    OK(gaudi_kv_attention_prefill_mla(layer, cache, batch, q_nope, 3 * HEADS * NOPE, q_pe, 3 * HEADS * ROPE, kv_c,
        3 * RANK,
                                      k_pe, 3 * ROPE, out, 3 * OUT));
    print(out, 3 * OUT);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
    gaudi_kv_cache_free(cache);
    free(kv_c);
    free(k_pe);
    free(weight);
    free(q_nope);
    free(q_pe);
}

/* What a Gaudi has no part in: memory of the caller, and a cache that is not on it. */
static void elsewhere(const gaudi_kv_device *hpu) {
    static uint8_t memory[2][BLOCKS * SIZE];
    NEW(gaudi_kv_mha_shape, shape);
    shape.num_heads = shape.num_kv_heads = shape.head_dim = shape.v_head_dim = 1;
    gaudi_kv_cache_options cached = cache_options(GAUDI_KV_BF16);
    cached.key_memory = memory[0];
    cached.value_memory = memory[1];
    cached.key_memory_bytes = cached.value_memory_bytes = sizeof memory[0];
    gaudi_kv_cache *cache = NULL;
    FAILS(GAUDI_KV_UNSUPPORTED, gaudi_kv_cache_create_mha(hpu, &shape, &cached, &cache));
    cached.key_memory = cached.value_memory = NULL;
    gaudi_kv_device *emulated = NULL;
    OK(gaudi_kv_device_create_emulated(GAUDI_KV_GAUDI2, GAUDI_KV_FAST, &emulated));
    OK(gaudi_kv_cache_create_mha(emulated, &shape, &cached, &cache));
    NEW(gaudi_kv_attention_options, options);
    options.softmax_scale = 1.0f;
    gaudi_kv_attention *layer = NULL;
    OK(gaudi_kv_attention_create_mha(hpu, &shape, &options, &layer));
    gaudi_kv_batch *batch = NULL;
    OK(gaudi_kv_batch_create(&batch));
    const int32_t one_each[2] = {0, 1};
    OK(gaudi_kv_batch_prepare(batch, cache, one_each, one_each + 1, 1, one_each, 1));
    const uint16_t q[1] = {0};
    float out[1];
    FAILS(GAUDI_KV_MISMATCH, gaudi_kv_attention_decode_mha(layer, cache, batch, q, 1, out, 1));
    CHECK(strstr(gaudi_kv_last_error_message(), "emulated") != NULL);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
    gaudi_kv_cache_free(cache);
    gaudi_kv_device_free(emulated);
}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    gaudi_kv_device *device = NULL;
    if (atoi(argv[2]) == 0) {
        OK(gaudi_kv_device_create_hpu(NULL, &device));
        NEW(gaudi_kv_device_info, info);
        OK(gaudi_kv_device_get_info(device, &info));
        CHECK(info.backend == GAUDI_KV_HPU && info.mode == 0 && info.generation == atoi(argv[1]));
        elsewhere(device);
    } else {
        OK(gaudi_kv_device_create_emulated(atoi(argv[1]), atoi(argv[2]), &device));
    }
    mha(device, atoi(argv[3]));
    mla(device, atoi(argv[3]));
    gaudi_kv_device_free(device);
    return 0;
}
