/*
 * gaudi-kv: FP8 KV caches for Intel Gaudi, for C and C++.
 *
 * Made from the package gaudi-kv-c by its program c-header: change that, not this file.
 *
 * Calls. Whatever can fail returns a gaudi_kv_status: GAUDI_KV_OK, or why not. gaudi_kv_last_error_message() and
 * gaudi_kv_last_error() of the same thread say more. No call unwinds into the caller, and none ends the process,
 * whatever its arguments, as long as pointers lead to what the Safety section of the function says; except where the
 * system has no more memory for what a call works with, which grows with the context. A cache whose memory cannot be
 * had is GAUDI_KV_OUT_OF_MEMORY. An unknown value of an enumeration is GAUDI_KV_INVALID_ARGUMENT; unknown flags, and
 * reserved fields that are not 0, are GAUDI_KV_UNSUPPORTED. A call that is refused has changed nothing, but for
 * gaudi_kv_batch_prepare, which leaves an empty batch.
 *
 * Handles. gaudi_kv_*_create*, gaudi_kv_inspect and gaudi_kv_cache_export_block set a pointer to an object that the
 * caller owns and gives back with the gaudi_kv_*_free of its kind: once, when no other call uses it. Null may be
 * freed. What an object hands out (texts, arrays) lives as long as the object. Objects do not need each other to live:
 * a device may be freed before the caches on it.
 *
 * Structures. Those with a struct_size carry their size, so that caller and library may be of different versions: set
 * it to sizeof of the structure, which is a multiple of 8. Zeros in the rest of an input are its defaults. Of a shorter structure (an older
 * caller) the missing fields count as zero, and in an output nothing is written beyond it. Of a longer one (a newer
 * caller) what this library does not know must be zero in an input, or the call returns GAUDI_KV_UNSUPPORTED, and is
 * set to zero in an output.
 *
 * Memory. Arrays are row-major and contiguous, aligned to their elements; lengths are in elements. bfloat16 values are
 * uint16_t with their bits. An array of length 0 may be null. What a call writes to may not overlap with what it
 * reads.
 *
 * Threads. Any thread may use any handle, one at a time. Several threads at a time may use the same device,
 * inspection, attention layer and codec; the same cache, where calls that read it (read, export, prefill, decode,
 * get_info) run at the same time and one that changes it waits for them; and the same batch or block, as long as none
 * changes it (prepare, add_plane). Freeing is for one thread, after all others are done. Errors are kept for each
 * thread.
 */


#ifndef GAUDI_KV_H
#define GAUDI_KV_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of the interface that this header describes. It grows by one where functions, fields or values are
 * added; nothing is ever taken away or changed, so a program works with every library whose `gaudi_kv_abi_version()`
 * is at least the `GAUDI_KV_ABI_VERSION` that it was compiled with.
 */
#define GAUDI_KV_ABI_VERSION 1

/**
 * It is done.
 */
#define GAUDI_KV_OK 0

/**
 * A null pointer, an unknown value of an enumeration, a handle of another kind, memory that is not aligned or that
 * overlaps, a `struct_size` that is too small. Nothing was changed.
 */
#define GAUDI_KV_INVALID_ARGUMENT 1

/**
 * A scale or factor that is not finite and positive, in float32 or rounded to bfloat16, or has another number of
 * heads. Nothing was changed.
 */
#define GAUDI_KV_INVALID_FACTOR 2

/**
 * A defect of this library. What the call writes to may be changed in part.
 */
#define GAUDI_KV_INTERNAL 3

/**
 * Something that this library, or the device, does not have: it may be older than its caller, or built without it.
 * Nothing was changed.
 */
#define GAUDI_KV_UNSUPPORTED 4

/**
 * A model that cannot be read, or that does not fit what is asked for. `gaudi_kv_last_error` names the file, the
 * tensor and the layer.
 */
#define GAUDI_KV_INVALID_MODEL 5

/**
 * A size, length, slot, block or batch that does not fit. Nothing was changed.
 */
#define GAUDI_KV_INVALID_SHAPE 6

/**
 * Things that do not belong together: another device, generation, storage type, shape, or other scales. Nothing was
 * changed.
 */
#define GAUDI_KV_MISMATCH 7

/**
 * There is no such layer or plane.
 */
#define GAUDI_KV_NOT_FOUND 8

/**
 * Memory or threads cannot be had.
 */
#define GAUDI_KV_OUT_OF_MEMORY 9

/**
 * The device, or the way to it, failed. What the call writes to may be changed in part.
 */
#define GAUDI_KV_DEVICE_FAILED 10

/**
 * A Gaudi2: FP8 e4m3 reaches 240.
 */
#define GAUDI_KV_GAUDI2 2

/**
 * A Gaudi3: FP8 e4m3 reaches 448.
 */
#define GAUDI_KV_GAUDI3 3

/**
 * An emulated device accumulates products as a Gaudi does, bit for bit.
 */
#define GAUDI_KV_EXACT 1

/**
 * An emulated device accumulates products in float. What is quantized, and every code in a cache, is as in
 * `GAUDI_KV_EXACT`.
 */
#define GAUDI_KV_FAST 2

/**
 * The CPU, by the arithmetic of a Gaudi.
 */
#define GAUDI_KV_EMULATED 1

/**
 * A Gaudi, through SynapseAI.
 */
#define GAUDI_KV_HPU 2

/**
 * The cache type that the checkpoint's config declares.
 */
#define GAUDI_KV_AUTO 0

/**
 * The device's e4m3, with scales.
 */
#define GAUDI_KV_FP8 1

/**
 * bfloat16, without scales.
 */
#define GAUDI_KV_BF16 2

/**
 * float32 that holds bfloat16 values, without scales. For caches only.
 */
#define GAUDI_KV_F32 3

/**
 * The one latent of an MLA layer takes `k_scale`.
 */
#define GAUDI_KV_MLA_SCALE_K_ONLY 0

/**
 * It takes the larger of `k_scale` and `v_scale`, as vllm-gaudi has it.
 */
#define GAUDI_KV_MLA_SCALE_MAX_KV 1

/**
 * A query without a scale is quantized by its own amax, one scale for each token and head.
 */
#define GAUDI_KV_Q_MISSING_DYNAMIC 0

/**
 * It is quantized with 1.0, what vLLM ends up with.
 */
#define GAUDI_KV_Q_MISSING_ONE 1

/**
 * Scale adjustment as `VLLM_SCALE_ADJUSTMENT` of the environment says, automatic where it is unset.
 */
#define GAUDI_KV_ADJUSTMENT_ENVIRONMENT 0

/**
 * On where the checkpoint's range is larger than the device's; the environment plays no part.
 */
#define GAUDI_KV_ADJUSTMENT_AUTOMATIC 1

/**
 * As if `VLLM_SCALE_ADJUSTMENT` were true: on where it is due.
 */
#define GAUDI_KV_ADJUSTMENT_ON 2

/**
 * As if `VLLM_SCALE_ADJUSTMENT` were false: off.
 */
#define GAUDI_KV_ADJUSTMENT_OFF 3

/**
 * Read all FP8 weights and check the checkpoint's flavor against them.
 */
#define GAUDI_KV_INSPECT_VERIFY_WEIGHTS 1

/**
 * Scales of zero are errors.
 */
#define GAUDI_KV_INSPECT_STRICT 2

/**
 * Layers that attend to a sliding window keep a bfloat16 cache.
 */
#define GAUDI_KV_INSPECT_SKIP_SLIDING_WINDOW 4

/**
 * Keys and values in planes of their own: MHA, GQA and MQA.
 */
#define GAUDI_KV_MHA 1

/**
 * One latent for keys and values.
 */
