/* Models: llmc-gqa-head has one scale for each of two KV heads and no flavor, so a Gaudi2 adjusts it from 448 to
 * 240. The numbers of the checkpoint are in its tensors; quant is 240 / (s * 448) and dequant 1 / quant, each step
 * in float32. */

#include "parts.h"

static gaudi_kv_inspection *inspect(const char *folder, const char *model, const gaudi_kv_device *device,
                                    const gaudi_kv_inspect_options *options) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, model);
    gaudi_kv_inspection *inspection = NULL;
    OK(gaudi_kv_inspect(path, device, options, &inspection));
    return inspection;
}

static gaudi_kv_scale scale_of(const gaudi_kv_inspection *inspection, uint64_t layer, int32_t role) {
    NEW(gaudi_kv_scale, scale);
    OK(gaudi_kv_inspection_get_scale(inspection, layer, role, &scale));
    return scale;
}

static void per_head(const char *folder, const gaudi_kv_device *gaudi2) {
    gaudi_kv_inspection *inspection = inspect(folder, "llmc-gqa-head", gaudi2, NULL);
    NEW(gaudi_kv_inspection_info, info);
    OK(gaudi_kv_inspection_get_info(inspection, &info));
    CHECK(info.kv_cache_dtype == GAUDI_KV_FP8 && info.num_errors == 0 && info.num_unused == 0);
    CHECK(info.adjustment_enabled == 1 && info.fp8_max_quant == 448 && info.fp8_max_deploy == 240);

    const char *json = NULL;
    size_t len = 0;
    OK(gaudi_kv_inspection_json(inspection, &json, &len));
    CHECK(strlen(json) == len && json[0] == '{' && json[len - 1] == '}');
    CHECK(strstr(json, "\"backend\":\"emulated\"") != NULL);
    const char *again = NULL;
    OK(gaudi_kv_inspection_json(inspection, &again, NULL));
    CHECK(again == json);

    NEW(gaudi_kv_layer, layer);
    for (size_t index = 0; index < info.num_layers; index++) {
        OK(gaudi_kv_inspection_get_layer(inspection, index, &layer));
        CHECK(layer.layer == index && layer.cache_owner == -1 && layer.attention == GAUDI_KV_MHA);
        CHECK(layer.kv_cache_dtype == GAUDI_KV_FP8 && layer.is_draft == 0);
    }
    FAILS(GAUDI_KV_NOT_FOUND, gaudi_kv_inspection_get_layer(inspection, info.num_layers, &layer));

    gaudi_kv_scale k = scale_of(inspection, 0, GAUDI_KV_ROLE_K);
    CHECK(k.origin == GAUDI_KV_ORIGIN_LOADED && k.count == 2);
    CHECK(strcmp(k.tensor, "model.layers.0.self_attn.k_scale") == 0);
    CHECK(k.checkpoint[0] == 0.007781982421875f && k.checkpoint[1] == 0.007232666015625f);
    for (uint32_t head = 0; head < k.count; head++) {
        CHECK(k.quant[head] == 240.0f / (k.checkpoint[head] * 448.0f));
        CHECK(k.dequant[head] == 1.0f / k.quant[head]);
    }
    gaudi_kv_scale v = scale_of(inspection, 0, GAUDI_KV_ROLE_V);
    CHECK(v.count == 2 && v.checkpoint[0] == 0.00162506103515625f && v.quant[1] == 234.05714416503906f);
    gaudi_kv_scale q = scale_of(inspection, 0, GAUDI_KV_ROLE_Q);
    CHECK(q.origin == GAUDI_KV_ORIGIN_DYNAMIC && q.count == 0 && q.quant == NULL && q.tensor == NULL);
    gaudi_kv_scale prob = scale_of(inspection, 0, GAUDI_KV_ROLE_PROB);
    CHECK(prob.origin == GAUDI_KV_ORIGIN_DEFAULTED && prob.count == 1 && prob.quant[0] == 1.0f);

    NEW(gaudi_kv_scale, none);
    FAILS(GAUDI_KV_NOT_FOUND, gaudi_kv_inspection_get_scale(inspection, info.num_layers, GAUDI_KV_ROLE_K, &none));
    NEW(gaudi_kv_error, error);
    OK(gaudi_kv_last_error(&error));
    CHECK(error.layer == (int64_t)info.num_layers);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_inspection_get_scale(inspection, 0, 5, &none));
    gaudi_kv_inspection_free(inspection);
    gaudi_kv_inspection_free(NULL);

    /* The second of two ranks has the second head. */
    NEW(gaudi_kv_inspect_options, options);
    options.tensor_parallel_size = 2;
    options.tensor_parallel_rank = 1;
    inspection = inspect(folder, "llmc-gqa-head", gaudi2, &options);
    k = scale_of(inspection, 0, GAUDI_KV_ROLE_K);
    CHECK(k.count == 1 && k.checkpoint[0] == 0.007232666015625f);
    gaudi_kv_inspection_free(inspection);
    options.tensor_parallel_rank = 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/llmc-gqa-head", folder);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_inspect(path, gaudi2, &options, &inspection));
    options.tensor_parallel_size = 3;
    FAILS(GAUDI_KV_INVALID_MODEL, gaudi_kv_inspect(path, gaudi2, &options, &inspection));
    OK(gaudi_kv_last_error(&error));
    CHECK(inspection == NULL && error.status == GAUDI_KV_INVALID_MODEL && error.layer == 0);
}

