/* Settings of the library by name. */
#ifndef HABANA_SYS_SYNAPSE_CONFIGURATION_H
#define HABANA_SYS_SYNAPSE_CONFIGURATION_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sets a named setting from text; affects what is compiled or started afterwards. */
synStatus synConfigurationSet(const char *configurationName, const char *configurationValue);

/** Writes the value of a named setting as text into a buffer of size bytes. */
synStatus synConfigurationGet(const char *configurationName, char *configurationValue, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