#define GAUDI_KV_MLA 2

/**
 * The key's scale, or the latent's.
 */
#define GAUDI_KV_ROLE_K 1

/**
 * The value's scale.
 */
#define GAUDI_KV_ROLE_V 2

/**
 * The query's scale.
 */
#define GAUDI_KV_ROLE_Q 3

/**
 * The scale of the softmax probabilities.
 */
#define GAUDI_KV_ROLE_PROB 4

/**
 * There is no such scale: the cache is not FP8, the layer has no place for it (the value's of MLA), or an error of the
 * model says why.
 */
#define GAUDI_KV_ORIGIN_NONE 0

/**
 * Its own tensor.
 */
#define GAUDI_KV_ORIGIN_LOADED 1

/**
 * The other one of key and value, or one tensor for both.
 */
#define GAUDI_KV_ORIGIN_DUPLICATED 2

/**
 * The layer whose cache this layer reads.
 */
#define GAUDI_KV_ORIGIN_INHERITED 3

/**
 * Nowhere: 1.0, not adjusted.
 */
#define GAUDI_KV_ORIGIN_DEFAULTED 4

/**
 * Computed from each token as it comes, so there are no numbers.
 */
#define GAUDI_KV_ORIGIN_DYNAMIC 5

/**
 * Quantize q, k and v of a prefill over an FP8 cache too: with their scales for MHA, with 1.0 for MLA.
 */
#define GAUDI_KV_ATTENTION_FP8_PREFILL 1

/**
 * The layout, exponent bias and Inf/NaN mode that the options give.
 */
#define GAUDI_KV_FORMAT_CUSTOM 1

/**
 * The e4m3 of a Gaudi2's KV cache: bias 7, up to 240, Inf and NaN from 0x78 on.
 */
#define GAUDI_KV_FORMAT_GAUDI2 2

/**
 * The e4m3 of a Gaudi3's KV cache, and OCP e4m3fn, which checkpoints store: bias 7, up to 448, NaN at 0x7F.
 */
#define GAUDI_KV_FORMAT_GAUDI3 3

/**
 * The default e5m2 of both generations: bias 15, up to 57344, with Inf and NaN.
 */
#define GAUDI_KV_FORMAT_E5M2 4

/**
 * AMD's e4m3fnuz, for reading: bias 8, up to 240, NaN at 0x80.
 */
#define GAUDI_KV_FORMAT_E4M3_FNUZ 5

/**
 * AMD's e5m2fnuz, for reading: bias 16, up to 57344, NaN at 0x80.
 */
#define GAUDI_KV_FORMAT_E5M2_FNUZ 6

/**
 * Sign, 4 exponent bits, 3 mantissa bits.
 */
#define GAUDI_KV_LAYOUT_E4M3 1

/**
 * Sign, 5 exponent bits, 2 mantissa bits.
 */
#define GAUDI_KV_LAYOUT_E5M2 2

/**
 * An exponent field of ones is Inf with mantissa 0, else NaN. Gaudi2 always.
 */
#define GAUDI_KV_INF_NAN_FULL 0

/**
 * Every code is finite.
 */
#define GAUDI_KV_INF_NAN_NONE 1

/**
 * Only 0x7F and 0xFF are NaN, and there is no Inf. Gaudi3's casts.
 */
#define GAUDI_KV_INF_NAN_MINIMAL 2

/**
 * To the nearer code, ties to the even one, denormals included.
 */
#define GAUDI_KV_ROUND_NEAREST_EVEN 0

/**
 * To the code of smaller magnitude.
 */
#define GAUDI_KV_ROUND_TOWARD_ZERO 1

/**
 * What overflows becomes what the format has for it, Inf or NaN, instead of the largest finite value.
 */
#define GAUDI_KV_CODEC_NO_CLIP 1

/**
 * A layer's attention. It never changes; several threads may use it.
 */
typedef struct gaudi_kv_attention gaudi_kv_attention;

/**
 * The sequences of a step. Several threads may use one that is prepared; one thread at a time may prepare it.
 */
typedef struct gaudi_kv_batch gaudi_kv_batch;

/**
 * A block of a cache with all that its bytes mean. One thread at a time may use it; several may read it.
 */
typedef struct gaudi_kv_block gaudi_kv_block;

/**
 * A paged KV cache of one layer with the scales that it is stored with. Several threads may use one: calls that read
 * it run at the same time, and one that changes it waits until the others have ended.
 */
typedef struct gaudi_kv_cache gaudi_kv_cache;

/**
 * A conversion, made once for many arrays. It never changes; several threads may use it.
 */
typedef struct gaudi_kv_codec gaudi_kv_codec;

/**
 * Where caches live and attention runs. Several threads may use one at a time. Caches and attention layers keep what
 * they need of it, so it may be freed before them.
 */
typedef struct gaudi_kv_device gaudi_kv_device;

/**
 * What is known of a model's KV scales on a device. It never changes; several threads may read it.
 */
typedef struct gaudi_kv_inspection gaudi_kv_inspection;

/**
 * What a call returns: one of the statuses. Whatever is not `GAUDI_KV_OK` has a message, which
 * `gaudi_kv_last_error_message` gives.
 */
typedef int32_t gaudi_kv_status;

/**
 * Why the last call of this thread that failed did. Output.
 *
 * The texts are UTF-8, the path has the system's encoding. They live until another call of this thread fails.
 */
typedef struct gaudi_kv_error {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * What the call returned; `GAUDI_KV_OK` where no call of this thread has failed yet.
     */
    gaudi_kv_status status;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The layer that it is about, -1 where it is about none.
     */
    int64_t layer;
    /**
     * What went wrong, in a sentence without a full stop; empty where no call has failed.
     */
    const char *message;
    /**
     * The file or folder that it is about, or null.
     */
    const char *file;
    /**
     * The tensor that it is about, or null.
     */
    const char *tensor;
} gaudi_kv_error;

/**
 * How a Gaudi is found and used. Input; zeros are the defaults.
 */
typedef struct gaudi_kv_hpu_options {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * The SynapseAI library, loaded with everything that this means; null for `GAUDI_KV_SYNAPSE` of the environment,
     * else where the vendor installs it.
     */
    const char *library;
    /**
     * Whether `module` says which Gaudi to take. 0: `HLS_MODULE_ID` of the environment, else any free one.
     */
    uint32_t has_module;
    /**
     * The module of the Gaudi.
     */
    uint32_t module;
    /**
     * The folder that keeps compiled recipes between processes; null for `GAUDI_KV_RECIPE_CACHE` of the environment,
     * else `gaudi-kv/recipes` in the user's cache folder; an empty string for none.
     */
    const char *recipe_folder;
    /**
     * How long data may be missing after the device has said that it is there, in milliseconds; 0 for 30 seconds. Work
     * itself may take twenty times that.
     */
    uint64_t timeout_ms;
} gaudi_kv_hpu_options;

/**
 * What a device is. Output.
 */
typedef struct gaudi_kv_device_info {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * `GAUDI_KV_GAUDI2` or `GAUDI_KV_GAUDI3`.
     */
    int32_t generation;
    /**
     * `GAUDI_KV_EMULATED` or `GAUDI_KV_HPU`.
     */
    int32_t backend;
    /**
     * `GAUDI_KV_EXACT` or `GAUDI_KV_FAST` for an emulated one, 0 for a Gaudi.
     */
    int32_t mode;
    /**
     * The largest finite e4m3 value that it writes: 240 or 448.
     */
    float fp8_max;
    /**
     * What it is, for people. It lives as long as the device.
     */
    const char *description;
} gaudi_kv_device_info;

/**
 * What a model is inspected for. Input; zeros are the defaults.
 */
