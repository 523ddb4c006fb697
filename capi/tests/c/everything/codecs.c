/* Codecs and what needs none. e4m3 with bias 7: 0x38 is 1, 0x3C 1.5, 0x77 240, 0x7E 448, 0x01 2^-9. */

#include "parts.h"

#include <math.h>

static gaudi_kv_codec *codec_of(const gaudi_kv_codec_options *options) {
    gaudi_kv_codec *codec = NULL;
    OK(gaudi_kv_codec_create(options, &codec));
    return codec;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void codecs(void) {
    NEW(gaudi_kv_codec_options, options);
    options.format = GAUDI_KV_FORMAT_GAUDI2;
    gaudi_kv_codec *codec = codec_of(&options);
    const float values[6] = {1.0f, -1.5f, 1000.0f, -0.0f, 0.001953125f, NAN};
    uint8_t codes[6];
    OK(gaudi_kv_codec_encode_f32(codec, values, codes, 6));
    const uint8_t expected[6] = {0x38, 0xBC, 0x77, 0x80, 0x01, 0x7F};
    CHECK(memcmp(codes, expected, 6) == 0);
    float back[6];
    OK(gaudi_kv_codec_decode_f32(codec, codes, back, 6));
    CHECK(back[0] == 1.0f && back[1] == -1.5f && back[2] == 240.0f && signbit(back[3]) && back[4] == values[4]);
    CHECK(bits_of(back[5]) == 0x7FFFFFFF);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_codec_encode_f32(codec, values, (uint8_t *)values + 3, 6));
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_codec_decode_f32(codec, NULL, back, 6));
    gaudi_kv_codec_free(codec);
    gaudi_kv_codec_free(NULL);

    /* With scales, in bfloat16: 3 is 1.5 at half its value. */
    options.format = GAUDI_KV_FORMAT_GAUDI3;
    options.quant = 0.5f;
    options.dequant = 2.0f;
    codec = codec_of(&options);
    const uint16_t narrow[3] = {bf16(3.0f), bf16(1000.0f), 0x7FC0};
    OK(gaudi_kv_codec_encode_bf16(codec, narrow, codes, 3));
    CHECK(codes[0] == 0x3C && codes[1] == 0x7E && codes[2] == 0x7F);
    uint16_t wide[3];
    OK(gaudi_kv_codec_decode_bf16(codec, codes, wide, 3));
    CHECK(wide[0] == bf16(3.0f) && wide[1] == bf16(896.0f) && wide[2] == 0x7FFF);
    gaudi_kv_codec_free(codec);

    /* e5m2 without clipping: beyond 57344 is Inf. Toward zero stays. */
    NEW(gaudi_kv_codec_options, e5m2);
    e5m2.format = GAUDI_KV_FORMAT_E5M2;
    e5m2.flags = GAUDI_KV_CODEC_NO_CLIP;
    codec = codec_of(&e5m2);
    const float large[2] = {1e6f, 1.99f};
    OK(gaudi_kv_codec_encode_f32(codec, large, codes, 2));
    CHECK(codes[0] == 0x7C && codes[1] == 0x40);
    gaudi_kv_codec_free(codec);
    e5m2.rounding = GAUDI_KV_ROUND_TOWARD_ZERO;
    codec = codec_of(&e5m2);
    OK(gaudi_kv_codec_encode_f32(codec, large, codes, 2));
    CHECK(codes[0] == 0x7B && codes[1] == 0x3F);
    gaudi_kv_codec_free(codec);

    /* e4m3 of bias 3 and no Inf: 0x78 is 2^(15-3). */
    NEW(gaudi_kv_codec_options, custom);
    custom.format = GAUDI_KV_FORMAT_CUSTOM;
    custom.layout = GAUDI_KV_LAYOUT_E4M3;
    custom.inf_nan = GAUDI_KV_INF_NAN_NONE;
    custom.bias = 3;
    codec = codec_of(&custom);
    const uint8_t highest = 0x78;
    OK(gaudi_kv_codec_decode_f32(codec, &highest, back, 1));
    CHECK(back[0] == 4096.0f);
    gaudi_kv_codec_free(codec);
    custom.bias = 64;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_codec_create(&custom, &codec));
    custom.bias = 0;
    custom.layout = 0;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_codec_create(&custom, &codec));

    /* AMD's: 0x80 is NaN, 0x40 is 1, 0x7F 240. */
    NEW(gaudi_kv_codec_options, fnuz);
    fnuz.format = GAUDI_KV_FORMAT_E4M3_FNUZ;
    codec = codec_of(&fnuz);
    const uint8_t amd[3] = {0x80, 0x40, 0x7F};
    OK(gaudi_kv_codec_decode_f32(codec, amd, back, 3));
    CHECK(isnan(back[0]) && back[1] == 1.0f && back[2] == 240.0f);
    FAILS(GAUDI_KV_UNSUPPORTED, gaudi_kv_codec_encode_f32(codec, values, codes, 1));
    FAILS(GAUDI_KV_UNSUPPORTED, gaudi_kv_codec_encode_bf16(codec, narrow, codes, 1));
    /* A factor for encoding is looked at all the same. */
    gaudi_kv_codec *none = NULL;
    fnuz.quant = -1.0f;
    FAILS(GAUDI_KV_INVALID_FACTOR, gaudi_kv_codec_create(&fnuz, &none));
    fnuz.quant = 2.0f;
    OK(gaudi_kv_codec_create(&fnuz, &none));
    gaudi_kv_codec_free(none);
    gaudi_kv_codec_free(codec);

    options.quant = INFINITY;
    FAILS(GAUDI_KV_INVALID_FACTOR, gaudi_kv_codec_create(&options, &codec));
    options.format = 7;
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_codec_create(&options, &codec));
    CHECK(codec == NULL);
}

