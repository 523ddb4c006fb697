/* Several threads. The first argument says what they do: "read" the same objects; "change" a cache that others
 * read; "all" of it and what is shared out to threads of the library, inspection and attention; "race", which
 * breaks the rules: two caches over the same memory are written to at the same time; "large" decodes, which wait for
 * threads of the library while another thread writes; "fork" a child process, which has none of the library's threads.
 * The second argument is the folder with the models. */

#define _POSIX_C_SOURCE 200809L /* fork, alarm */

#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdbool.h>

enum { THREADS = 4, ROUNDS = 20, TOKENS = 16, HEADS = 2, DIM = 8, ROW = HEADS * DIM, BLOCKS = 3 };

static gaudi_kv_device *device;
static gaudi_kv_inspection *inspection;
static gaudi_kv_cache *cache;
static gaudi_kv_attention *layer;
static gaudi_kv_batch *batch;
static gaudi_kv_codec *codec;
static bool with_changes, with_all;

static gaudi_kv_mha_shape shape_of(void) {
    NEW(gaudi_kv_mha_shape, shape);
    shape.num_heads = HEADS;
    shape.num_kv_heads = HEADS;
    shape.head_dim = DIM;
    shape.v_head_dim = DIM;
    return shape;
}

static gaudi_kv_cache *cache_of(void *key, void *value) {
    static const float unit = 1.0f;
    gaudi_kv_mha_shape shape = shape_of();
    NEW(gaudi_kv_cache_options, options);
    options.num_blocks = BLOCKS;
    options.block_size_tokens = TOKENS;
    options.dtype = GAUDI_KV_FP8;
    options.k_scale = one(&unit, &unit);
    options.v_scale = one(&unit, &unit);
    options.key_memory = key;
    options.value_memory = value;
    options.key_memory_bytes = options.value_memory_bytes = (size_t)BLOCKS * TOKENS * ROW;
    gaudi_kv_cache *made = NULL;
    OK(gaudi_kv_cache_create_mha(device, &shape, &options, &made));
    return made;
}

/* All elements of a block. */
static void write_block(gaudi_kv_cache *to, int block, float value) {
    uint16_t rows[TOKENS * ROW];
    int64_t slots[TOKENS];
    for (int i = 0; i < TOKENS * ROW; i++) {
        rows[i] = bf16(value);
    }
    for (int i = 0; i < TOKENS; i++) {
        slots[i] = (int64_t)block * TOKENS + i;
    }
    OK(gaudi_kv_cache_write_mha(to, rows, TOKENS * ROW, rows, TOKENS * ROW, slots, TOKENS));
}

static void attend(void) {
    /* Block 1 holds 3 everywhere, so that is the mean of any of its values. */
    const uint16_t q[ROW] = {0};
    float out[ROW];
    OK(gaudi_kv_attention_decode_mha(layer, cache, batch, q, ROW, out, ROW));
    for (int i = 0; i < ROW; i++) {
        CHECK(out[i] == 3.0f);
    }
}

static void look_up(void) {
    NEW(gaudi_kv_scale, scale);
    OK(gaudi_kv_inspection_get_scale(inspection, 0, GAUDI_KV_ROLE_K, &scale));
    CHECK(scale.count == 2 && scale.checkpoint[0] == 0.007781982421875f);
    const char *json = NULL;
    size_t len = 0;
    OK(gaudi_kv_inspection_json(inspection, &json, &len));
    CHECK(json[len - 1] == '}');
}

/* Block 0 is overwritten meanwhile, as a whole: what is read is of one time. */
static void read_what_changes(void) {
    int64_t slots[TOKENS];
    uint16_t k[TOKENS * ROW], v[TOKENS * ROW];
    for (int i = 0; i < TOKENS; i++) {
        slots[i] = i;
    }
    OK(gaudi_kv_cache_read_mha(cache, slots, TOKENS, k, TOKENS * ROW, v, TOKENS * ROW));
    for (int i = 0; i < TOKENS * ROW; i++) {
        CHECK(k[i] == k[0] && v[i] == k[0]);
    }
}

