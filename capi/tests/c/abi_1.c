/* Version 1 of the interface: the fields of every structure and the value of every constant. This file never changes:
 * what a later version adds is not in it, and what this one has stays where it is. It is compiled, not run. */

#include "gaudi_kv.h"

#include <stddef.h>

#define IS(what, value) _Static_assert((what) == (value), #what)
/* A field at an offset, of a size; structures may grow behind their last one. */
#define AT(structure, field, offset, size) \
    _Static_assert(offsetof(structure, field) == (offset) && sizeof(((const structure *)0)->field) == (size), #field)
#define AT_LEAST(structure, size) _Static_assert(sizeof(structure) >= (size) && sizeof(structure) % 8 == 0, #structure)

_Static_assert(GAUDI_KV_ABI_VERSION >= 1, "a version");
IS(GAUDI_KV_OK, 0);
IS(GAUDI_KV_INVALID_ARGUMENT, 1);
IS(GAUDI_KV_INVALID_FACTOR, 2);
IS(GAUDI_KV_INTERNAL, 3);
IS(GAUDI_KV_UNSUPPORTED, 4);
IS(GAUDI_KV_INVALID_MODEL, 5);
IS(GAUDI_KV_INVALID_SHAPE, 6);
IS(GAUDI_KV_MISMATCH, 7);
IS(GAUDI_KV_NOT_FOUND, 8);
IS(GAUDI_KV_OUT_OF_MEMORY, 9);
IS(GAUDI_KV_DEVICE_FAILED, 10);
IS(GAUDI_KV_GAUDI2, 2);
IS(GAUDI_KV_GAUDI3, 3);
IS(GAUDI_KV_EXACT, 1);
IS(GAUDI_KV_FAST, 2);
IS(GAUDI_KV_EMULATED, 1);
IS(GAUDI_KV_HPU, 2);
IS(GAUDI_KV_AUTO, 0);
IS(GAUDI_KV_FP8, 1);
IS(GAUDI_KV_BF16, 2);
IS(GAUDI_KV_F32, 3);
IS(GAUDI_KV_MLA_SCALE_K_ONLY, 0);
IS(GAUDI_KV_MLA_SCALE_MAX_KV, 1);
IS(GAUDI_KV_Q_MISSING_DYNAMIC, 0);
IS(GAUDI_KV_Q_MISSING_ONE, 1);
IS(GAUDI_KV_ADJUSTMENT_ENVIRONMENT, 0);
IS(GAUDI_KV_ADJUSTMENT_AUTOMATIC, 1);
IS(GAUDI_KV_ADJUSTMENT_ON, 2);
IS(GAUDI_KV_ADJUSTMENT_OFF, 3);
IS(GAUDI_KV_INSPECT_VERIFY_WEIGHTS, 1);
IS(GAUDI_KV_INSPECT_STRICT, 2);
IS(GAUDI_KV_INSPECT_SKIP_SLIDING_WINDOW, 4);
IS(GAUDI_KV_MHA, 1);
IS(GAUDI_KV_MLA, 2);
IS(GAUDI_KV_ROLE_K, 1);
IS(GAUDI_KV_ROLE_V, 2);
IS(GAUDI_KV_ROLE_Q, 3);
IS(GAUDI_KV_ROLE_PROB, 4);
IS(GAUDI_KV_ORIGIN_NONE, 0);
IS(GAUDI_KV_ORIGIN_LOADED, 1);
IS(GAUDI_KV_ORIGIN_DUPLICATED, 2);
IS(GAUDI_KV_ORIGIN_INHERITED, 3);
IS(GAUDI_KV_ORIGIN_DEFAULTED, 4);
IS(GAUDI_KV_ORIGIN_DYNAMIC, 5);
IS(GAUDI_KV_ATTENTION_FP8_PREFILL, 1);
IS(GAUDI_KV_FORMAT_CUSTOM, 1);
IS(GAUDI_KV_FORMAT_GAUDI2, 2);
IS(GAUDI_KV_FORMAT_GAUDI3, 3);
IS(GAUDI_KV_FORMAT_E5M2, 4);
IS(GAUDI_KV_FORMAT_E4M3_FNUZ, 5);
IS(GAUDI_KV_FORMAT_E5M2_FNUZ, 6);
IS(GAUDI_KV_LAYOUT_E4M3, 1);
IS(GAUDI_KV_LAYOUT_E5M2, 2);
IS(GAUDI_KV_INF_NAN_FULL, 0);
IS(GAUDI_KV_INF_NAN_NONE, 1);
IS(GAUDI_KV_INF_NAN_MINIMAL, 2);
IS(GAUDI_KV_ROUND_NEAREST_EVEN, 0);
IS(GAUDI_KV_ROUND_TOWARD_ZERO, 1);
IS(GAUDI_KV_CODEC_NO_CLIP, 1);

AT(gaudi_kv_error, struct_size, 0, 8);
AT(gaudi_kv_error, status, 8, 4);
AT(gaudi_kv_error, reserved, 12, 4);
AT(gaudi_kv_error, layer, 16, 8);
AT(gaudi_kv_error, message, 24, 8);
AT(gaudi_kv_error, file, 32, 8);
AT(gaudi_kv_error, tensor, 40, 8);
AT_LEAST(gaudi_kv_error, 48);

AT(gaudi_kv_hpu_options, struct_size, 0, 8);
AT(gaudi_kv_hpu_options, library, 8, 8);
AT(gaudi_kv_hpu_options, has_module, 16, 4);
AT(gaudi_kv_hpu_options, module, 20, 4);
AT(gaudi_kv_hpu_options, recipe_folder, 24, 8);
AT(gaudi_kv_hpu_options, timeout_ms, 32, 8);
AT_LEAST(gaudi_kv_hpu_options, 40);

AT(gaudi_kv_device_info, struct_size, 0, 8);
AT(gaudi_kv_device_info, generation, 8, 4);
AT(gaudi_kv_device_info, backend, 12, 4);
AT(gaudi_kv_device_info, mode, 16, 4);
AT(gaudi_kv_device_info, fp8_max, 20, 4);
AT(gaudi_kv_device_info, description, 24, 8);
AT_LEAST(gaudi_kv_device_info, 32);

AT(gaudi_kv_inspect_options, struct_size, 0, 8);
AT(gaudi_kv_inspect_options, kv_cache_dtype, 8, 4);
AT(gaudi_kv_inspect_options, mla_scale, 12, 4);
AT(gaudi_kv_inspect_options, q_missing, 16, 4);
AT(gaudi_kv_inspect_options, scale_adjustment, 20, 4);
AT(gaudi_kv_inspect_options, tensor_parallel_size, 24, 4);
AT(gaudi_kv_inspect_options, tensor_parallel_rank, 28, 4);
AT(gaudi_kv_inspect_options, skip_layers, 32, 8);
AT(gaudi_kv_inspect_options, num_skip_layers, 40, 8);
AT(gaudi_kv_inspect_options, flags, 48, 4);
AT(gaudi_kv_inspect_options, reserved, 52, 4);
AT_LEAST(gaudi_kv_inspect_options, 56);

AT(gaudi_kv_inspection_info, struct_size, 0, 8);
AT(gaudi_kv_inspection_info, num_layers, 8, 8);
AT(gaudi_kv_inspection_info, num_unused, 16, 8);
AT(gaudi_kv_inspection_info, num_notes, 24, 8);
AT(gaudi_kv_inspection_info, num_warnings, 32, 8);
AT(gaudi_kv_inspection_info, num_errors, 40, 8);
AT(gaudi_kv_inspection_info, kv_cache_dtype, 48, 4);
AT(gaudi_kv_inspection_info, adjustment_enabled, 52, 4);
AT(gaudi_kv_inspection_info, fp8_max_quant, 56, 4);
AT(gaudi_kv_inspection_info, fp8_max_deploy, 60, 4);
AT_LEAST(gaudi_kv_inspection_info, 64);

AT(gaudi_kv_layer, struct_size, 0, 8);
AT(gaudi_kv_layer, layer, 8, 8);
AT(gaudi_kv_layer, cache_owner, 16, 8);
AT(gaudi_kv_layer, attention, 24, 4);
AT(gaudi_kv_layer, kv_cache_dtype, 28, 4);
AT(gaudi_kv_layer, is_draft, 32, 4);
AT(gaudi_kv_layer, reserved, 36, 4);
AT_LEAST(gaudi_kv_layer, 40);

AT(gaudi_kv_scale, struct_size, 0, 8);
AT(gaudi_kv_scale, origin, 8, 4);
AT(gaudi_kv_scale, count, 12, 4);
AT(gaudi_kv_scale, checkpoint, 16, 8);
AT(gaudi_kv_scale, quant, 24, 8);
AT(gaudi_kv_scale, dequant, 32, 8);
AT(gaudi_kv_scale, tensor, 40, 8);
AT_LEAST(gaudi_kv_scale, 48);

AT(gaudi_kv_mha_shape, struct_size, 0, 8);
AT(gaudi_kv_mha_shape, num_heads, 8, 8);
AT(gaudi_kv_mha_shape, num_kv_heads, 16, 8);
AT(gaudi_kv_mha_shape, head_dim, 24, 8);
AT(gaudi_kv_mha_shape, v_head_dim, 32, 8);
AT_LEAST(gaudi_kv_mha_shape, 40);

AT(gaudi_kv_multipliers, quant, 0, 8);
AT(gaudi_kv_multipliers, dequant, 8, 8);
AT(gaudi_kv_multipliers, count, 16, 8);
IS(sizeof(gaudi_kv_multipliers), 24);

AT(gaudi_kv_cache_options, struct_size, 0, 8);
AT(gaudi_kv_cache_options, num_blocks, 8, 8);
AT(gaudi_kv_cache_options, block_size_tokens, 16, 8);
AT(gaudi_kv_cache_options, dtype, 24, 4);
AT(gaudi_kv_cache_options, reserved, 28, 4);
AT(gaudi_kv_cache_options, k_scale, 32, 24);
AT(gaudi_kv_cache_options, v_scale, 56, 24);
AT(gaudi_kv_cache_options, key_memory, 80, 8);
AT(gaudi_kv_cache_options, key_memory_bytes, 88, 8);
AT(gaudi_kv_cache_options, value_memory, 96, 8);
AT(gaudi_kv_cache_options, value_memory_bytes, 104, 8);
AT_LEAST(gaudi_kv_cache_options, 112);

AT(gaudi_kv_mla_shape, struct_size, 0, 8);
AT(gaudi_kv_mla_shape, num_heads, 8, 8);
AT(gaudi_kv_mla_shape, kv_lora_rank, 16, 8);
AT(gaudi_kv_mla_shape, qk_nope_head_dim, 24, 8);
AT(gaudi_kv_mla_shape, qk_rope_head_dim, 32, 8);
AT(gaudi_kv_mla_shape, v_head_dim, 40, 8);
AT_LEAST(gaudi_kv_mla_shape, 48);

AT(gaudi_kv_cache_info, struct_size, 0, 8);
AT(gaudi_kv_cache_info, attention, 8, 4);
AT(gaudi_kv_cache_info, generation, 12, 4);
AT(gaudi_kv_cache_info, dtype, 16, 4);
AT(gaudi_kv_cache_info, has_pad_block, 20, 4);
AT(gaudi_kv_cache_info, num_blocks, 24, 8);
AT(gaudi_kv_cache_info, block_size_tokens, 32, 8);
AT(gaudi_kv_cache_info, key_row, 40, 8);
AT(gaudi_kv_cache_info, value_row, 48, 8);
AT(gaudi_kv_cache_info, fingerprint, 56, 8);
AT_LEAST(gaudi_kv_cache_info, 64);

AT(gaudi_kv_plane, struct_size, 0, 8);
AT(gaudi_kv_plane, dtype, 8, 4);
AT(gaudi_kv_plane, reserved, 12, 4);
AT(gaudi_kv_plane, block_size_tokens, 16, 8);
AT(gaudi_kv_plane, heads, 24, 8);
AT(gaudi_kv_plane, dim, 32, 8);
AT(gaudi_kv_plane, bytes, 40, 8);
AT(gaudi_kv_plane, num_bytes, 48, 8);
AT_LEAST(gaudi_kv_plane, 56);

AT(gaudi_kv_block_info, struct_size, 0, 8);
AT(gaudi_kv_block_info, fingerprint, 8, 8);
AT(gaudi_kv_block_info, generation, 16, 4);
AT(gaudi_kv_block_info, num_planes, 20, 4);
AT_LEAST(gaudi_kv_block_info, 24);

AT(gaudi_kv_attention_options, struct_size, 0, 8);
AT(gaudi_kv_attention_options, softmax_scale, 8, 4);
AT(gaudi_kv_attention_options, logits_soft_cap, 12, 4);
AT(gaudi_kv_attention_options, alibi_slopes, 16, 8);
AT(gaudi_kv_attention_options, sinks, 24, 8);
AT(gaudi_kv_attention_options, sliding_window, 32, 8);
AT(gaudi_kv_attention_options, q_scale, 40, 24);
AT(gaudi_kv_attention_options, prob_quant, 64, 4);
AT(gaudi_kv_attention_options, prob_dequant, 68, 4);
AT(gaudi_kv_attention_options, flags, 72, 4);
AT(gaudi_kv_attention_options, reserved, 76, 4);
AT_LEAST(gaudi_kv_attention_options, 80);

AT(gaudi_kv_codec_options, struct_size, 0, 8);
AT(gaudi_kv_codec_options, format, 8, 4);
AT(gaudi_kv_codec_options, rounding, 12, 4);
AT(gaudi_kv_codec_options, quant, 16, 4);
AT(gaudi_kv_codec_options, dequant, 20, 4);
AT(gaudi_kv_codec_options, flags, 24, 4);
AT(gaudi_kv_codec_options, layout, 28, 4);
AT(gaudi_kv_codec_options, inf_nan, 32, 4);
AT(gaudi_kv_codec_options, bias, 36, 4);
AT_LEAST(gaudi_kv_codec_options, 40);

AT(gaudi_kv_code_scan, struct_size, 0, 8);
AT(gaudi_kv_code_scan, above_gaudi2_max, 8, 8);
AT(gaudi_kv_code_scan, nan, 16, 8);
AT_LEAST(gaudi_kv_code_scan, 24);

AT(gaudi_kv_aligned_scale, struct_size, 0, 8);
AT(gaudi_kv_aligned_scale, scale, 8, 4);
AT(gaudi_kv_aligned_scale, bias, 12, 4);
AT(gaudi_kv_aligned_scale, clamped, 16, 4);
AT(gaudi_kv_aligned_scale, reserved, 20, 4);
AT_LEAST(gaudi_kv_aligned_scale, 24);

AT(gaudi_kv_rerange_counts, struct_size, 0, 8);
AT(gaudi_kv_rerange_counts, exact, 8, 8);
AT(gaudi_kv_rerange_counts, rounded, 16, 8);
AT(gaudi_kv_rerange_counts, flushed, 24, 8);
AT(gaudi_kv_rerange_counts, saturated, 32, 8);
AT(gaudi_kv_rerange_counts, nan, 40, 8);
AT_LEAST(gaudi_kv_rerange_counts, 48);

int main(void) {
    return 0;
}
