/* What the programs check with. */

#ifndef CHECK_H
#define CHECK_H

#include "gaudi_kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program where the condition does not hold, with what the library says. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, gaudi_kv_last_error_message()); \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* A call that succeeds, and one that does not. */
#define OK(call) CHECK((call) == GAUDI_KV_OK)
#define FAILS(status, call) CHECK((call) == (status))

/* The bits of a bfloat16: the value must be one. */
static inline uint16_t bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    CHECK((bits & 0xFFFF) == 0);
    return (uint16_t)(bits >> 16);
}

/* One multiplier each way. */
static inline gaudi_kv_multipliers one(const float *quant, const float *dequant) {
    gaudi_kv_multipliers multipliers;
    multipliers.quant = quant;
    multipliers.dequant = dequant;
    multipliers.count = 1;
    return multipliers;
}

/* A structure of zeros that says its size. */
#define NEW(type, name)    \
    type name;             \
    memset(&name, 0, sizeof name); \
    name.struct_size = sizeof name

#endif