void numbers(void) {
    /* 1 + 2^-8 is a tie and goes to the even one, 1 + 3 * 2^-8 to 1 + 2^-6. */
    const float values[4] = {1.00390625f, 1.01171875f, -3.0f, NAN};
    uint16_t rounded[4];
    OK(gaudi_kv_round_bf16(values, rounded, 4));
    CHECK(rounded[0] == 0x3F80 && rounded[1] == 0x3F82 && rounded[2] == 0xC040 && rounded[3] == 0x7FFF);
    float amax = 0.0f;
    OK(gaudi_kv_amax_f32(values, 3, &amax));
    CHECK(amax == 3.0f);
    OK(gaudi_kv_amax_f32(values, 4, &amax));
    CHECK(isnan(amax));
    OK(gaudi_kv_amax_bf16(rounded, 3, &amax));
    CHECK(amax == 3.0f);
    OK(gaudi_kv_amax_bf16(NULL, 0, &amax));
    CHECK(amax == 0.0f);
    FAILS(GAUDI_KV_INVALID_ARGUMENT, gaudi_kv_amax_f32(values, 3, NULL));

    const uint8_t codes[5] = {0x77, 0x78, 0xFE, 0x7F, 0xFF};
    NEW(gaudi_kv_code_scan, scan);
    OK(gaudi_kv_scan_codes(codes, 5, &scan));
    CHECK(scan.above_gaudi2_max == 4 && scan.nan == 2);

    NEW(gaudi_kv_aligned_scale, aligned);
    OK(gaudi_kv_align_dequant_scale(GAUDI_KV_GAUDI2, 0.05f, &aligned));
    CHECK(aligned.scale == 0.0625f && aligned.bias == 11 && aligned.clamped == 0);
    OK(gaudi_kv_align_dequant_scale(GAUDI_KV_GAUDI2, 17.0f, &aligned));
    CHECK(aligned.scale == 16.0f && aligned.bias == 3 && aligned.clamped == 1);
    OK(gaudi_kv_align_dequant_scale(GAUDI_KV_GAUDI3, 0.05f, &aligned));
    CHECK(aligned.scale == 0.0625f && aligned.bias == 11);
    FAILS(GAUDI_KV_INVALID_FACTOR, gaudi_kv_align_dequant_scale(GAUDI_KV_GAUDI3, 0.0f, &aligned));

    /* 448 times 240 / 448 is 240. */
    uint8_t code = 0x7E;
    NEW(gaudi_kv_rerange_counts, counts);
    OK(gaudi_kv_rerange(&code, 1, GAUDI_KV_GAUDI2, 240.0f / 448.0f, &counts));
    CHECK(code == 0x77 && counts.exact == 1);
}
