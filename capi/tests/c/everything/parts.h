/* The parts of the program that uses everything. */

#ifndef PARTS_H
#define PARTS_H

#include "../check.h"

void versions_and_errors(void);
void devices(void);
void models(const char *folder);
void caches(void);
void blocks(void);
void layers(void);
void latents(void);
void codecs(void);
void numbers(void);

/* An emulated device. */
gaudi_kv_device *device_of(int32_t generation, int32_t mode);

#endif
