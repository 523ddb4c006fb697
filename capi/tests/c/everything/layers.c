/* Attention. Queries of zero make all scores equal, so an output is the mean of the values that a query sees; a
 * sink takes part in the mean with a value of zero. Means of two and four small integers are exact in every format. */

#include "parts.h"

enum { TOKENS = 16, HEADS = 2, KV_HEADS = 1, DIM = 4 };

static const float one_each = 1.0f;

static gaudi_kv_mha_shape shape_of(void) {
    NEW(gaudi_kv_mha_shape, shape);
    shape.num_heads = HEADS;
    shape.num_kv_heads = KV_HEADS;
    shape.head_dim = DIM;
    shape.v_head_dim = DIM;
    return shape;
}

static gaudi_kv_cache_options cache_options(void) {
    NEW(gaudi_kv_cache_options, options);
    options.num_blocks = 4;
    options.block_size_tokens = TOKENS;
    options.dtype = GAUDI_KV_FP8;
    options.k_scale = one(&one_each, &one_each);
    options.v_scale = one(&one_each, &one_each);
    return options;
}

static gaudi_kv_attention *layer_of(const gaudi_kv_device *device, const gaudi_kv_attention_options *options) {
    gaudi_kv_mha_shape shape = shape_of();
    gaudi_kv_attention *layer = NULL;
    OK(gaudi_kv_attention_create_mha(device, &shape, options, &layer));
    return layer;
}

/* Values of tokens: 2, 4, 6, 8, in each element. */
static void values_of(uint16_t *v, int first, int tokens) {
    for (int i = 0; i < tokens * DIM; i++) {
        v[i] = bf16(2.0f * (float)(first + i / DIM + 1));
    }
}

static void all_are(const float *out, int elements, float expected) {
    for (int i = 0; i < elements; i++) {
        CHECK(out[i] == expected);
    }
}

/* Four tokens of one sequence in block 2, then a decode of the last two and a prefill of the last one. */
static void over_a_cache(const gaudi_kv_device *device) {
    gaudi_kv_mha_shape shape = shape_of();
    gaudi_kv_cache_options options = cache_options();
    gaudi_kv_cache *cache = NULL;
    OK(gaudi_kv_cache_create_mha(device, &shape, &options, &cache));
    uint16_t k[4 * DIM], v[4 * DIM], q[2 * HEADS * DIM] = {0};
    for (int i = 0; i < 4 * DIM; i++) {
        k[i] = bf16(1.0f);
    }
    values_of(v, 0, 4);
    const int64_t slots[4] = {2 * TOKENS, 2 * TOKENS + 1, 2 * TOKENS + 2, 2 * TOKENS + 3};
    OK(gaudi_kv_cache_write_mha(cache, k, 4 * DIM, v, 4 * DIM, slots, 4));

    gaudi_kv_batch *batch = NULL;
    OK(gaudi_kv_batch_create(&batch));
    const int32_t starts[2] = {0, 2}, lens[1] = {4}, table[1] = {2};
    OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, 1, table, 1));
    NEW(gaudi_kv_attention_options, plain);
    plain.softmax_scale = 0.5f;
    gaudi_kv_attention *layer = layer_of(device, &plain);
    float out[2 * HEADS * DIM];
    OK(gaudi_kv_attention_decode_mha(layer, cache, batch, q, 2 * HEADS * DIM, out, 2 * HEADS * DIM));
    all_are(out, HEADS * DIM, 4.0f);             /* (2 + 4 + 6) / 3 */
    all_are(out + HEADS * DIM, HEADS * DIM, 5.0f); /* (2 + 4 + 6 + 8) / 4 */
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_attention_decode_mha(layer, cache, batch, q, HEADS * DIM, out,
        2 * HEADS * DIM));
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_attention_decode_mha(layer, cache, batch, q, 2 * HEADS * DIM, out, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT,
          gaudi_kv_attention_decode_mha(layer, cache, batch, q, 2 * HEADS * DIM, (float *)q, 2 * HEADS * DIM));
    gaudi_kv_attention_free(layer);

    /* With a sink of score 0 the mean of four values is one of five, with a zero. */
    const float sinks[HEADS] = {0.0f, 0.0f}, slopes[HEADS] = {0.0f, 0.0f};
    const float quant = 1.0f, dequant = 1.0f;
    NEW(gaudi_kv_attention_options, all);
    all.softmax_scale = 0.5f;
    all.logits_soft_cap = 30.0f;
    all.alibi_slopes = slopes;
    all.sinks = sinks;
    all.q_scale = one(&quant, &dequant);
    all.prob_quant = 2.0f;
    all.prob_dequant = 0.5f;
    layer = layer_of(device, &all);
    OK(gaudi_kv_attention_decode_mha(layer, cache, batch, q, 2 * HEADS * DIM, out, 2 * HEADS * DIM));
    all_are(out, HEADS * DIM, 3.0f);
    all_are(out + HEADS * DIM, HEADS * DIM, 4.0f);
    gaudi_kv_attention_free(layer);

    /* A window of two: the token itself and the one before. */
    plain.sliding_window = 2;
    layer = layer_of(device, &plain);
    OK(gaudi_kv_attention_decode_mha(layer, cache, batch, q, 2 * HEADS * DIM, out, 2 * HEADS * DIM));
    all_are(out, HEADS * DIM, 5.0f);
    all_are(out + HEADS * DIM, HEADS * DIM, 7.0f);
    gaudi_kv_attention_free(layer);
    plain.sliding_window = 0;

    /* The prefill of a fifth token, of value 0, whose four predecessors are read from the cache: (2 + 4 + 6 + 8 +
     * 0) / 5. In FP8 too, where every operand is exact. */
    const int32_t fifth[2] = {0, 1}, five[1] = {5};
    OK(gaudi_kv_batch_prepare(batch, NULL, fifth, five, 1, table, 1));
    const uint16_t zero[DIM] = {0};
    for (uint32_t flags = 0; flags <= GAUDI_KV_ATTENTION_FP8_PREFILL; flags++) {
        plain.flags = flags;
        layer = layer_of(device, &plain);
        OK(gaudi_kv_attention_prefill_mha(layer, cache, batch, q, HEADS * DIM, k, DIM, zero, DIM, out, HEADS * DIM));
        all_are(out, HEADS * DIM, 4.0f);
        /* Prepared without a cache, it serves no decode. */
        FAILS(GAUDI_KV_MISMATCH,
              gaudi_kv_attention_decode_mha(layer, cache, batch, q, HEADS * DIM, out, HEADS * DIM));
        FAILS(GAUDI_KV_INVALID_SHAPE,
              gaudi_kv_attention_prefill_mha(layer, NULL, batch, q, HEADS * DIM, k, DIM, zero, DIM, out, HEADS * DIM));
        gaudi_kv_attention_free(layer);
    }

    /* A block that there is none of, and too few blocks. */
    const int32_t outside[1] = {5}, seventeen[1] = {17};
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_batch_prepare(batch, cache, fifth, five, 1, outside, 1));
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_batch_prepare(batch, cache, fifth, seventeen, 1, table, 1));
    const int32_t negative[1] = {-1};
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_batch_prepare(batch, cache, fifth, negative, 1, table, 1));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_batch_prepare(batch, cache, NULL, five, 1, table, 1));
    gaudi_kv_batch_free(batch);
    gaudi_kv_batch_free(NULL);
    gaudi_kv_cache_free(cache);
}