typedef struct gaudi_kv_inspect_options {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * `GAUDI_KV_AUTO`, `GAUDI_KV_FP8` or `GAUDI_KV_BF16`.
     */
    int32_t kv_cache_dtype;
    /**
     * One of `GAUDI_KV_MLA_SCALE_*`.
     */
    int32_t mla_scale;
    /**
     * One of `GAUDI_KV_Q_MISSING_*`.
     */
    int32_t q_missing;
    /**
     * One of `GAUDI_KV_ADJUSTMENT_*`.
     */
    int32_t scale_adjustment;
    /**
     * The number of tensor-parallel ranks that per-head scales are sliced for; 0 for all heads.
     */
    uint32_t tensor_parallel_size;
    /**
     * The rank, below `tensor_parallel_size`; not looked at where that is 0.
     */
    uint32_t tensor_parallel_rank;
    /**
     * The numbers of layers that keep a bfloat16 cache, `num_skip_layers` of them.
     */
    const uint32_t *skip_layers;
    /**
     * How many there are.
     */
    size_t num_skip_layers;
    /**
     * `GAUDI_KV_INSPECT_*`, or-ed.
     */
    uint32_t flags;
    /**
     * 0.
     */
    uint32_t reserved;
} gaudi_kv_inspect_options;

/**
 * What an inspection found, in numbers. Output.
 */
typedef struct gaudi_kv_inspection_info {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Layers that have a KV cache, draft layers included.
     */
    size_t num_layers;
    /**
     * KV-scale tensors that no layer takes.
     */
    size_t num_unused;
    /**
     * Notes, which need no attention.
     */
    size_t num_notes;
    /**
     * Warnings.
     */
    size_t num_warnings;
    /**
     * Errors; a model with any cannot be run as asked.
     */
    size_t num_errors;
    /**
     * The type of the cache: `GAUDI_KV_FP8` or `GAUDI_KV_BF16`.
     */
    int32_t kv_cache_dtype;
    /**
     * 1 where scales are adjusted to the device's range, else 0.
     */
    int32_t adjustment_enabled;
    /**
     * The largest value that the checkpoint was quantized to: 448 or 240.
     */
    uint32_t fp8_max_quant;
    /**
     * The largest value of the device's FP8: 240 or 448.
     */
    uint32_t fp8_max_deploy;
} gaudi_kv_inspection_info;

/**
 * A layer that has a KV cache. Output.
 */
typedef struct gaudi_kv_layer {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * The layer's number in the model.
     */
    uint64_t layer;
    /**
     * The layer whose cache it reads; -1 where that is its own.
     */
    int64_t cache_owner;
    /**
     * `GAUDI_KV_MHA` or `GAUDI_KV_MLA`.
     */
    int32_t attention;
    /**
     * The type of its cache: `GAUDI_KV_FP8` or `GAUDI_KV_BF16`. Skipped layers differ from the model.
     */
    int32_t kv_cache_dtype;
    /**
     * 1 for a draft (multi-token prediction) layer, else 0.
     */
    int32_t is_draft;
    /**
     * 0.
     */
    uint32_t reserved;
} gaudi_kv_layer;

/**
 * One scale of a layer: raw, effective, and where it comes from. Output; arrays and text live as long as the
 * inspection.
 */
typedef struct gaudi_kv_scale {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * One of `GAUDI_KV_ORIGIN_*`.
     */
    int32_t origin;
    /**
     * Numbers of each array: 1 for all heads, or one for each KV head of the rank; 0 for `GAUDI_KV_ORIGIN_NONE` and
     * `GAUDI_KV_ORIGIN_DYNAMIC`, whose arrays are null.
     */
    uint32_t count;
    /**
     * The dequantization factors of the checkpoint, `x = code * s`; 1.0 where it is defaulted.
     */
    const float *checkpoint;
    /**
     * What values are multiplied by on the way into FP8, on the inspected device.
     */
    const float *quant;
    /**
     * What codes are multiplied by on the way out: 1 / quant.
     */
    const float *dequant;
    /**
     * The tensor, or a sidecar's file and key, that holds the numbers, UTF-8; null where none does.
     */
    const char *tensor;
} gaudi_kv_scale;

/**
 * The sizes of a layer with separate keys and values (MHA, GQA, MQA). Input.
 */
typedef struct gaudi_kv_mha_shape {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Query heads, a multiple of `num_kv_heads`; a cache does not look at it.
     */
    size_t num_heads;
    /**
     * Heads of keys and values.
     */
    size_t num_kv_heads;
    /**
     * Elements of a query and of a key head.
     */
    size_t head_dim;
    /**
     * Elements of a value head.
     */
    size_t v_head_dim;
} gaudi_kv_mha_shape;

/**
 * The multipliers that a plane of a cache, or a query, is quantized with: `quant`, `dequant` and `count` of a
 * `gaudi_kv_scale`. Input. It is part of other structures and never grows.
 */
typedef struct gaudi_kv_multipliers {
    /**
     * `count` numbers, finite and positive also when rounded to bfloat16: what values are multiplied by on the way
     * into FP8.
     */
    const float *quant;
    /**
     * `count` numbers, as above: what codes are multiplied by on the way out.
     */
    const float *dequant;
    /**
     * 1 for all heads, or the number of KV heads; 0 for no scale.
     */
    size_t count;
} gaudi_kv_multipliers;

/**
 * The blocks of a cache, how they are stored, and where. Input; the fields up to `v_scale` are required.
 */
typedef struct gaudi_kv_cache_options {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Blocks that hold tokens.
     */
    size_t num_blocks;
    /**
     * Tokens of a block: a power of two from 16 to 256. A Gaudi uses 128.
     */
    size_t block_size_tokens;
    /**
     * `GAUDI_KV_FP8`, `GAUDI_KV_BF16` or `GAUDI_KV_F32`.
     */
    int32_t dtype;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * The scale of keys, or of latents, whose count is 1. An FP8 cache must have it; another does not look at it.
     */
    struct gaudi_kv_multipliers k_scale;
    /**
     * The scale of values. An FP8 cache of keys and values must have it; another does not look at it.
     */
    struct gaudi_kv_multipliers v_scale;
    /**
     * Memory of the caller for the keys, or for the latents, of an emulated device: row-major `[num_blocks,
     * block_size_tokens, num_kv_heads, head_dim]` or `[num_blocks, block_size_tokens, kv_lora_rank +
     * qk_rope_head_dim]`, aligned to its elements. What it holds stays. It must live until the cache is freed, and
     * nobody else may change it while a call uses the cache. Null: the cache has memory of its own, zeroed, with one
     * more block, the pad block, for the writes of padding rows.
     */
    void *key_memory;
    /**
     * Its size.
     */
    size_t key_memory_bytes;
    /**
     * Memory of the caller for the values, `[num_blocks, block_size_tokens, num_kv_heads, v_head_dim]`; null exactly
     * where `key_memory` is, and for latents.
     */
    void *value_memory;
    /**
     * Its size.
     */
    size_t value_memory_bytes;
} gaudi_kv_cache_options;

/**
 * The sizes of an MLA layer. Input.
 */
typedef struct gaudi_kv_mla_shape {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Query heads; a cache does not look at it.
     */
    size_t num_heads;
    /**
     * Elements of a latent without its rope part.
     */
    size_t kv_lora_rank;
    /**
     * Elements of a query or key head without its rope part; a cache does not look at it.
     */
    size_t qk_nope_head_dim;
    /**
     * Elements of the rope part.
     */
    size_t qk_rope_head_dim;
    /**
     * Elements of a value head; a cache does not look at it.
     */
    size_t v_head_dim;
} gaudi_kv_mla_shape;

