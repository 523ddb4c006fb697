/* Re-ranges codes whose results are known, and misuses the call. */

#include "gaudi_kv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);         \
            return 1;                                                       \
        }                                                                   \
    } while (0)

int main(void) {
    /* 448, 1, -1, 3 * 2^-9, 2^-9, NaN; half of the last two but one: 1.5 * 2^-9 rounds to 2 * 2^-9, 0.5 * 2^-9 to 0. */
    const uint8_t before[6] = {0x7E, 0x38, 0xB8, 0x03, 0x01, 0x7F};
    const uint8_t halved[6] = {0x76, 0x30, 0xB0, 0x02, 0x00, 0x7F};
    uint8_t codes[6];
    gaudi_kv_rerange_counts counts = {.struct_size = sizeof counts};
    memcpy(codes, before, sizeof codes);
    CHECK(gaudi_kv_rerange(codes, 6, GAUDI_KV_GAUDI2, 0.5f, &counts) == GAUDI_KV_OK);
    CHECK(memcmp(codes, halved, sizeof codes) == 0);
    CHECK(counts.exact == 3 && counts.rounded == 1 && counts.flushed == 1 && counts.saturated == 0 && counts.nan == 1);
    CHECK(counts.struct_size == sizeof counts);

    /* 224 and 240 doubled: the second one lies beyond 448. */
    uint8_t back[2] = {0x76, 0x77};
    CHECK(gaudi_kv_rerange(back, 2, GAUDI_KV_GAUDI3, 2.0f, &counts) == GAUDI_KV_OK);
    CHECK(back[0] == 0x7E && back[1] == 0x7E && counts.exact == 1 && counts.saturated == 1);

    /* 448 times 240/448 is 240. */
    uint8_t ratio = 0x7E;
    CHECK(gaudi_kv_rerange(&ratio, 1, GAUDI_KV_GAUDI2, 240.0f / 448.0f, NULL) == GAUDI_KV_OK);
    CHECK(ratio == 0x77);

    memcpy(codes, before, sizeof codes);
    CHECK(gaudi_kv_rerange(codes, 6, 4, 0.5f, NULL) == GAUDI_KV_INVALID_ARGUMENT);
    CHECK(gaudi_kv_rerange(NULL, 6, GAUDI_KV_GAUDI2, 0.5f, NULL) == GAUDI_KV_INVALID_ARGUMENT);
    CHECK(gaudi_kv_rerange(codes, 6, GAUDI_KV_GAUDI2, 0.0f, NULL) == GAUDI_KV_INVALID_FACTOR);
    CHECK(gaudi_kv_rerange(codes, 6, GAUDI_KV_GAUDI2, NAN, NULL) == GAUDI_KV_INVALID_FACTOR);
    counts.struct_size = 8;
    CHECK(gaudi_kv_rerange(codes, 6, GAUDI_KV_GAUDI2, 0.5f, &counts) == GAUDI_KV_INVALID_ARGUMENT);
    CHECK(memcmp(codes, before, sizeof codes) == 0);
    CHECK(gaudi_kv_rerange(NULL, 0, GAUDI_KV_GAUDI2, 0.5f, NULL) == GAUDI_KV_OK);
    puts("fine");
    return 0;
}
