/* Calls every function with arguments drawn from what is right, wrong and absurd: each call returns a status that
 * there is, and says something where it fails. The arguments are a seed, the number of calls and the folder with
 * the models. Pointers lead to what the header asks for, or are null or unaligned: the rest is for callers to keep
 * to. */

#include "check.h"

#include <math.h>

enum { ROOM = 1 << 16, KINDS = 46 };

static uint64_t state;

static uint32_t any(uint32_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % bound;
}

/* Memory that anything may be read from. Integers in it are small, so that some of them fit. */
static union { uint8_t bytes[ROOM]; uint64_t words[ROOM / 8]; } arena[6]; /* The last two are lent to caches. */

static void refill(void) {
    for (int number = 0; number < 6; number++) {
        for (int i = 0; i < 512; i++) {
            arena[number].words[any(ROOM / 8)] = any(4) == 0 ? any(1u << 30) : any(24);
        }
        /* What begins an array is likely to be looked at. */
        for (int i = 0; i < 32; i++) {
            arena[number].words[i] = any(3) == 0 ? any(1u << 30) : any(5);
        }
    }
}

/* Nothing, something, or something unaligned. */
static void *place(void) {
    uint32_t which = any(12);
    uint8_t *bytes = arena[any(4)].bytes;
    return which == 0 ? NULL : which == 1 ? bytes + 1 : bytes + 8 * any(64);
}

/* A length that there is room for, or one that no memory has. */
static size_t len(void) {
    static const size_t lengths[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 100};
    return any(16) == 0 ? SIZE_MAX - any(3) : any(16) == 0 ? SIZE_MAX / 2 + 1 + any(3) : lengths[any(10)];
}

static size_t size(void) {
    static const size_t sizes[] = {0, 1, 2, 4, 16, 17, 32, 3, SIZE_MAX, (size_t)1 << 40};
    return any(3) > 0 ? sizes[1 + any(5)] : sizes[any(10)];
}

static int32_t number(void) {
    static const int32_t numbers[] = {0, 4, 5, 6, 7, -1, INT32_MAX, INT32_MIN};
    return any(3) > 0 ? 1 + (int32_t)any(3) : numbers[any(8)];
}

static float factor(void) {
    static const float factors[] = {1.0f, 0.5f, 240.0f, 0.0f, -1.0f, INFINITY, NAN, 1e-45f, 3e38f};
    return factors[any(2) ? any(3) : any(9)];
}

/* Multipliers of one number, of some, or of none. */
static gaudi_kv_multipliers multipliers(void) {
    static float pool[16];
    for (int i = 0; i < 16; i++) {
        pool[i] = any(8) > 0 ? 1.0f : factor();
    }
    gaudi_kv_multipliers made = one(pool, pool + 8);
    made.count = any(3) == 0 ? any(9) : 1;
    if (any(16) == 0) {
        made.quant = NULL;
    }
    return made;
}