/**
 * What a cache is. Output.
 */
typedef struct gaudi_kv_cache_info {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * `GAUDI_KV_MHA` or `GAUDI_KV_MLA`.
     */
    int32_t attention;
    /**
     * `GAUDI_KV_GAUDI2` or `GAUDI_KV_GAUDI3`.
     */
    int32_t generation;
    /**
     * `GAUDI_KV_FP8`, `GAUDI_KV_BF16` or `GAUDI_KV_F32`.
     */
    int32_t dtype;
    /**
     * 1 where there is a pad block behind the last block, 0 where the memory is the caller's.
     */
    int32_t has_pad_block;
    /**
     * Blocks that hold tokens, and the id of the pad block.
     */
    size_t num_blocks;
    /**
     * Tokens of a block.
     */
    size_t block_size_tokens;
    /**
     * Elements of a token's key, all heads, or of its latent.
     */
    size_t key_row;
    /**
     * Elements of a token's value, all heads; 0 for latents.
     */
    size_t value_row;
    /**
     * Equal for two caches of one generation exactly where the same bytes mean the same values in both.
     */
    uint64_t fingerprint;
} gaudi_kv_cache_info;

/**
 * One plane of a block: key, value or latent. Input and output.
 */
typedef struct gaudi_kv_plane {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * `GAUDI_KV_FP8`, `GAUDI_KV_BF16` or `GAUDI_KV_F32`.
     */
    int32_t dtype;
    /**
     * 0.
     */
    uint32_t reserved;
    /**
     * Tokens of the block.
     */
    size_t block_size_tokens;
    /**
     * Heads of a token.
     */
    size_t heads;
    /**
     * Elements of a head.
     */
    size_t dim;
    /**
     * The stored bytes, little endian, `[block_size_tokens, heads, dim]`. As output they live as long as the block.
     */
    const uint8_t *bytes;
    /**
     * How many there are.
     */
    size_t num_bytes;
} gaudi_kv_plane;

/**
 * What a block is. Output.
 */
typedef struct gaudi_kv_block_info {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Hash of storage type, shape and scales: that of the cache it came from.
     */
    uint64_t fingerprint;
    /**
     * The generation whose arithmetic stored it: `GAUDI_KV_GAUDI2` or `GAUDI_KV_GAUDI3`.
     */
    int32_t generation;
    /**
     * Planes: 2 for key and value, 1 for latents.
     */
    uint32_t num_planes;
} gaudi_kv_block_info;

/**
 * What changes a layer's scores, and the scales that its cache does not have. Input; the fields up to
 * `logits_soft_cap` are required, and zeros are the defaults of the others. Applied in this order: softmax scale,
 * soft cap, ALiBi, mask, sinks.
 */
typedef struct gaudi_kv_attention_options {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Multiplies the product of query and key, usually `head_dim^-0.5`; finite and positive.
     */
    float softmax_scale;
    /**
     * `cap * tanh(score / cap)`; 0 for none, else finite and positive.
     */
    float logits_soft_cap;
    /**
     * By query head, `num_heads` numbers: `slope * (key position - query position)` is added. Null for none.
     */
    const float *alibi_slopes;
    /**
     * By query head, `num_heads` numbers: a score that takes part in the softmax and has no value. Null for none.
     */
    const float *sinks;
    /**
     * A query sees itself and this many keys less one before it; 0 for all.
     */
    size_t sliding_window;
    /**
     * The query's scale, by KV head for MHA; a count of 0 for one scale for each token and head, from its amax.
     */
    struct gaudi_kv_multipliers q_scale;
    /**
     * What the probabilities are multiplied by on the way into FP8; 0 in this and the next for 1.0 in both.
     */
    float prob_quant;
    /**
     * What their codes are multiplied by on the way out.
     */
    float prob_dequant;
    /**
     * `GAUDI_KV_ATTENTION_*`, or-ed.
     */
    uint32_t flags;
    /**
     * 0.
     */
    uint32_t reserved;
} gaudi_kv_attention_options;

/**
 * A conversion. Input; the fields up to `rounding` are required, and zeros are the defaults of the others.
 */
typedef struct gaudi_kv_codec_options {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * One of `GAUDI_KV_FORMAT_*`.
     */
    int32_t format;
    /**
     * One of `GAUDI_KV_ROUND_*`, for encoding.
     */
    int32_t rounding;
    /**
     * Multiplies before encoding; 0 for no scale, else finite and positive also when rounded to bfloat16.
     */
    float quant;
    /**
     * Multiplies after decoding; 0 for no scale, else as above.
     */
    float dequant;
    /**
     * `GAUDI_KV_CODEC_*`, or-ed.
     */
    uint32_t flags;
    /**
     * The layout of `GAUDI_KV_FORMAT_CUSTOM`: one of `GAUDI_KV_LAYOUT_*`.
     */
    int32_t layout;
    /**
     * The Inf/NaN mode of `GAUDI_KV_FORMAT_CUSTOM`: one of `GAUDI_KV_INF_NAN_*`.
     */
    int32_t inf_nan;
    /**
     * The exponent bias of `GAUDI_KV_FORMAT_CUSTOM`, 0 to 63; an exponent field `e > 0` stands for `2^(e - bias)`.
     */
    uint32_t bias;
} gaudi_kv_codec_options;

/**
 * What a scan of e4m3 codes found. Output.
 */
typedef struct gaudi_kv_code_scan {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * Codes with `code & 0x7F` above 0x77: 256 to 448 and NaN as OCP e4m3fn, Inf or NaN to a Gaudi2.
     */
    uint64_t above_gaudi2_max;
    /**
     * Codes 0x7F and 0xFF, NaN to every reader of e4m3fn; also counted in `above_gaudi2_max`.
     */
    uint64_t nan;
} gaudi_kv_code_scan;

/**
 * A dequantization scale that costs nothing on the device. Output.
 */
typedef struct gaudi_kv_aligned_scale {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * The scale: a power of two.
     */
    float scale;
    /**
     * The exponent bias that stands for it: 7 minus the logarithm of the scale.
     */
    uint32_t bias;
    /**
     * 1 where the scale asked for is larger than the largest one of the device, so that values will saturate that
     * need not have; else 0.
     */
    int32_t clamped;
    /**
     * 0.
     */
    uint32_t reserved;
} gaudi_kv_aligned_scale;

/**
 * What became of codes. Output; every code is counted once.
 */
typedef struct gaudi_kv_rerange_counts {
    /**
     * The size of the caller's structure in bytes.
     */
    uint64_t struct_size;
    /**
     * The new code is exactly the old value times the factor.
     */
    uint64_t exact;
    /**
     * It is the nearest one, which is another and not zero.
     */
    uint64_t rounded;
    /**
     * It is zero, and the old value was not.
     */
    uint64_t flushed;
    /**
     * It is the largest finite one: the product lies beyond it, or the old code was Inf.
     */
    uint64_t saturated;
    /**
     * The old code was NaN, and so is the new one.
     */
    uint64_t nan;
} gaudi_kv_rerange_counts;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that this library has.
 */
uint32_t gaudi_kv_abi_version(void);

/**
 * The version of this library, such as `0.1.0`. It lives as long as the library.
 */
const char *gaudi_kv_version(void);

/**
 * The name of a status, such as `GAUDI_KV_INVALID_SHAPE`; `unknown status` for a number that is none. It lives as long
 * as the library.
 */
const char *gaudi_kv_status_name(gaudi_kv_status status);

/**
 * The message of this thread's last call that failed, as in `gaudi_kv_error`: never null, empty where none has failed.
 * A call that succeeds leaves it as it is.
 */
const char *gaudi_kv_last_error_message(void);