/* Two sequences of new tokens, without a cache: each query sees its sequence as far as itself. */
static void new_tokens(const gaudi_kv_device *device) {
    NEW(gaudi_kv_attention_options, options);
    options.softmax_scale = 0.5f;
    gaudi_kv_attention *layer = layer_of(device, &options);
    gaudi_kv_batch *batch = NULL;
    OK(gaudi_kv_batch_create(&batch));
    const int32_t starts[3] = {0, 1, 3}, lens[2] = {1, 2};
    /* A batch that contradicts itself is refused without a cache too. */
    const int32_t falling[3] = {0, 5, 3};
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_batch_prepare(batch, NULL, falling, lens, 2, NULL, 0));
    /* It is empty now. A query of a row asks for no memory for an output of which the caller has none. */
    NEW(gaudi_kv_mha_shape, wide);
    wide.num_heads = wide.num_kv_heads = 1;
    wide.head_dim = 1;
    wide.v_head_dim = (size_t)1 << 45;
    NEW(gaudi_kv_attention_options, plain);
    plain.softmax_scale = 1.0f;
    gaudi_kv_attention *huge = NULL;
    OK(gaudi_kv_attention_create_mha(device, &wide, &plain, &huge));
    const uint16_t single[1] = {0};
    FAILS(GAUDI_KV_INVALID_SHAPE,
          gaudi_kv_attention_prefill_mha(huge, NULL, batch, single, 1, single, 1, NULL, 0, NULL, 0));
    gaudi_kv_attention_free(huge);
    OK(gaudi_kv_batch_prepare(batch, NULL, starts, lens, 2, NULL, 0));
    uint16_t q[3 * HEADS * DIM] = {0}, k[3 * DIM] = {0}, v[3 * DIM];
    values_of(v, 0, 3);
    float out[3 * HEADS * DIM];
    OK(gaudi_kv_attention_prefill_mha(layer, NULL, batch, q, 3 * HEADS * DIM, k, 3 * DIM, v, 3 * DIM, out,
        3 * HEADS * DIM));
    all_are(out, HEADS * DIM, 2.0f);
    all_are(out + HEADS * DIM, HEADS * DIM, 4.0f);
    all_are(out + 2 * HEADS * DIM, HEADS * DIM, 5.0f);
    FAILS(GAUDI_KV_INVALID_SHAPE,
          gaudi_kv_attention_prefill_mha(layer, NULL, batch, q, 3 * HEADS * DIM, k, DIM, v, 3 * DIM, out,
              3 * HEADS * DIM));
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
}

void layers(void) {
    for (int32_t generation = GAUDI_KV_GAUDI2; generation <= GAUDI_KV_GAUDI3; generation++) {
        for (int32_t mode = GAUDI_KV_EXACT; mode <= GAUDI_KV_FAST; mode++) {
            gaudi_kv_device *device = device_of(generation, mode);
            over_a_cache(device);
            new_tokens(device);
            gaudi_kv_device_free(device);
        }
    }
    gaudi_kv_device *device = device_of(GAUDI_KV_GAUDI2, GAUDI_KV_FAST);
    gaudi_kv_mha_shape shape = shape_of();
    NEW(gaudi_kv_attention_options, options);
    gaudi_kv_attention *layer = NULL;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_attention_create_mha(device, &shape, &options, &layer));
    options.softmax_scale = 1.0f;
    options.flags = 2;
    FAILS(GAUDI_KV_UNSUPPORTED, gaudi_kv_attention_create_mha(device, &shape, &options, &layer));
    options.flags = 0;
    shape.num_heads = 0;
    FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_attention_create_mha(device, &shape, &options, &layer));
    CHECK(layer == NULL);
    gaudi_kv_attention_free(NULL);
    gaudi_kv_device_free(device);
}
