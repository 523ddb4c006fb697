/* Converts files. Each line of the standard input has an operation (decode, encode_f32, encode_bf16), the layout,
 * Inf/NaN mode, bias, rounding and flags of a codec, the file to read and the file to write. */

#include "check.h"

enum { LARGEST = 1 << 22 };

static char input[LARGEST], output[LARGEST];

int main(void) {
    char operation[16], from[512], to[512];
    NEW(gaudi_kv_codec_options, options);
    options.format = GAUDI_KV_FORMAT_CUSTOM;
    int lines = 0;
    while (scanf("%15s %d %d %u %d %u %511s %511s", operation, &options.layout, &options.inf_nan, &options.bias,
                 &options.rounding, &options.flags, from, to) == 8) {
        gaudi_kv_codec *codec = NULL;
        OK(gaudi_kv_codec_create(&options, &codec));
        FILE *file = fopen(from, "rb");
        CHECK(file != NULL);
        size_t bytes = fread(input, 1, sizeof input, file), written = 0;
        CHECK(bytes > 0 && bytes < sizeof input);
        fclose(file);
        if (strcmp(operation, "decode") == 0) {
            OK(gaudi_kv_codec_decode_f32(codec, (uint8_t *)input, (float *)output, bytes));
            written = 4 * bytes;
        } else if (strcmp(operation, "encode_f32") == 0) {
            written = bytes / 4;
            OK(gaudi_kv_codec_encode_f32(codec, (float *)input, (uint8_t *)output, written));
        } else {
            CHECK(strcmp(operation, "encode_bf16") == 0);
            written = bytes / 2;
            OK(gaudi_kv_codec_encode_bf16(codec, (uint16_t *)input, (uint8_t *)output, written));
        }
        gaudi_kv_codec_free(codec);
        file = fopen(to, "wb");
        CHECK(file != NULL && fwrite(output, 1, written, file) == written && fclose(file) == 0);
        lines++;
    }
    printf("%d\n", lines);
    return 0;
}
