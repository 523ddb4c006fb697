/* MLA. The weight expands a latent of two elements to a key (both elements) and to a value of one: their sum.
 * Queries of zero make all scores equal, so an output is the mean of the sums. */

#include "parts.h"

enum { TOKENS = 16, RANK = 2, ROPE = 2, NOPE = 2, V_DIM = 1 };

static const float half = 0.5f, two = 2.0f;

void latents(void) {
    for (int32_t mode = GAUDI_KV_EXACT; mode <= GAUDI_KV_FAST; mode++) {
        gaudi_kv_device *device = device_of(GAUDI_KV_GAUDI2, mode);
        NEW(gaudi_kv_mla_shape, shape);
        shape.num_heads = 1;
        shape.kv_lora_rank = RANK;
        shape.qk_nope_head_dim = NOPE;
        shape.qk_rope_head_dim = ROPE;
        shape.v_head_dim = V_DIM;
        NEW(gaudi_kv_cache_options, options);
        options.num_blocks = 2;
        options.block_size_tokens = TOKENS;
        options.dtype = GAUDI_KV_FP8;
        options.k_scale = one(&half, &two);
        gaudi_kv_cache *cache = NULL;
        OK(gaudi_kv_cache_create_mla(device, &shape, &options, &cache));
        NEW(gaudi_kv_cache_info, info);
        OK(gaudi_kv_cache_get_info(cache, &info));
        CHECK(info.attention == GAUDI_KV_MLA && info.key_row == RANK + ROPE && info.value_row == 0);

        /* Sums 3 and 7; both are exact at half their value. */
        const uint16_t kv_c[2 * RANK] = {bf16(1.0f), bf16(2.0f), bf16(3.0f), bf16(4.0f)};
        const uint16_t k_pe[2 * ROPE] = {bf16(5.0f), bf16(6.0f), bf16(7.0f), bf16(8.0f)};
        const int64_t slots[2] = {TOKENS, TOKENS + 1};
        OK(gaudi_kv_cache_write_mla(cache, kv_c, 2 * RANK, k_pe, 2 * ROPE, slots, 2));
        uint16_t read[2 * (RANK + ROPE)];
        OK(gaudi_kv_cache_read_mla(cache, slots, 2, read, 2 * (RANK + ROPE)));
        const uint16_t expected[2 * (RANK + ROPE)] = {bf16(1.0f), bf16(2.0f), bf16(5.0f), bf16(6.0f),
                                                      bf16(3.0f), bf16(4.0f), bf16(7.0f), bf16(8.0f)};
        CHECK(memcmp(read, expected, sizeof read) == 0);
        FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_read_mla(cache, slots, 2, read, RANK + ROPE));
        uint16_t other[2];
        FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_read_mha(cache, slots, 1, other, 1, other + 1, 1));
        FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_write_mha(cache, other, 1, other, 1, slots, 1));

        const uint16_t weight[(NOPE + V_DIM) * RANK] = {bf16(1.0f), 0, 0, bf16(1.0f), bf16(1.0f), bf16(1.0f)};
        NEW(gaudi_kv_attention_options, plain);
        plain.softmax_scale = 0.5f;
        gaudi_kv_attention *layer = NULL;
        OK(gaudi_kv_attention_create_mla(device, &shape, weight, (NOPE + V_DIM) * RANK, &plain, &layer));
        gaudi_kv_batch *batch = NULL;
        OK(gaudi_kv_batch_create(&batch));
        const int32_t starts[2] = {0, 1}, lens[1] = {2}, table[1] = {1};
        OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, 1, table, 1));
        const uint16_t q_nope[NOPE] = {0}, q_pe[ROPE] = {0};
        float out[V_DIM] = {0};
        OK(gaudi_kv_attention_decode_mla(layer, cache, batch, q_nope, NOPE, q_pe, ROPE, out, V_DIM));
        CHECK(out[0] == 5.0f);
        FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_attention_decode_mla(layer, cache, batch, q_nope, NOPE, q_pe, 1, out,
            V_DIM));
        FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_attention_decode_mha(layer, cache, batch, q_nope, NOPE, out, V_DIM));

        /* A third token, of sum 2: (3 + 7 + 2) / 3. */
        const int32_t three[1] = {3};
        const uint16_t new_c[RANK] = {bf16(2.0f), 0}, new_pe[ROPE] = {0};
        OK(gaudi_kv_batch_prepare(batch, NULL, starts, three, 1, table, 1));
        OK(gaudi_kv_attention_prefill_mla(layer, cache, batch, q_nope, NOPE, q_pe, ROPE, new_c, RANK, new_pe, ROPE,
            out, V_DIM));
        CHECK(out[0] == 4.0f);
        FAILS(GAUDI_KV_INVALID_ARGUMENT,
              gaudi_kv_attention_prefill_mha(layer, cache, batch, q_nope, NOPE, new_c, RANK, new_pe, ROPE, out, V_DIM));
        gaudi_kv_attention_free(layer);
        FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_attention_create_mla(device, &shape, weight, 1, &plain, &layer));

        gaudi_kv_batch_free(batch);
        gaudi_kv_cache_free(cache);
        options.value_memory = read;
        FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_create_mla(device, &shape, &options, &cache));
        options.key_memory = read;
        FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_cache_create_mla(device, &shape, &options, &cache));
        gaudi_kv_device_free(device);
    }
}