static void with_options(const char *folder, const gaudi_kv_device *gaudi2) {
    NEW(gaudi_kv_inspect_options, options);
    NEW(gaudi_kv_inspection_info, info);
    /* Without adjustment the device's own range counts: quant is 240 / (s * 240). */
    options.scale_adjustment = GAUDI_KV_ADJUSTMENT_OFF;
    gaudi_kv_inspection *inspection = inspect(folder, "llmc-gqa-head", gaudi2, &options);
    gaudi_kv_scale k = scale_of(inspection, 0, GAUDI_KV_ROLE_K);
    CHECK(k.quant[0] == 240.0f / (k.checkpoint[0] * 240.0f));
    OK(gaudi_kv_inspection_get_info(inspection, &info));
    CHECK(info.adjustment_enabled == 0 && info.num_warnings > 0);
    gaudi_kv_inspection_free(inspection);

    /* A layer that is skipped has no scales, the others keep theirs; a query without a scale has 1.0. */
    const uint32_t skipped[1] = {0};
    options.scale_adjustment = GAUDI_KV_ADJUSTMENT_AUTOMATIC;
    options.skip_layers = skipped;
    options.num_skip_layers = 1;
    options.q_missing = GAUDI_KV_Q_MISSING_ONE;
    inspection = inspect(folder, "llmc-gqa-head", gaudi2, &options);
    CHECK(scale_of(inspection, 0, GAUDI_KV_ROLE_K).origin == GAUDI_KV_ORIGIN_NONE);
    CHECK(scale_of(inspection, 0, GAUDI_KV_ROLE_K).checkpoint == NULL);
    CHECK(scale_of(inspection, 1, GAUDI_KV_ROLE_K).origin == GAUDI_KV_ORIGIN_LOADED);
    gaudi_kv_scale q = scale_of(inspection, 1, GAUDI_KV_ROLE_Q);
    CHECK(q.origin == GAUDI_KV_ORIGIN_DEFAULTED && q.count == 1 && q.dequant[0] == 1.0f);
    NEW(gaudi_kv_layer, layer);
    OK(gaudi_kv_inspection_get_layer(inspection, 0, &layer));
    CHECK(layer.kv_cache_dtype == GAUDI_KV_BF16);
    gaudi_kv_inspection_free(inspection);

    /* A latent has no scale of a value, unless the larger one is asked for. */
    NEW(gaudi_kv_inspect_options, of_latents);
    inspection = inspect(folder, "llmc-mla-kv", gaudi2, &of_latents);
    CHECK(scale_of(inspection, 0, GAUDI_KV_ROLE_V).origin == GAUDI_KV_ORIGIN_NONE);
    float k_only = scale_of(inspection, 0, GAUDI_KV_ROLE_K).checkpoint[0];
    gaudi_kv_inspection_free(inspection);
    of_latents.mla_scale = GAUDI_KV_MLA_SCALE_MAX_KV;
    inspection = inspect(folder, "llmc-mla-kv", gaudi2, &of_latents);
    CHECK(scale_of(inspection, 0, GAUDI_KV_ROLE_K).checkpoint[0] >= k_only);
    gaudi_kv_inspection_free(inspection);

    /* Its weights say otherwise than its flavor, which only reading them shows. */
    NEW(gaudi_kv_inspect_options, verified);
    verified.flags = GAUDI_KV_INSPECT_VERIFY_WEIGHTS | GAUDI_KV_INSPECT_STRICT;
    inspection = inspect(folder, "autoround-mla-mislabelled", gaudi2, &verified);
    OK(gaudi_kv_inspection_get_info(inspection, &info));
    CHECK(info.num_errors > 0);
    gaudi_kv_inspection_free(inspection);
    verified.flags = 8;
    FAILS(GAUDI_KV_UNSUPPORTED, gaudi_kv_inspect(folder, gaudi2, &verified, &inspection));
}

void models(const char *folder) {
    gaudi_kv_device *gaudi2 = device_of(GAUDI_KV_GAUDI2, GAUDI_KV_FAST);
    per_head(folder, gaudi2);
    with_options(folder, gaudi2);

    gaudi_kv_inspection *inspection = NULL;
    FAILS(GAUDI_KV_INVALID_MODEL, gaudi_kv_inspect("/nonexistent/model", gaudi2, NULL, &inspection));
    NEW(gaudi_kv_error, error);
    OK(gaudi_kv_last_error(&error));
    CHECK(strcmp(error.file, "/nonexistent/model") == 0 && error.tensor == NULL && error.layer == -1);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_inspect(NULL, gaudi2, NULL, &inspection));
    gaudi_kv_device_free(gaudi2);
}