/**
 * Everything that is known of this thread's last call that failed. A call that succeeds leaves it as it is.
 *
 * Returns `GAUDI_KV_INVALID_ARGUMENT` where `error` is null or too small; that is not kept as an error.
 *
 * # Safety
 * `error` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_last_error(struct gaudi_kv_error *error);

/**
 * A Gaudi of `generation` (`GAUDI_KV_GAUDI2`, `GAUDI_KV_GAUDI3`) in `mode` (`GAUDI_KV_EXACT`, `GAUDI_KV_FAST`),
 * computed on the CPU. To be freed with `gaudi_kv_device_free`.
 *
 * Attention and inspections run on the threads of this library: as many as `RAYON_NUM_THREADS` of the environment
 * says, else as the process may use, started by the first call that needs them. A child process that was forked where no
 * call runs in another thread gets threads of its own.
 *
 * Returns `GAUDI_KV_INVALID_ARGUMENT` for another generation or mode.
 *
 * # Safety
 * `out` is null or points to a pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_device_create_emulated(int32_t generation,
                                                int32_t mode,
                                                struct gaudi_kv_device **out);

/**
 * A Gaudi of this machine, through SynapseAI. A process holds one: another call gives the same. Nothing falls back to
 * the CPU. `options` may be null for the defaults. To be freed with `gaudi_kv_device_free`; the Gaudi is given back
 * with the last device, cache and attention layer on it.
 *
 * Returns `GAUDI_KV_DEVICE_FAILED` where there is no library or no Gaudi, or the process holds another, and
 * `GAUDI_KV_UNSUPPORTED` where this library was built without it.
 *
 * # Safety
 * `options` is null or points to a structure of the size that it says, whose texts end with a zero. `out` is null or
 * points to a pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_device_create_hpu(const struct gaudi_kv_hpu_options *options,
                                           struct gaudi_kv_device **out);

/**
 * What a device is.
 *
 * # Safety
 * `device` is null or a device. `info` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_device_get_info(const struct gaudi_kv_device *device,
                                         struct gaudi_kv_device_info *info);

/**
 * Frees a device; null is none.
 *
 * # Safety
 * `device` is null or a device that has not been freed, and no other call uses it.
 */
void gaudi_kv_device_free(struct gaudi_kv_device *device);

/**
 * The generation of the first Gaudi on this machine's PCI bus: `GAUDI_KV_GAUDI2`, `GAUDI_KV_GAUDI3`, or 0 where there
 * is none. Needs no vendor software.
 */
int32_t gaudi_kv_installed_generation(void);

/**
 * Inspects the model folder `model` for a device: finds its KV scales, decides what they become there, and says why
 * and what is wrong. `options` may be null for the defaults. What is wrong with the model itself is in the
 * inspection, not an error of the call. To be freed with `gaudi_kv_inspection_free`.
 *
 * Unless the options say otherwise, `VLLM_SCALE_ADJUSTMENT` of the environment is read: nobody may change the
 * environment meanwhile.
 *
 * Returns `GAUDI_KV_INVALID_MODEL` where the folder cannot be read or does not fit the options, with the file, tensor
 * and layer in `gaudi_kv_last_error`.
 *
 * # Safety
 * `model` is null or a path that ends with a zero, `device` null or a device. `options` is null or points to a
 * structure of the size that it says, whose pointers lead to as much as it says. `out` is null or points to a
 * pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_inspect(const char *model,
                                 const struct gaudi_kv_device *device,
                                 const struct gaudi_kv_inspect_options *options,
                                 struct gaudi_kv_inspection **out);

/**
 * The inspection as JSON, UTF-8: the object that `gaudi-kv inspect --json` prints. Numbers have enough digits to
 * restore each float32. The text lives as long as the inspection; `len`, which may be null, is set to its bytes
 * without the zero at its end.
 *
 * # Safety
 * `inspection` is null or an inspection. `json` is null or points to a pointer, `len` is null or points to a number.
 */
gaudi_kv_status gaudi_kv_inspection_json(const struct gaudi_kv_inspection *inspection,
                                         const char **json,
                                         size_t *len);

/**
 * What an inspection found, in numbers.
 *
 * # Safety
 * `inspection` is null or an inspection. `info` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_inspection_get_info(const struct gaudi_kv_inspection *inspection,
                                             struct gaudi_kv_inspection_info *info);

/**
 * Frees an inspection, and with it every text and array that came from it; null is none.
 *
 * # Safety
 * `inspection` is null or an inspection that has not been freed, and no other call uses it.
 */
void gaudi_kv_inspection_free(struct gaudi_kv_inspection *inspection);

/**
 * The layer at `index` of the layers that have a KV cache, from 0 to `num_layers` of `gaudi_kv_inspection_info` less
 * one, draft layers last.
 *
 * Returns `GAUDI_KV_NOT_FOUND` for a larger index.
 *
 * # Safety
 * `inspection` is null or an inspection. `layer` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_inspection_get_layer(const struct gaudi_kv_inspection *inspection,
                                              size_t index,
                                              struct gaudi_kv_layer *layer);

/**
 * The scale that layer number `layer` has for `role`, one of `GAUDI_KV_ROLE_*`. A layer that has none gives
 * `GAUDI_KV_ORIGIN_NONE`.
 *
 * Returns `GAUDI_KV_NOT_FOUND` for a number that no layer with a KV cache has.
 *
 * # Safety
 * `inspection` is null or an inspection. `scale` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_inspection_get_scale(const struct gaudi_kv_inspection *inspection,
                                              uint64_t layer,
                                              int32_t role,
                                              struct gaudi_kv_scale *scale);

/**
 * An empty cache of keys and values on a device. To be freed with `gaudi_kv_cache_free`.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` for sizes that do not fit, `GAUDI_KV_INVALID_FACTOR` for a scale that is missing,
 * not finite and positive or of another number of heads, `GAUDI_KV_OUT_OF_MEMORY` where memory cannot be had, and
 * `GAUDI_KV_UNSUPPORTED` for memory of the caller on a Gaudi.
 *
 * # Safety
 * `device` is null or a device. `shape` and `options` are null or point to structures of the size that they say; the
 * scales of `options` point to as many numbers as they say, and its memory is as it says. `out` is null or points to a
 * pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_cache_create_mha(const struct gaudi_kv_device *device,
                                          const struct gaudi_kv_mha_shape *shape,
                                          const struct gaudi_kv_cache_options *options,
                                          struct gaudi_kv_cache **out);

/**
 * An empty cache of latents on a device. Its one scale is `k_scale`, with one number for each direction. To be freed
 * with `gaudi_kv_cache_free`.
 *
 * Returns what `gaudi_kv_cache_create_mha` returns.
 *
 * # Safety
 * As for `gaudi_kv_cache_create_mha`.
 */
gaudi_kv_status gaudi_kv_cache_create_mla(const struct gaudi_kv_device *device,
                                          const struct gaudi_kv_mla_shape *shape,
                                          const struct gaudi_kv_cache_options *options,
                                          struct gaudi_kv_cache **out);

/**
 * What a cache is.
 *
 * # Safety
 * `cache` is null or a cache. `info` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_cache_get_info(const struct gaudi_kv_cache *cache, struct gaudi_kv_cache_info *info);

/**
 * Frees a cache; null is none. Memory that the caller lent it is the caller's again.
 *
 * # Safety
 * `cache` is null or a cache that has not been freed, and no other call uses it.
 */
void gaudi_kv_cache_free(struct gaudi_kv_cache *cache);