static void *reader(void *number) {
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t slot = TOKENS + round % TOKENS;
        uint16_t k[ROW], v[ROW];
        OK(gaudi_kv_cache_read_mha(cache, &slot, 1, k, ROW, v, ROW));
        CHECK(k[0] == bf16(3.0f) && v[ROW - 1] == bf16(3.0f));
        gaudi_kv_block *block = NULL;
        OK(gaudi_kv_cache_export_block(cache, 1, &block));
        NEW(gaudi_kv_plane, plane);
        OK(gaudi_kv_block_get_plane(block, 0, &plane));
        CHECK(plane.bytes[0] == 0x44);
        gaudi_kv_block_free(block);
        NEW(gaudi_kv_cache_info, info);
        OK(gaudi_kv_cache_get_info(cache, &info));
        float values[ROW];
        const uint8_t codes[ROW] = {0x38};
        OK(gaudi_kv_codec_decode_f32(codec, codes, values, ROW));
        CHECK(values[0] == 1.0f);
        /* Each thread has its own error. */
        FAILS(GAUDI_KV_INVALID_SHAPE, gaudi_kv_cache_export_block(cache, 1000 + *(int *)number, &block));
        char text[32];
        snprintf(text, sizeof text, "block %d;", 1000 + *(int *)number);
        CHECK(strstr(gaudi_kv_last_error_message(), text) != NULL);
        if (with_changes) {
            read_what_changes();
        }
        if (with_all) {
            attend();
            look_up();
        }
    }
    return NULL;
}

static void *writer(void *unused) {
    (void)unused;
    const int32_t pair[2] = {1, 2};
    for (int round = 0; round < 4 * ROUNDS; round++) {
        write_block(cache, 0, (float)(round % 8));
        OK(gaudi_kv_cache_copy_blocks(cache, pair, 1));
    }
    return NULL;
}

static void *racer(void *of) {
    for (int round = 0; round < ROUNDS; round++) {
        write_block((gaudi_kv_cache *)of, 0, 1.0f);
    }
    return NULL;
}

