/* Prints an inspection: the JSON in the first line, then a line for each scale of each layer. The arguments are the
 * model, the generation and the flags. */

#include "check.h"

static void print(const char *name, const float *numbers, uint32_t count) {
    printf(" %s", name);
    for (uint32_t i = 0; i < count; i++) {
        printf(" %a", (double)numbers[i]);
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    gaudi_kv_device *device = NULL;
    OK(gaudi_kv_device_create_emulated(atoi(argv[2]), GAUDI_KV_EXACT, &device));
    NEW(gaudi_kv_inspect_options, options);
    options.scale_adjustment = GAUDI_KV_ADJUSTMENT_AUTOMATIC;
    options.flags = (uint32_t)atoi(argv[3]);
    gaudi_kv_inspection *inspection = NULL;
    OK(gaudi_kv_inspect(argv[1], device, &options, &inspection));
    gaudi_kv_device_free(device);
    const char *json = NULL;
    OK(gaudi_kv_inspection_json(inspection, &json, NULL));
    puts(json);
    NEW(gaudi_kv_inspection_info, info);
    OK(gaudi_kv_inspection_get_info(inspection, &info));
    for (size_t index = 0; index < info.num_layers; index++) {
        NEW(gaudi_kv_layer, layer);
        OK(gaudi_kv_inspection_get_layer(inspection, index, &layer));
        for (int32_t role = GAUDI_KV_ROLE_K; role <= GAUDI_KV_ROLE_PROB; role++) {
            NEW(gaudi_kv_scale, scale);
            OK(gaudi_kv_inspection_get_scale(inspection, layer.layer, role, &scale));
            printf("%d %d %d", (int)layer.layer, role, scale.origin);
            print("checkpoint", scale.checkpoint, scale.count);
            print("quant", scale.quant, scale.count);
            print("dequant", scale.dequant, scale.count);
            printf(" %s\n", scale.tensor != NULL ? scale.tensor : "-");
        }
    }
    gaudi_kv_inspection_free(inspection);
    return 0;
}