/**
 * Stores keys and values of tokens at their slots: `k` is `[tokens, num_kv_heads, head_dim]`, `v` `[tokens,
 * num_kv_heads, v_head_dim]`, both bfloat16 bits, and `slot_mapping` has a slot for each token: `block *
 * block_size_tokens + place in the block`. An FP8 cache stores `fp8(bf16(x * bf16(quant)))`, rounded to nearest even,
 * saturating; NaN becomes 0x7F.
 *
 * `k_len` and `v_len` are elements. Padding rows go to a slot of the pad block, where there is one: the first is
 * `num_blocks * block_size_tokens`.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where a slot is outside the cache or lengths do not fit, and
 * `GAUDI_KV_INVALID_ARGUMENT` for a cache of latents or for memory that overlaps with the cache's. Nothing is written
 * then.
 *
 * # Safety
 * `cache` is null or a cache. `k`, `v` and `slot_mapping` point to as many elements as is said; null is for none.
 * Nobody changes them during the call.
 */
gaudi_kv_status gaudi_kv_cache_write_mha(struct gaudi_kv_cache *cache,
                                         const uint16_t *k,
                                         size_t k_len,
                                         const uint16_t *v,
                                         size_t v_len,
                                         const int64_t *slot_mapping,
                                         size_t tokens);

/**
 * Stores latents of tokens at their slots: `kv_c` is `[tokens, kv_lora_rank]`, normalized, `k_pe` `[tokens,
 * qk_rope_head_dim]`, after rotary embedding, both bfloat16 bits. Both parts are stored with the one scale. For the
 * rest as `gaudi_kv_cache_write_mha`, for a cache of latents.
 *
 * # Safety
 * As for `gaudi_kv_cache_write_mha`.
 */
gaudi_kv_status gaudi_kv_cache_write_mla(struct gaudi_kv_cache *cache,
                                         const uint16_t *kv_c,
                                         size_t kv_c_len,
                                         const uint16_t *k_pe,
                                         size_t k_pe_len,
                                         const int64_t *slot_mapping,
                                         size_t tokens);

/**
 * The keys and values at slots, as bfloat16 bits: `k` is `[tokens, num_kv_heads, head_dim]`, `v`
 * `[tokens, num_kv_heads, v_head_dim]`. An FP8 cache gives `bf16(value(code) * bf16(dequant))`.
 *
 * `k_len` and `v_len` are elements. Several threads may read a cache at the same time.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where a slot is outside the cache or lengths do not fit, and
 * `GAUDI_KV_INVALID_ARGUMENT` for a cache of latents or for memory that overlaps, also with the cache's. Nothing is written then.
 *
 * # Safety
 * `cache` is null or a cache. `slot_mapping` points to `tokens` slots, `k` and `v` to as many elements as is said;
 * null is for none. Nobody else uses `k` and `v` or changes the slots during the call.
 */
gaudi_kv_status gaudi_kv_cache_read_mha(const struct gaudi_kv_cache *cache,
                                        const int64_t *slot_mapping,
                                        size_t tokens,
                                        uint16_t *k,
                                        size_t k_len,
                                        uint16_t *v,
                                        size_t v_len);

/**
 * The latents at slots, as bfloat16 bits: `[tokens, kv_lora_rank + qk_rope_head_dim]`. For the rest as
 * `gaudi_kv_cache_read_mha`, for a cache of latents.
 *
 * # Safety
 * As for `gaudi_kv_cache_read_mha`.
 */
gaudi_kv_status gaudi_kv_cache_read_mla(const struct gaudi_kv_cache *cache,
                                        const int64_t *slot_mapping,
                                        size_t tokens,
                                        uint16_t *latents,
                                        size_t latents_len);

/**
 * Copies whole blocks within a cache, pair by pair in order: `pairs` holds `num_pairs` times the ids from and to.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where an id is outside the cache. Nothing is copied then.
 *
 * # Safety
 * `cache` is null or a cache. `pairs` points to `2 * num_pairs` ids that nobody changes during the call; null is for
 * none.
 */
gaudi_kv_status gaudi_kv_cache_copy_blocks(struct gaudi_kv_cache *cache,
                                           const int32_t *pairs,
                                           size_t num_pairs);

/**
 * Takes a copy of one block of a cache, to swap it out or to move it. To be freed with `gaudi_kv_block_free`.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where the id is outside the cache.
 *
 * # Safety
 * `cache` is null or a cache. `out` is null or points to a pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_cache_export_block(const struct gaudi_kv_cache *cache,
                                            int32_t block,
                                            struct gaudi_kv_block **out);

/**
 * Overwrites one block of a cache with one that came from a cache like it.
 *
 * Returns `GAUDI_KV_MISMATCH` where generation, storage type, shape or scales are not this cache's, and
 * `GAUDI_KV_INVALID_SHAPE` where the id is outside it. Nothing is written then.
 *
 * # Safety
 * `cache` is null or a cache, `image` null or a block.
 */
gaudi_kv_status gaudi_kv_cache_import_block(struct gaudi_kv_cache *cache,
                                            int32_t block,
                                            const struct gaudi_kv_block *image);

/**
 * A block without planes, to be made of bytes that came from elsewhere: `gaudi_kv_block_add_plane` adds the planes in
 * the order that they were exported in. To be freed with `gaudi_kv_block_free`.
 *
 * # Safety
 * `out` is null or points to a pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_block_create(int32_t generation,
                                      uint64_t fingerprint,
                                      struct gaudi_kv_block **out);

/**
 * Adds a plane to a block; its bytes are copied.
 *
 * # Safety
 * `block` is null or a block that no other call uses. `plane` is null or points to a structure of the size that it
 * says, and its bytes to as many as it says.
 */
gaudi_kv_status gaudi_kv_block_add_plane(struct gaudi_kv_block *block,
                                         const struct gaudi_kv_plane *plane);

/**
 * What a block is.
 *
 * # Safety
 * `block` is null or a block. `info` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_block_get_info(const struct gaudi_kv_block *block, struct gaudi_kv_block_info *info);

/**
 * Plane `index` of a block: key and value, or latents.
 *
 * Returns `GAUDI_KV_NOT_FOUND` where there is no such plane.
 *
 * # Safety
 * `block` is null or a block. `plane` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_block_get_plane(const struct gaudi_kv_block *block,
                                         uint32_t index,
                                         struct gaudi_kv_plane *plane);

/**
 * Frees a block; null is none.
 *
 * # Safety
 * `block` is null or a block that has not been freed, and no other call uses it.
 */
void gaudi_kv_block_free(struct gaudi_kv_block *block);

/**
 * An empty batch, to be prepared for each step. To be freed with `gaudi_kv_batch_free`.
 *
 * # Safety
 * `out` is null or points to a pointer, which is set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_batch_create(struct gaudi_kv_batch **out);

/**
 * Takes the sequences of a step, in place of those of the last. Sequence `i` has the query tokens
 * `query_start_loc[i]` to `query_start_loc[i + 1]`, the last ones of its `seq_lens[i]` tokens, which lie in the
 * blocks of row `i` of the block table, in order. `query_start_loc` is `[num_sequences + 1]` and begins with 0,
 * `seq_lens` `[num_sequences]`, `block_table` `[num_sequences, max_blocks]`; it may be null, with `max_blocks` 0,
 * where nothing is read from a cache. Entries that no token needs may hold anything. All is copied.
 *
 * With a `cache`, the batch serves the decode of every layer whose cache has as many blocks of the same size. Without
 * one (null), it serves prefills, whose block table is then checked by each call.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where the batch contradicts itself, has too few blocks, or a block is outside the
 * cache. The batch is empty then: of all calls that are refused, this one alone changes what it was given, so that no
 * step runs with the sequences of the last.
 *
 * # Safety
 * `batch` is null or a batch that no other call uses. `cache` is null or a cache. The arrays point to as many numbers
 * as is said, which nobody changes during the call.
 */
