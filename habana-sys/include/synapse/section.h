/* Sections: the memory behind persistent and constant tensors. */
#ifndef HABANA_SYS_SYNAPSE_SECTION_H
#define HABANA_SYS_SYNAPSE_SECTION_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What can be asked of a section in a recipe. */
typedef enum synSectionProp {
    SECTION_SIZE = 0, /**< bytes */
    SECTION_DATA = 1, /**< address on the host */
    IS_CONST = 2, /**< 0 or 1 */
} synSectionProp;

/** Creates a section of a graph, persistent unless changed; sectionDescriptor is 0. */
synStatus synSectionCreate(
    synSectionHandle *sectionHandle, uint64_t sectionDescriptor, const synGraphHandle graph);

/** Destroys a section handle. */
synStatus synSectionDestroy(synSectionHandle sectionHandle);

/** Puts a section into a group, from 1 to 255; only before a tensor uses it. */
synStatus synSectionSetGroup(synSectionHandle sectionHandle, uint64_t sectionGroup);

/** Stores the group of a section. */
synStatus synSectionGetGroup(synSectionHandle sectionHandle, uint64_t *sectionGroup);

/**
 * Says whether the caller owns the memory and gives its address at each launch; only before a tensor uses the
 * section.
 */
synStatus synSectionSetPersistent(synSectionHandle sectionHandle, bool sectionIsPersistent);

/** Stores whether a section is persistent. */
synStatus synSectionGetPersistent(synSectionHandle sectionHandle, bool *sectionIsPersistent);

/** Says whether the tensors of a section are constant, their data being part of the recipe. */
synStatus synSectionSetConst(synSectionHandle sectionHandle, bool sectionIsConst);

/** Stores whether a section is constant. */
synStatus synSectionGetConst(synSectionHandle sectionHandle, bool *sectionIsConst);

/** Says whether nodes accumulate into a section in place; excludes a persistent one. */
synStatus synSectionSetRMW(synSectionHandle sectionHandle, bool sectionIsRMW);

/** Stores whether nodes accumulate into a section in place. */
synStatus synSectionGetRMW(synSectionHandle sectionHandle, bool *sectionIsRMW);

#ifdef __cplusplus
}
#endif

#endif
