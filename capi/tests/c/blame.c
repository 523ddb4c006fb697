/* Prints what the error of an inspection names: status, layer, tensor and file. The argument is the model. */

#include "check.h"

int main(int argc, char **argv) {
    CHECK(argc == 2);
    gaudi_kv_device *device = NULL;
    OK(gaudi_kv_device_create_emulated(GAUDI_KV_GAUDI2, GAUDI_KV_EXACT, &device));
    gaudi_kv_inspection *inspection = NULL;
    gaudi_kv_status status = gaudi_kv_inspect(argv[1], device, NULL, &inspection);
    NEW(gaudi_kv_error, error);
    OK(gaudi_kv_last_error(&error));
    CHECK(inspection == NULL && error.status == status && error.tensor != NULL && error.file != NULL);
    CHECK(strstr(error.message, error.tensor) != NULL && strstr(error.message, error.file) != NULL);
    printf("%s %d %s %s", gaudi_kv_status_name(status), (int)error.layer, error.tensor, error.file);
    gaudi_kv_device_free(device);
    return 0;
}