gaudi_kv_status gaudi_kv_batch_prepare(struct gaudi_kv_batch *batch,
                                       const struct gaudi_kv_cache *cache,
                                       const int32_t *query_start_loc,
                                       const int32_t *seq_lens,
                                       size_t num_sequences,
                                       const int32_t *block_table,
                                       size_t max_blocks);

/**
 * Frees a batch; null is none.
 *
 * # Safety
 * `batch` is null or a batch that has not been freed, and no other call uses it.
 */
void gaudi_kv_batch_free(struct gaudi_kv_batch *batch);

/**
 * A layer's attention over keys and values, on a device. To be freed with `gaudi_kv_attention_free`.
 *
 * Scales are checked where they are used: by the first call over an FP8 cache.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where sizes do not fit, `GAUDI_KV_INVALID_ARGUMENT` where a number is not finite,
 * or not positive where it must be.
 *
 * # Safety
 * `device` is null or a device. `shape` and `options` are null or point to structures of the size that they say,
 * whose arrays have as many numbers as is said. `out` is null or points to a pointer, which is set; to null where the
 * call fails.
 */
gaudi_kv_status gaudi_kv_attention_create_mha(const struct gaudi_kv_device *device,
                                              const struct gaudi_kv_mha_shape *shape,
                                              const struct gaudi_kv_attention_options *options,
                                              struct gaudi_kv_attention **out);

/**
 * A layer's attention over latents, on a device, with the weight of its `kv_b_proj`: bfloat16 bits,
 * `[num_heads * (qk_nope_head_dim + v_head_dim), kv_lora_rank]`, for each head the key's rows, then the value's. It is
 * copied. To be freed with `gaudi_kv_attention_free`.
 *
 * Returns what `gaudi_kv_attention_create_mha` returns.
 *
 * # Safety
 * As for `gaudi_kv_attention_create_mha`; `kv_b_proj` points to `kv_b_proj_len` elements.
 */
gaudi_kv_status gaudi_kv_attention_create_mla(const struct gaudi_kv_device *device,
                                              const struct gaudi_kv_mla_shape *shape,
                                              const uint16_t *kv_b_proj,
                                              size_t kv_b_proj_len,
                                              const struct gaudi_kv_attention_options *options,
                                              struct gaudi_kv_attention **out);

/**
 * Frees a layer's attention; null is none.
 *
 * # Safety
 * `attention` is null or came from this library and has not been freed, and no other call uses it.
 */
void gaudi_kv_attention_free(struct gaudi_kv_attention *attention);

/**
 * Attention of new tokens over keys and values, those of the new tokens as they were computed and those of earlier
 * tokens read from the cache. `q` is `[tokens, num_heads, head_dim]`, `k` `[tokens, num_kv_heads, head_dim]`, `v`
 * `[tokens, num_kv_heads, v_head_dim]`, all bfloat16 bits; `out` is `[tokens, num_heads * v_head_dim]`, bfloat16
 * values in float32. Lengths are in elements. Whether the new tokens are in the cache already makes no difference.
 *
 * `cache` may be null where no sequence has earlier tokens. An FP8 prefill takes place over an FP8 cache only.
 *
 * Several threads may use the layer, the batch and the cache at the same time.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where operands or batch do not fit, `GAUDI_KV_MISMATCH` where the cache is on
 * another device, `GAUDI_KV_INVALID_FACTOR` where a scale cannot be used, and `GAUDI_KV_INVALID_ARGUMENT` for a layer
 * or a cache of the other kind, or where `out` overlaps with an operand or the cache's memory. Nothing is written to `out` then.
 *
 * # Safety
 * `attention` is null or a layer's attention, `cache` null or a cache, `batch` null or a batch. The operands point to
 * as many elements as is said; null is for none. Nobody changes them, or uses `out`, during the call.
 */
gaudi_kv_status gaudi_kv_attention_prefill_mha(const struct gaudi_kv_attention *attention,
                                               const struct gaudi_kv_cache *cache,
                                               const struct gaudi_kv_batch *batch,
                                               const uint16_t *q,
                                               size_t q_len,
                                               const uint16_t *k,
                                               size_t k_len,
                                               const uint16_t *v,
                                               size_t v_len,
                                               float *out,
                                               size_t out_len);

/**
 * Attention of new tokens over expanded keys and values: those of the new tokens from their latents as computed,
 * those of earlier tokens from latents read from the cache. `q_nope` is `[tokens, num_heads, qk_nope_head_dim]`,
 * `q_pe` `[tokens, num_heads, qk_rope_head_dim]`, `kv_c` `[tokens, kv_lora_rank]`, `k_pe` `[tokens,
 * qk_rope_head_dim]`, all bfloat16 bits; `out` is `[tokens, num_heads * v_head_dim]`, bfloat16 values in float32. For
 * the rest as `gaudi_kv_attention_prefill_mha`, for a layer of MLA and a cache of latents.
 *
 * # Safety
 * As for `gaudi_kv_attention_prefill_mha`.
 */
gaudi_kv_status gaudi_kv_attention_prefill_mla(const struct gaudi_kv_attention *attention,
                                               const struct gaudi_kv_cache *cache,
                                               const struct gaudi_kv_batch *batch,
                                               const uint16_t *q_nope,
                                               size_t q_nope_len,
                                               const uint16_t *q_pe,
                                               size_t q_pe_len,
                                               const uint16_t *kv_c,
                                               size_t kv_c_len,
                                               const uint16_t *k_pe,
                                               size_t k_pe_len,
                                               float *out,
                                               size_t out_len);

/**
 * Attention of query tokens whose keys and values, and those of all tokens before them, are in the cache. `q` is
 * `[tokens, num_heads, head_dim]`, bfloat16 bits, one or several tokens a sequence; `out` is `[tokens, num_heads *
 * v_head_dim]`, bfloat16 values in float32. Lengths are in elements. Over an FP8 cache both products are FP8.
 *
 * Several threads may use the layer, the batch and the cache at the same time.
 *
 * Returns `GAUDI_KV_INVALID_SHAPE` where operands or cache do not fit, `GAUDI_KV_MISMATCH` where the batch was not
 * prepared for caches of these blocks or the cache is on another device, `GAUDI_KV_INVALID_FACTOR` where a scale
 * cannot be used, and `GAUDI_KV_INVALID_ARGUMENT` for a layer or a cache of the other kind, or where `out` overlaps
 * with an operand or the cache's memory. Nothing is written to `out` then.
 *
 * # Safety
 * `attention` is null or a layer's attention, `cache` null or a cache, `batch` null or a batch. The operands point to
 * as many elements as is said; null is for none. Nobody changes them, or uses `out`, during the call.
 */
gaudi_kv_status gaudi_kv_attention_decode_mha(const struct gaudi_kv_attention *attention,
                                              const struct gaudi_kv_cache *cache,
                                              const struct gaudi_kv_batch *batch,
                                              const uint16_t *q,
                                              size_t q_len,
                                              float *out,
                                              size_t out_len);

/**
 * Attention of query tokens whose latents, and those of all tokens before them, are in the cache, with the projections
 * absorbed. `q_nope` is `[tokens, num_heads, qk_nope_head_dim]`, `q_pe` `[tokens, num_heads, qk_rope_head_dim]`, both
 * bfloat16 bits; `out` is `[tokens, num_heads * v_head_dim]`, bfloat16 values in float32. For the rest as
 * `gaudi_kv_attention_decode_mha`, for a layer of MLA and a cache of latents.
 *
 * # Safety
 * As for `gaudi_kv_attention_decode_mha`.
 */
