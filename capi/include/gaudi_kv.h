/* FP8 re-ranging for C and C++. */

#ifndef GAUDI_KV_H
#define GAUDI_KV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. */
#define GAUDI_KV_OK 0
/* A null pointer, a device that there is none of, or a `struct_size` that is too small. Nothing was changed. */
#define GAUDI_KV_INVALID_ARGUMENT 1
/* A factor that is not finite and positive, in float32 or rounded to bfloat16. Nothing was changed. */
#define GAUDI_KV_INVALID_FACTOR 2
/* A defect of this library. The codes may be changed in part. */
#define GAUDI_KV_INTERNAL 3

/* The device whose range codes are made for. */
/* From e4m3 up to 448 (OCP e4m3fn) to what a Gaudi2 reads, up to 240. */
#define GAUDI_KV_GAUDI2 2
/* From what a Gaudi2 reads back to e4m3 up to 448, which a Gaudi3 reads. */
#define GAUDI_KV_GAUDI3 3

/* What became of codes. Set `struct_size` to the size of the structure before the call. */
typedef struct gaudi_kv_rerange_counts {
    uint64_t struct_size;
    /* The new code is exactly the old value times the factor. */
    uint64_t exact;
    /* It is the nearest one, which is another and not zero. */
    uint64_t rounded;
    /* It is zero, and the old value was not. */
    uint64_t flushed;
    /* It is the largest finite one: the product lies beyond it, or the old code was Inf. */
    uint64_t saturated;
    /* The old code was NaN, and so is the new one. */
    uint64_t nan;
} gaudi_kv_rerange_counts;

/*
 * Multiplies each of `len` e4m3 codes by `factor`, in place: the product is formed in float32 and rounded to the nearest
 * code, ties to even, saturating. Signs stay. The scale that belongs to the codes is to be divided by `factor`: 0.5 for a
 * Gaudi2 and 2 on the way back lose least, 240.0 / 448.0 is the ratio of the ranges.
 *
 * `codes` may be null where `len` is 0. `counts` may be null. One thread is used; different threads may work on different
 * codes at the same time.
 */
int32_t gaudi_kv_rerange(uint8_t *codes, size_t len, int32_t device, float factor, gaudi_kv_rerange_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