/* A structure of any size, in memory that is larger than any. */
#define ANY(type, name)                                                                      \
    union { type value; uint64_t words[64]; } name##_memory;                                 \
    type *name = any(16) == 0 ? NULL : &name##_memory.value;                                 \
    memset(&name##_memory, 0, sizeof name##_memory);                                         \
    name##_memory.value.struct_size = any_size(sizeof(type));                                \
    name##_memory.words[sizeof(type) / 8] = any(2)

static uint64_t any_size(uint64_t whole) {
    static const uint64_t wrong[] = {0, 8, 16, UINT64_MAX, 1 << 20, 24};
    return any(4) > 0 ? whole : any(3) == 0 ? whole + 8 : wrong[any(6)];
}

static gaudi_kv_device *device;
static gaudi_kv_inspection *inspection;
static gaudi_kv_cache *cache;
static gaudi_kv_block *block;
static gaudi_kv_batch *batch;
static gaudi_kv_attention *layer;
static gaudi_kv_codec *codec;
static const char *models;

#define MAYBE(handle) (any(10) == 0 ? NULL : (handle))

/* Takes the place of an object of the same kind where one was made. */
#define REPLACE(kind, handle, made)  \
    do {                             \
        if ((made) != NULL) {        \
            gaudi_kv_##kind##_free(handle); \
            handle = (made);         \
        }                            \
    } while (0)

static void fill_shapes(gaudi_kv_mha_shape *mha, gaudi_kv_mla_shape *mla) {
    mha->num_heads = any(2) ? 2 : size();
    mha->num_kv_heads = any(2) ? 2 : size();
    mha->head_dim = any(2) ? 4 : size();
    mha->v_head_dim = any(2) ? 4 : size();
    mla->num_heads = any(2) ? 2 : size();
    mla->kv_lora_rank = any(2) ? 4 : size();
    mla->qk_nope_head_dim = any(2) ? 2 : size();
    mla->qk_rope_head_dim = any(2) ? 2 : size();
    mla->v_head_dim = any(2) ? 2 : size();
}

static gaudi_kv_status make_cache(void) {
    ANY(gaudi_kv_mha_shape, mha);
    ANY(gaudi_kv_mla_shape, mla);
    ANY(gaudi_kv_cache_options, options);
    fill_shapes(&mha_memory.value, &mla_memory.value);
    options_memory.value.num_blocks = any(2) ? 2 : size();
    options_memory.value.block_size_tokens = any(4) ? 16 : size();
    options_memory.value.dtype = number();
    options_memory.value.reserved = any(16) == 0;
    options_memory.value.k_scale = multipliers();
    options_memory.value.v_scale = multipliers();
    if (any(4) == 0) {
        options_memory.value.key_memory = arena[4].bytes + any(3);
        options_memory.value.value_memory = any(4) ? arena[5].bytes : options_memory.value.key_memory;
        options_memory.value.key_memory_bytes = any(2) ? 2 * 16 * 8 : len();
        options_memory.value.value_memory_bytes = any(2) ? 2 * 16 * 8 : len();
    }
    gaudi_kv_cache *made = NULL;
    gaudi_kv_status status = any(2) ? gaudi_kv_cache_create_mha(MAYBE(device), mha, options, any(16) ? &made : NULL)
                                    : gaudi_kv_cache_create_mla(MAYBE(device), mla, options, any(16) ? &made : NULL);
    REPLACE(cache, cache, made);
    return status;
}

static gaudi_kv_status make_layer(void) {
    ANY(gaudi_kv_mha_shape, mha);
    ANY(gaudi_kv_mla_shape, mla);
    ANY(gaudi_kv_attention_options, options);
    fill_shapes(&mha_memory.value, &mla_memory.value);
    gaudi_kv_attention_options *all = &options_memory.value;
    all->softmax_scale = any(4) ? 0.5f : factor();
    all->logits_soft_cap = any(4) ? 0.0f : factor();
    static float numbers[ROOM];
    all->alibi_slopes = any(4) || mha_memory.value.num_heads > ROOM || mla_memory.value.num_heads > ROOM ? NULL
        : numbers;
    all->sinks = any(4) || mha_memory.value.num_heads > ROOM || mla_memory.value.num_heads > ROOM ? NULL : numbers;
    all->sliding_window = any(4) ? 0 : size();
    all->q_scale = multipliers();
    all->prob_quant = any(4) ? 0.0f : factor();
    all->prob_dequant = any(4) ? 0.0f : factor();
    all->flags = any(8) ? any(2) : (uint32_t)number();
    all->reserved = any(16) == 0;
    gaudi_kv_attention *made = NULL;
    gaudi_kv_status status =
        any(2) ? gaudi_kv_attention_create_mha(MAYBE(device), mha, options, &made)
               : gaudi_kv_attention_create_mla(MAYBE(device), mla, (uint16_t *)place(), any(2) ? 32 : len(), options,
                   &made);
    REPLACE(attention, layer, made);
    return status;
}

static gaudi_kv_status make_codec(void) {
    ANY(gaudi_kv_codec_options, options);
    options_memory.value.format = any(2) ? 2 : number();
    options_memory.value.rounding = any(2) ? 0 : number();
    options_memory.value.quant = factor();
    options_memory.value.dequant = factor();
    options_memory.value.flags = any(4) ? any(2) : (uint32_t)number();
    options_memory.value.layout = number();
    options_memory.value.inf_nan = number();
    options_memory.value.bias = (uint32_t)number();
    gaudi_kv_codec *made = NULL;
    gaudi_kv_status status = gaudi_kv_codec_create(options, &made);
    REPLACE(codec, codec, made);
    return status;
}

static gaudi_kv_status inspect(void) {
    ANY(gaudi_kv_inspect_options, options);
    options_memory.value.kv_cache_dtype = any(2) ? 0 : number();
    options_memory.value.mla_scale = any(2) ? 0 : number();
    options_memory.value.q_missing = any(2) ? 0 : number();
    options_memory.value.scale_adjustment = any(2) ? 0 : number();
    options_memory.value.tensor_parallel_size = any(4);
    options_memory.value.tensor_parallel_rank = any(4);
    options_memory.value.skip_layers = (uint32_t *)place();
    options_memory.value.num_skip_layers = any(2) ? 0 : len();
    options_memory.value.flags = any(8) ? any(8) : (uint32_t)number();
    static const char *names[] = {"llmc-gqa-head", "llmc-mla-kv", "golden", "missing"};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", models, names[any(4)]);
    gaudi_kv_inspection *made = NULL;
    gaudi_kv_status status = gaudi_kv_inspect(any(8) ? path : NULL, MAYBE(device), options, &made);
    REPLACE(inspection, inspection, made);
    return status;
}

static gaudi_kv_status make_block(void) {
    gaudi_kv_block *made = NULL;
    gaudi_kv_status status = any(3) ? gaudi_kv_cache_export_block(MAYBE(cache), number(), &made)
                                    : gaudi_kv_block_create(number(), any(2), &made);
    REPLACE(block, block, made);
    return status;
}

static gaudi_kv_status add_plane(void) {
    ANY(gaudi_kv_plane, plane);
    plane_memory.value.dtype = number();
    plane_memory.value.block_size_tokens = size();
    plane_memory.value.heads = size();
    plane_memory.value.dim = size();
    plane_memory.value.bytes = (uint8_t *)place();
    plane_memory.value.num_bytes = len();
    return gaudi_kv_block_add_plane(MAYBE(block), plane);
}

static gaudi_kv_status prepare(void) {
    static const int32_t starts[4][3] = {{0, 1, 2}, {0, 1, 1}, {0, 2, 1}, {1, 2, 3}}, lens[4][2] = {{4, 5}, {1, 2},
        {-1, 3}, {40, 1}};
    static const int32_t tables[2][4] = {{0, 1, 1, 0}, {0, 9, -1, INT32_MAX}};
    const gaudi_kv_cache *of = any(4) ? cache : NULL;
    if (any(3) == 0) {
        return gaudi_kv_batch_prepare(MAYBE(batch), of, (int32_t *)place(), (int32_t *)place(), len(),
            (int32_t *)place(), len() % 100);
    }
    return gaudi_kv_batch_prepare(MAYBE(batch), of, starts[any(4)], lens[any(4)], any(3), tables[any(2)], any(3));
}

static gaudi_kv_status make_device(void) {
    ANY(gaudi_kv_hpu_options, hpu);
    gaudi_kv_device *made = NULL;
    gaudi_kv_status status;
    if (any(8) == 0) {
        hpu_memory.value.library = "/nonexistent/libSynapse.so";
        hpu_memory.value.timeout_ms = any(3);
        /* Without options it is this machine's own library that is looked for. */
        status = gaudi_kv_device_create_hpu(hpu == NULL ? &hpu_memory.value : hpu, &made);
    } else {
        status = gaudi_kv_device_create_emulated(number(), number(), any(16) ? &made : NULL);
    }
    REPLACE(device, device, made);
    return status;
}

static gaudi_kv_status ask(uint32_t what) {
    ANY(gaudi_kv_device_info, of_device);
    ANY(gaudi_kv_inspection_info, of_inspection);
    ANY(gaudi_kv_layer, of_layer);
    ANY(gaudi_kv_scale, scale);
    ANY(gaudi_kv_cache_info, of_cache);
    ANY(gaudi_kv_block_info, of_block);
    ANY(gaudi_kv_plane, plane);
    ANY(gaudi_kv_code_scan, scan);
    ANY(gaudi_kv_aligned_scale, aligned);
    ANY(gaudi_kv_rerange_counts, counts);
    const char *json = NULL;
    size_t json_len = 0;
    float amax = 0.0f;
    switch (what) {
    case 0: return gaudi_kv_device_get_info(MAYBE(device), of_device);
    case 1: return gaudi_kv_inspection_get_info(MAYBE(inspection), of_inspection);
    case 2: return gaudi_kv_inspection_get_layer(MAYBE(inspection), size(), of_layer);
    case 3: return gaudi_kv_inspection_get_scale(MAYBE(inspection), size(), number(), scale);
    case 4: return gaudi_kv_inspection_json(MAYBE(inspection), any(8) ? &json : NULL, any(8) ? &json_len : NULL);
    case 5: return gaudi_kv_cache_get_info(MAYBE(cache), of_cache);
    case 6: return gaudi_kv_block_get_info(MAYBE(block), of_block);
    case 7: return gaudi_kv_block_get_plane(MAYBE(block), any(4), plane);
    case 8: return gaudi_kv_scan_codes((uint8_t *)place(), len(), scan);
    case 9: return gaudi_kv_align_dequant_scale(number(), factor(), aligned);
    case 10: return gaudi_kv_rerange((uint8_t *)place(), len(), number(), factor(), any(4) ? counts : NULL);
    case 11: return gaudi_kv_amax_f32((float *)place(), len(), any(8) ? &amax : NULL);
    case 12: return gaudi_kv_amax_bf16((uint16_t *)place(), len(), any(8) ? &amax : NULL);
    default: return gaudi_kv_round_bf16((float *)place(), (uint16_t *)place(), len());
    }
}

static gaudi_kv_status move(uint32_t what) {
    const uint16_t *a = (uint16_t *)place(), *b = (uint16_t *)place(), *c = (uint16_t *)place(),
        *d = (uint16_t *)place();
    static const int64_t slots[4] = {0, 17, 5, 40};
    const int64_t *at = any(4) ? slots : (int64_t *)place();
    size_t tokens = at == slots ? any(4) : len(), rows = any(4) ? 8 * tokens : len();
    switch (what) {
    case 0: return gaudi_kv_cache_write_mha(MAYBE(cache), a, rows, b, rows, at, tokens);
    case 1: return gaudi_kv_cache_write_mla(MAYBE(cache), a, any(4) ? 4 * tokens : len(), b, any(4) ? 2 * tokens
        : len(), at, tokens);
    case 2: return gaudi_kv_cache_read_mha(MAYBE(cache), at, tokens, (uint16_t *)place(), rows, (uint16_t *)place(),
        rows);
    case 3: return gaudi_kv_cache_read_mla(MAYBE(cache), at, tokens, (uint16_t *)place(), any(4) ? 6 * tokens : len());
    case 4: return gaudi_kv_cache_copy_blocks(MAYBE(cache), (int32_t *)place(), len());
    case 5: return gaudi_kv_cache_import_block(MAYBE(cache), number(), MAYBE(block));
    case 6: return gaudi_kv_attention_decode_mha(MAYBE(layer), MAYBE(cache), MAYBE(batch), a, rows, (float *)place(),
        rows);
    case 7: return gaudi_kv_attention_decode_mla(MAYBE(layer), MAYBE(cache), MAYBE(batch), a, 4 * any(4), b,
        4 * any(4), (float *)place(), 4 * any(4));
    case 8: return gaudi_kv_attention_prefill_mha(MAYBE(layer), MAYBE(cache), MAYBE(batch), a, rows, b, rows, c,
        rows, (float *)place(), rows);
    case 9: return gaudi_kv_attention_prefill_mla(MAYBE(layer), MAYBE(cache), MAYBE(batch), a, 4 * any(4), b,
        4 * any(4), c, 4 * any(4), d, 2 * any(4), (float *)place(), 4 * any(4));
    case 10: return gaudi_kv_codec_encode_f32(MAYBE(codec), (float *)place(), (uint8_t *)place(), len());
    case 11: return gaudi_kv_codec_encode_bf16(MAYBE(codec), a, (uint8_t *)place(), len());
    case 12: return gaudi_kv_codec_decode_f32(MAYBE(codec), (uint8_t *)place(), (float *)place(), len());
    default: return gaudi_kv_codec_decode_bf16(MAYBE(codec), (uint8_t *)place(), (uint16_t *)place(), len());
    }
}

static gaudi_kv_status call(uint32_t kind) {
    switch (kind) {
    case 0: return make_device();
    case 1: case 2: return make_cache();
    case 3: case 4: return make_layer();
    case 5: return make_codec();
    case 6: return any(8) ? GAUDI_KV_OK : inspect();
    case 7: return make_block();
    case 8: return add_plane();
    case 9: case 10: case 11: return prepare();
    default: return kind < 26 ? ask(kind - 12) : move((kind - 26) % 14);
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    state = strtoull(argv[1], NULL, 10);
    models = argv[3];
    unsigned long calls = strtoul(argv[2], NULL, 10), successes = 0;
    OK(gaudi_kv_batch_create(&batch));
    for (unsigned long i = 0; i < calls; i++) {
        if (i % 16 == 0) {
            refill();
        }
        gaudi_kv_status status = call(any(KINDS));
        CHECK(status >= GAUDI_KV_OK && status <= GAUDI_KV_DEVICE_FAILED && status != GAUDI_KV_INTERNAL);
        CHECK(gaudi_kv_status_name(status)[0] == 'G');
        if (status == GAUDI_KV_OK) {
            successes++;
            continue;
        }
        ANY(gaudi_kv_error, error);
        if (gaudi_kv_last_error(error) == GAUDI_KV_OK && error->struct_size >= sizeof *error) {
            CHECK(error->status == status && error->message == gaudi_kv_last_error_message());
            CHECK(strlen(error->message) > 5);
        }
    }
    /* Both kinds come up. */
    CHECK(successes > calls / 20 && successes < calls - calls / 20);
    gaudi_kv_codec_free(codec);
    gaudi_kv_attention_free(layer);
    gaudi_kv_batch_free(batch);
    gaudi_kv_block_free(block);
    gaudi_kv_cache_free(cache);
    gaudi_kv_inspection_free(inspection);
    gaudi_kv_device_free(device);
    puts("fine");
    return 0;
}