gaudi_kv_status gaudi_kv_attention_decode_mla(const struct gaudi_kv_attention *attention,
                                              const struct gaudi_kv_cache *cache,
                                              const struct gaudi_kv_batch *batch,
                                              const uint16_t *q_nope,
                                              size_t q_nope_len,
                                              const uint16_t *q_pe,
                                              size_t q_pe_len,
                                              float *out,
                                              size_t out_len);

/**
 * A conversion to be used for any number of arrays. To be freed with `gaudi_kv_codec_free`.
 *
 * Returns `GAUDI_KV_INVALID_ARGUMENT` for a format, layout, mode, bias or rounding that there is none of, and
 * `GAUDI_KV_INVALID_FACTOR` for a scale that is not finite and positive, in float32 or rounded to bfloat16.
 *
 * # Safety
 * `options` is null or points to a structure of the size that it says. `out` is null or points to a pointer, which is
 * set; to null where the call fails.
 */
gaudi_kv_status gaudi_kv_codec_create(const struct gaudi_kv_codec_options *options,
                                      struct gaudi_kv_codec **out);

/**
 * Encodes `len` float32 values: `fp8(x * quant)`, the product in float32. Signs stay, also of what becomes zero;
 * denormal codes are produced. What lies beyond the largest finite value, Inf included, becomes that value unless the
 * codec does not clip. NaN becomes 0x7F, where only 0x7F and 0xFF are NaN with its sign.
 *
 * Returns `GAUDI_KV_UNSUPPORTED` for AMD's formats, and `GAUDI_KV_INVALID_ARGUMENT` where the arrays overlap. Nothing
 * is written then.
 *
 * # Safety
 * `codec` is null or a codec. `values` and `codes` point to `len` elements; null is for none. Nobody changes `values`
 * or uses `codes` during the call.
 */
gaudi_kv_status gaudi_kv_codec_encode_f32(const struct gaudi_kv_codec *codec,
                                          const float *values,
                                          uint8_t *codes,
                                          size_t len);

/**
 * Encodes `len` bfloat16 values, given as bits: `fp8(bf16(x * bf16(quant)))`. For the rest as
 * `gaudi_kv_codec_encode_f32`; NaN becomes 0x7F where there is a scale.
 *
 * # Safety
 * As for `gaudi_kv_codec_encode_f32`.
 */
gaudi_kv_status gaudi_kv_codec_encode_bf16(const struct gaudi_kv_codec *codec,
                                           const uint16_t *values,
                                           uint8_t *codes,
                                           size_t len);

/**
 * Decodes `len` codes to float32: `value(code) * dequant` in float32, exact without a scale. NaN becomes the bits
 * 0x7FFFFFFF.
 *
 * Returns `GAUDI_KV_INVALID_ARGUMENT` where the arrays overlap. Nothing is written then.
 *
 * # Safety
 * `codec` is null or a codec. `codes` and `values` point to `len` elements; null is for none. Nobody changes `codes`
 * or uses `values` during the call.
 */
gaudi_kv_status gaudi_kv_codec_decode_f32(const struct gaudi_kv_codec *codec,
                                          const uint8_t *codes,
                                          float *values,
                                          size_t len);

/**
 * Decodes `len` codes to bfloat16 bits: `bf16(value(code) * bf16(dequant))`, nearest even. NaN becomes 0x7FFF. For
 * the rest as `gaudi_kv_codec_decode_f32`.
 *
 * # Safety
 * As for `gaudi_kv_codec_decode_f32`.
 */
gaudi_kv_status gaudi_kv_codec_decode_bf16(const struct gaudi_kv_codec *codec,
                                           const uint8_t *codes,
                                           uint16_t *values,
                                           size_t len);

/**
 * Frees a codec; null is none.
 *
 * # Safety
 * `codec` is null or a codec that has not been freed, and no other call uses it.
 */
void gaudi_kv_codec_free(struct gaudi_kv_codec *codec);

/**
 * Rounds `len` float32 values to bfloat16 bits, as the device does: nearest even, overflow becomes Inf, denormals are
 * kept, every NaN becomes 0x7FFF.
 *
 * Returns `GAUDI_KV_INVALID_ARGUMENT` where the arrays overlap. Nothing is written then.
 *
 * # Safety
 * `values` and `rounded` point to `len` elements; null is for none. Nobody changes `values` or uses `rounded` during
 * the call.
 */
gaudi_kv_status gaudi_kv_round_bf16(const float *values,
                                    uint16_t *rounded,
                                    size_t len);

/**
 * The largest magnitude of `len` float32 values: 0 if there are none, NaN if any is NaN, else possibly Inf.
 *
 * # Safety
 * `values` points to `len` elements that nobody changes during the call; null is for none. `amax` is null or points
 * to a number, which is set.
 */
gaudi_kv_status gaudi_kv_amax_f32(const float *values,
                                  size_t len,
                                  float *amax);

/**
 * The largest magnitude of `len` bfloat16 values, given as bits: 0 if there are none, NaN if any is NaN, else
 * possibly Inf.
 *
 * # Safety
 * As for `gaudi_kv_amax_f32`.
 */
gaudi_kv_status gaudi_kv_amax_bf16(const uint16_t *values, size_t len, float *amax);

/**
 * Counts the e4m3 codes that a Gaudi2 cannot read, and the NaN codes, sign ignored.
 *
 * # Safety
 * `codes` points to `len` codes that nobody changes during the call; null is for none. `scan` is null or points to a
 * structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_scan_codes(const uint8_t *codes,
                                    size_t len,
                                    struct gaudi_kv_code_scan *scan);

/**
 * The smallest dequantization scale that a `generation` folds into an exponent bias and that is not below `scale`.
 * Gaudi2 folds 1/256, 1/16, 1 and 16, Gaudi3 every power of two from 2^-56 to 2^7.
 *
 * Returns `GAUDI_KV_INVALID_FACTOR` for a scale that is not finite and positive, in float32 or rounded to bfloat16,
 * and `GAUDI_KV_INVALID_ARGUMENT` for another generation.
 *
 * # Safety
 * `aligned` is null or points to a structure of the size that it says.
 */
gaudi_kv_status gaudi_kv_align_dequant_scale(int32_t generation,
                                             float scale,
                                             struct gaudi_kv_aligned_scale *aligned);

/**
 * Multiplies each of `len` e4m3 codes by `factor`, in place: the product is formed in float32 and rounded to the
 * nearest code, ties to even, saturating. Signs stay. The scale that belongs to the codes is to be divided by
 * `factor`: 0.5 for a Gaudi2 and 2 on the way back lose least, 240.0 / 448.0 is the ratio of the ranges.
 *
 * `GAUDI_KV_GAUDI2` as `device` goes from e4m3 up to 448 (OCP e4m3fn) to what a Gaudi2 reads, up to 240;
 * `GAUDI_KV_GAUDI3` goes from what a Gaudi2 reads back to e4m3 up to 448, which a Gaudi3 reads.
 *
 * One thread is used; different threads may work on different codes at the same time.
 *
 * Returns `GAUDI_KV_INVALID_ARGUMENT` for null pointers, for a `device` that there is none of, or for a `struct_size`
 * that is too small, and `GAUDI_KV_INVALID_FACTOR` for a factor that is not finite and positive, in float32 or
 * rounded to bfloat16. Nothing is changed then.
 *
 * # Safety
 * `codes` points to `len` bytes; it may be null where `len` is 0. `counts` is null, or points to a structure of the
 * size that it says. Nothing else uses them during the call.
 */
gaudi_kv_status gaudi_kv_rerange(uint8_t *codes,
                                 size_t len,
                                 int32_t device,
                                 float factor,
                                 struct gaudi_kv_rerange_counts *counts);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GAUDI_KV_H */
