/* Versions, errors, devices. */

#include "parts.h"

void versions_and_errors(void) {
    CHECK(gaudi_kv_abi_version() == GAUDI_KV_ABI_VERSION);
    CHECK(strcmp(gaudi_kv_version(), PACKAGE_VERSION) == 0);
    CHECK(strcmp(gaudi_kv_status_name(GAUDI_KV_INVALID_SHAPE), "GAUDI_KV_INVALID_SHAPE") == 0);
    CHECK(strcmp(gaudi_kv_status_name(GAUDI_KV_DEVICE_FAILED), "GAUDI_KV_DEVICE_FAILED") == 0);
    CHECK(strcmp(gaudi_kv_status_name(-1), "unknown status") == 0);

    /* Nothing has failed yet. */
    CHECK(gaudi_kv_last_error_message()[0] == '\0');
    NEW(gaudi_kv_error, error);
    OK(gaudi_kv_last_error(&error));
    CHECK(error.status == GAUDI_KV_OK && error.layer == -1 && error.message[0] == '\0');
    CHECK(error.file == NULL && error.tensor == NULL);
    CHECK(error.struct_size == sizeof error);

    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_device_get_info(NULL, NULL));
    CHECK(strcmp(gaudi_kv_last_error_message(), "the device is null") == 0);
    /* It stays, and asking for it is no error. */
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_last_error(NULL));
    OK(gaudi_kv_last_error(&error));
    CHECK(error.status == GAUDI_KV_INVALID_ARGUMENT && strcmp(error.message, "the device is null") == 0);
    error.struct_size = 8;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_last_error(&error));
    CHECK(strcmp(gaudi_kv_last_error_message(), "the device is null") == 0);
}

gaudi_kv_device *device_of(int32_t generation, int32_t mode) {
    gaudi_kv_device *device = NULL;
    OK(gaudi_kv_device_create_emulated(generation, mode, &device));
    CHECK(device != NULL);
    return device;
}

void devices(void) {
    gaudi_kv_device *device = device_of(GAUDI_KV_GAUDI2, GAUDI_KV_EXACT);
    NEW(gaudi_kv_device_info, info);
    OK(gaudi_kv_device_get_info(device, &info));
    CHECK(info.generation == GAUDI_KV_GAUDI2 && info.backend == GAUDI_KV_EMULATED && info.mode == GAUDI_KV_EXACT);
    CHECK(info.fp8_max == 240.0f);
    CHECK(strstr(info.description, "gaudi2") != NULL && strstr(info.description, "exact") != NULL);
    gaudi_kv_device_free(device);
    device = device_of(GAUDI_KV_GAUDI3, GAUDI_KV_FAST);
    OK(gaudi_kv_device_get_info(device, &info));
    CHECK(info.generation == GAUDI_KV_GAUDI3 && info.mode == GAUDI_KV_FAST && info.fp8_max == 448.0f);
    gaudi_kv_device_free(device);
    gaudi_kv_device_free(NULL);

    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_device_create_emulated(4, GAUDI_KV_EXACT, &device));
    CHECK(device == NULL);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_device_create_emulated(GAUDI_KV_GAUDI2, 0, &device));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_device_create_emulated(GAUDI_KV_GAUDI2, GAUDI_KV_FAST, NULL));

    int32_t installed = gaudi_kv_installed_generation();
    CHECK(installed == 0 || installed == GAUDI_KV_GAUDI2 || installed == GAUDI_KV_GAUDI3);

    /* A library that there is none of is said, and nothing stands in for it. */
    NEW(gaudi_kv_hpu_options, options);
    options.library = "/nonexistent/libSynapse.so";
    device = (gaudi_kv_device *)&options;
    gaudi_kv_status status = gaudi_kv_device_create_hpu(&options, &device);
    CHECK(status == (HAS_HPU ? GAUDI_KV_DEVICE_FAILED : GAUDI_KV_UNSUPPORTED));
    CHECK(device == NULL);
    CHECK(strstr(gaudi_kv_last_error_message(), HAS_HPU ? "/nonexistent/libSynapse.so" : "hpu") != NULL);
}