static void run_all(void) {
    pthread_t threads[THREADS], changing;
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, reader, &numbers[i]) == 0);
    }
    if (with_changes) {
        CHECK(pthread_create(&changing, NULL, writer, NULL) == 0);
        CHECK(pthread_join(changing, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static void race(void) {
    static uint8_t key[BLOCKS * TOKENS * ROW], value[BLOCKS * TOKENS * ROW];
    gaudi_kv_cache *both[2] = {cache_of(key, value), cache_of(key, value)};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, racer, both[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        gaudi_kv_cache_free(both[i]);
    }
}

enum { LARGE_HEADS = 8, LARGE_DIM = 64, LARGE_ROW = LARGE_HEADS * LARGE_DIM, LARGE_BLOCKS = 64, SEQUENCES = 16 };

static void *large_reader(void *unused) {
    (void)unused;
    static const uint16_t q[SEQUENCES * LARGE_ROW];
    float *out = (float *)malloc(sizeof(float) * SEQUENCES * LARGE_ROW);
    CHECK(out != NULL);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        OK(gaudi_kv_attention_decode_mha(layer, cache, batch, q, SEQUENCES * LARGE_ROW, out, SEQUENCES * LARGE_ROW));
    }
    free(out);
    return NULL;
}

static void *large_writer(void *is_over) {
    static const uint16_t rows[LARGE_ROW];
    const int64_t slot = 0;
    while (!__atomic_load_n((bool *)is_over, __ATOMIC_ACQUIRE)) {
        OK(gaudi_kv_cache_write_mha(cache, rows, LARGE_ROW, rows, LARGE_ROW, &slot, 1));
    }
    return NULL;
}

/* Decodes of so many sequences that the threads of the library share each out, and a writer that waits for them. */
static void large(void) {
    static const float unit = 1.0f;
    NEW(gaudi_kv_mha_shape, shape);
    shape.num_heads = shape.num_kv_heads = LARGE_HEADS;
    shape.head_dim = shape.v_head_dim = LARGE_DIM;
    NEW(gaudi_kv_cache_options, options);
    options.num_blocks = LARGE_BLOCKS;
    options.block_size_tokens = TOKENS;
    options.dtype = GAUDI_KV_FP8;
    options.k_scale = options.v_scale = one(&unit, &unit);
    OK(gaudi_kv_cache_create_mha(device, &shape, &options, &cache));
    NEW(gaudi_kv_attention_options, how);
    how.softmax_scale = 0.125f;
    OK(gaudi_kv_attention_create_mha(device, &shape, &how, &layer));
    OK(gaudi_kv_batch_create(&batch));
    int32_t starts[SEQUENCES + 1], lens[SEQUENCES], table[SEQUENCES * LARGE_BLOCKS];
    for (int i = 0; i < SEQUENCES * LARGE_BLOCKS; i++) {
        table[i] = i % LARGE_BLOCKS;
    }
    for (int i = 0; i <= SEQUENCES; i++) {
        starts[i] = i;
    }
    for (int i = 0; i < SEQUENCES; i++) {
        lens[i] = 1000;
    }
    OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, SEQUENCES, table, LARGE_BLOCKS));
    /* Threads that wait for each other end the program with a signal. */
    alarm(60);
    pthread_t threads[THREADS], changing;
    bool is_over = false;
    CHECK(pthread_create(&changing, NULL, large_writer, &is_over) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, large_reader, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    CHECK(pthread_join(changing, NULL) == 0);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
    gaudi_kv_cache_free(cache);
    gaudi_kv_device_free(device);
}

static void fork_child(void) {
    attend();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* A child that waits for threads that there are not ends with a signal. */
        alarm(30);
        attend();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    attend();
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    with_all = strcmp(argv[1], "all") == 0;
    with_changes = with_all || strcmp(argv[1], "change") == 0;
    OK(gaudi_kv_device_create_emulated(GAUDI_KV_GAUDI2, GAUDI_KV_FAST, &device));
    if (strcmp(argv[1], "race") == 0) {
        race();
        gaudi_kv_device_free(device);
        puts("fine");
        return 0;
    }
    if (strcmp(argv[1], "large") == 0) {
        large();
        puts("fine");
        return 0;
    }
    char model[4096];
    snprintf(model, sizeof model, "%s/llmc-gqa-head", argv[2]);
    if (with_all) {
        OK(gaudi_kv_inspect(model, device, NULL, &inspection));
    }
    cache = cache_of(NULL, NULL);
    write_block(cache, 1, 3.0f);
    gaudi_kv_mha_shape shape = shape_of();
    NEW(gaudi_kv_attention_options, options);
    options.softmax_scale = 0.5f;
    OK(gaudi_kv_attention_create_mha(device, &shape, &options, &layer));
    OK(gaudi_kv_batch_create(&batch));
    const int32_t starts[2] = {0, 1}, lens[1] = {TOKENS}, table[1] = {1};
    OK(gaudi_kv_batch_prepare(batch, cache, starts, lens, 1, table, 1));
    NEW(gaudi_kv_codec_options, format);
    format.format = GAUDI_KV_FORMAT_GAUDI2;
    OK(gaudi_kv_codec_create(&format, &codec));
    if (strcmp(argv[1], "fork") == 0) {
        fork_child();
    } else {
        run_all();
    }
    gaudi_kv_codec_free(codec);
    gaudi_kv_batch_free(batch);
    gaudi_kv_attention_free(layer);
    gaudi_kv_cache_free(cache);
    gaudi_kv_inspection_free(inspection);
    gaudi_kv_device_free(device);
    puts("fine");
    return 0;
}
